package features

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// A view that spans nodes is one SELECT, which the store evaluates at each tick. These
// stand in its text for what differs from tick to tick and from one installation to the
// next.
const (
	SQLDatabase = "{db}"                  // the database of the tables
	SQLTick     = "{tick:DateTime64(3)}"  // the row describes the time before it
	SQLKnown    = "{known:DateTime64(3)}" // the query must not use what came later
	SQLTasks    = "{tasks}"               // the tasks at the tick, as known: a row each, as tasks_at has it, each counted once
	SQLAllTasks = "{all_tasks}"           // likewise, with those that stand for others
	maxSQL      = 64 << 10                // bytes
)

var (
	placeholder = regexp.MustCompile(`\{[^{}]*\}`)
	sqlWord     = regexp.MustCompile("[A-Za-z_][A-Za-z0-9_]*")
	quotedCall  = regexp.MustCompile("[`\"]\\s*\\(")

	quotedForeign = regexp.MustCompile("(?i)[`\"](system|information_schema)[`\"]\\s*\\.")

	// What answers otherwise when it is asked again: a row would not be the same live and
	// in a backfill.
	unrepeatable = []string{"now", "now64", "nowinblock", "today", "yesterday", "current_timestamp", "current_date", "utctimestamp", "utc_timestamp",
		"rand", "rand32", "rand64", "randconstant", "randcanonical", "randuniform", "randnormal", "randomstring", "generateuuidv4", "generateuuidv7",
		"generateulid", "rownumberinallblocks", "rownumberinblock", "blocknumber", "runningdifference", "runningaccumulate", "hostname", "uptime", "queryid", "sleep", "sleepeachrow"}
	// Databases of the server itself: what they say differs from one server to the next.
	foreign = []string{"system", "information_schema"}
	// What reads beside the store.
	elsewhere = []string{"url", "urlcluster", "file", "filecluster", "s3", "s3cluster", "gcs", "hdfs", "hdfscluster", "remote", "remotesecure", "cluster",
		"clusterallreplicas", "mysql", "postgresql", "mongodb", "redis", "sqlite", "odbc", "jdbc", "executable", "input", "azureblobstorage", "iceberg",
		"deltalake", "hudi", "python", "dictionary", "dictget", "merge"}
)

// sql reads the query of a view and checks what can be checked without an engine. The
// store asks its own whether the columns are those of the view (clickhouse.ApplyViews).
func (d *decoder) sql(n *yaml.Node) string {
	text := strings.TrimSpace(d.scalar(n, "sql"))
	for _, fault := range checkSQL(text) {
		d.fault(n, "sql: %s", fault)
	}
	if text == "" {
		return " " // not the mark of a view of PromQL: its features are not to be blamed
	}
	return text
}

// columnOnly refuses what only a feature of PromQL has, in a view of SQL or of pushed rows.
func (d *decoder) columnOnly(m map[string]*yaml.Node, f Feature) {
	for _, key := range []string{"expr", "label"} {
		if m[key] != nil {
			d.fault(m[key], "feature %s: %s has no meaning in a view of sql or source: its value is the column of its name", f.Name, key)
		}
	}
}

// checkSQL says what keeps text from being the query of a view.
func checkSQL(text string) []string {
	if len(text) > maxSQL {
		return []string{fmt.Sprintf("%d bytes, the limit is %d", len(text), maxSQL)}
	}
	bare, err := bareSQL(text)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	words := sqlWord.FindAllStringIndex(bare, -1)
	if len(words) == 0 || !slices.Contains([]string{"select", "with"}, strings.ToLower(bare[words[0][0]:words[0][1]])) ||
		strings.TrimSpace(bare[:words[0][0]]) != "" {
		faults = append(faults, "want one SELECT, or WITH and a SELECT")
	}
	if quotedCall.MatchString(bare) {
		faults = append(faults, "a quoted name is called: name a function without quotes")
	}
	if quotedForeign.MatchString(text) {
		faults = append(faults, "the databases of the server are beside the store")
	}
	if strings.Contains(bare, ";") {
		faults = append(faults, "a ; ends a statement: want one, without it")
	}
	for _, w := range words {
		word, after := strings.ToLower(bare[w[0]:w[1]]), strings.TrimLeft(bare[w[1]:], " \t\n")
		call := strings.HasPrefix(after, "(")
		switch {
		case call && slices.Contains(unrepeatable, word), strings.HasPrefix(word, "current_"):
			faults = append(faults, word+" answers otherwise in a replay: use "+SQLTick+" or "+SQLKnown)
		case call && slices.Contains(elsewhere, word), strings.HasPrefix(after, ".") && slices.Contains(foreign, word):
			faults = append(faults, word+" reads beside the store")
		case slices.Contains([]string{"format", "outfile", "settings"}, word) && !call:
			faults = append(faults, strings.ToUpper(word)+" is not for the query to say")
		}
	}
	return append(faults, checkPlaceholders(bare)...)
}

// checkPlaceholders wants both times to be used, or the tasks, which are as of both: what
// forgets the second is not the same when it is asked again.
func checkPlaceholders(bare string) []string {
	var faults []string
	seen := map[string]bool{}
	for _, p := range placeholder.FindAllString(bare, -1) {
		if seen[p] = true; !slices.Contains([]string{SQLDatabase, SQLTick, SQLKnown, SQLTasks, SQLAllTasks}, p) {
			faults = append(faults, fmt.Sprintf("%s is none of %s, %s, %s, %s and %s", p, SQLDatabase, SQLTick, SQLKnown, SQLTasks, SQLAllTasks))
		}
	}
	for _, p := range []string{SQLTick, SQLKnown} {
		if !seen[p] && !seen[SQLTasks] && !seen[SQLAllTasks] {
			faults = append(faults, p+" is not used")
		}
	}
	return faults
}

// bareSQL is text with the contents of its comments, strings and quoted names blanked, so that
// what is left is all syntax.
func bareSQL(text string) (string, error) {
	out := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		end := i + 1
		switch {
		case strings.HasPrefix(text[i:], "--"), text[i] == '#':
			end = i + lengthUntil(text[i:], "\n", len(text[i:]))
			blank(i, end)
		case strings.HasPrefix(text[i:], "/*"):
			n := lengthUntil(text[i+2:], "*/", -1)
			if n < 0 {
				return "", fmt.Errorf("a comment has no end")
			}
			end = i + 2 + n + 2
			blank(i, end)
		case strings.IndexByte("'\"`", text[i]) >= 0:
			n := quotedLength(text[i:])
			if n < 0 {
				return "", fmt.Errorf("a %c has no end", text[i])
			}
			end = i + n
			blank(i+1, end-1)
		}
		i = end
	}
	return string(out), nil
}

// lengthUntil is where mark begins in s, or otherwise.
func lengthUntil(s, mark string, otherwise int) int {
	if n := strings.Index(s, mark); n >= 0 {
		return n
	}
	return otherwise
}

// quotedLength is the length of the quoted text that s begins with, or -1 when it does not
// end.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1 // a doubled quote is two texts side by side, which is as good
		}
	}
	return -1
}
