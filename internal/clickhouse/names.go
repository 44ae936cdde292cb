package clickhouse

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"sextant/schema/quality"
)

// names knows how things are called in one installation, and fills them into the .sql
// files of schema/sql.
type names struct{ database, cluster string }

// ident quotes a name.
func ident(s string) string { return "`" + escape(s, '`') + "`" }

// quote makes a string literal.
func quote(s string) string { return "'" + escape(s, '\'') + "'" }

func escape(s string, q byte) string {
	return strings.NewReplacer(`\`, `\\`, string(q), `\`+string(q), "\n", `\n`, "\x00", "").Replace(s)
}

// DB is the quoted database.
func (n names) DB() string { return ident(n.database) }

// Table is what readers and writers use: with a cluster, the table over all shards.
func (n names) Table(name string) string { return n.DB() + "." + ident(name) }

// Local is the table that holds the rows on one server.
func (n names) Local(name string) string {
	if n.cluster != "" {
		name += "_local"
	}
	return n.Table(name)
}

// OnCluster makes a statement run on every server.
func (n names) OnCluster() string {
	if n.cluster == "" {
		return ""
	}
	return " ON CLUSTER " + ident(n.cluster)
}

// Engine is a member of the MergeTree family, replicated when there is a cluster.
func (n names) Engine(engine string, args ...string) string {
	if n.cluster != "" {
		engine = "Replicated" + engine
		args = append([]string{"'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"}, args...)
	}
	return engine + "(" + strings.Join(args, ", ") + ")"
}

// DedupWindow makes the table remember the tokens of its last inserts. A replicated
// table does by default.
func (n names) DedupWindow() string {
	if n.cluster != "" {
		return ""
	}
	return ", non_replicated_deduplication_window = 1000"
}

// Distributed is the statement that creates the table over all shards, if there are any.
func (n names) Distributed(name, shardBy string) string {
	if n.cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s AS %s\nENGINE = Distributed(%s, %s, %s, %s);",
		n.Table(name), n.OnCluster(), n.Local(name), ident(n.cluster), quote(n.database), quote(name+"_local"), shardBy)
}

// JoinLocally makes a join of tables over all shards run on each shard by itself. It is
// right for tables that put the rows of a node on one shard.
func (n names) JoinLocally() string {
	if n.cluster == "" {
		return ""
	}
	return "\nSETTINGS distributed_product_mode = 'local'"
}

// groups are the kinds of tasks that stand for others.
const groups = "('podgroup', 'workload')"

// Owning says that an event names owners that stand for its task.
func (names) Owning() string { return "kind NOT IN " + groups }

// InForce keeps of a table rolled_* the rows of the run that counts, for each hour.
func (n names) InForce() string {
	global := ""
	if n.cluster != "" {
		global = "GLOBAL "
	}
	return "(hour, run) " + global + "IN (SELECT hour, max(run) FROM " + n.Table("rolled_hours") + " GROUP BY hour)"
}

// Counted is 1 for a task that counts where tasks are added up, and 0 for one that stands for
// others: a group, what a queue admits, and who owns a task, such as a Job its pods. rows is the
// table of events and which of them to look at.
func (n names) Counted(rows, which string) string {
	return "kind NOT IN " + groups + " AND (cluster, task) NOT IN (SELECT cluster, arrayJoin(owner_ids) FROM " + rows +
		" WHERE " + which + " AND " + n.Owning() + ")"
}

// accounts is what the views of schema/sql are filled with: the names, and how far back the
// ledger and the samples can be compared.
type accounts struct {
	names
	days int // 0: all of both is kept
}

func (db *DB) accounts() accounts { return accounts{db.names, db.cfg.Retention.auditDays()} }

// AuditSince begins the oldest hour of which neither ledger nor samples may have expired.
// Expired rows go when their parts are looked at, those of one table hours before those of
// the other, which is no loss.
func (a accounts) AuditSince() string {
	if a.days == 0 {
		return "toDateTime(0, 'UTC')"
	}
	return fmt.Sprintf("toStartOfHour(now('UTC') - INTERVAL %d DAY) + INTERVAL 1 HOUR", a.days)
}

// Unusable is the mask of the flags of rows that have no value to reckon with.
func (accounts) Unusable() uint16 { return quality.Unusable }

// render fills data into the template src. data is names, or embeds it.
func render(file string, src []byte, data any) (string, error) {
	t, err := template.New(file).Option("missingkey=error").
		Funcs(template.FuncMap{"ident": ident, "quote": quote}).Parse(string(src))
	if err != nil {
		return "", fmt.Errorf("schema/sql: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("schema/sql: %w", err)
	}
	return out.String(), nil
}

// renderFile renders one file of files.
func renderFile(files fs.FS, name string, data any) (string, error) {
	src, err := fs.ReadFile(files, name)
	if err != nil {
		return "", fmt.Errorf("schema/sql: %w", err)
	}
	return render(path.Base(name), src, data)
}

// renderedFS shows the files of FS with the names filled in.
type renderedFS struct {
	fs.FS
	names names
}

// Open implements fs.FS.
func (r renderedFS) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	src, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	out, err := render(name, src, r.names)
	if err != nil {
		return nil, err
	}
	return renderedFile{File: f, text: strings.NewReader(out)}, nil
}

type renderedFile struct {
	fs.File
	text *strings.Reader
}

func (f renderedFile) Read(p []byte) (int, error) { return f.text.Read(p) }
