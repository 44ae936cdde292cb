package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	schema "sextant/schema/sql"
)

// Migrate brings the database to the schema of this program: it creates the database,
// runs the migrations that have not run, sets how long rows are kept and replaces the
// views. It may be called at every start; two at once are safe, since every statement
// may run twice.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+db.names.DB()+db.names.OnCluster()); err != nil {
		return fmt.Errorf("create database %s: %w", db.cfg.Database, err)
	}
	if err := db.runMigrations(ctx); err != nil {
		return err
	}
	if err := db.setRetentions(ctx); err != nil {
		return err
	}
	return db.replaceViews(ctx)
}

func (db *DB) runMigrations(ctx context.Context) (err error) {
	p, err := db.migrations()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	done, err := p.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", db.cfg.Database, err)
	}
	for _, r := range done {
		db.log.Info("migrated", "file", path.Base(r.Source.Path), "took", r.Duration)
	}
	return nil
}

// migrations is those of schema/sql, on a connection of their own.
func (db *DB) migrations() (*goose.Provider, error) {
	dir, err := fs.Sub(schema.Files, "migrations")
	if err != nil {
		return nil, fmt.Errorf("schema/sql: %w", err)
	}
	store, err := database.NewStoreFromQuerier(db.names.Table("schema_versions"), versions{db.names})
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	conn := ch.OpenDB(db.options)
	p, err := goose.NewProvider(goose.DialectCustom, conn, renderedFS{dir, db.names},
		goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", errors.Join(err, conn.Close()))
	}
	return p, nil
}

// versions says where goose keeps what has run. With a cluster every server must see the
// same, whichever runs the migration: the table is replicated over all shards.
type versions struct{ names names }

func (v versions) CreateTable(table string) string {
	engine := "MergeTree()"
	if v.names.cluster != "" {
		engine = "ReplicatedMergeTree('/clickhouse/tables/" + v.names.database + "/schema_versions', '{shard}-{replica}')"
	}
	return "CREATE TABLE IF NOT EXISTS " + table + v.names.OnCluster() +
		" (version_id Int64, is_applied UInt8, tstamp DateTime64(3, 'UTC') DEFAULT now64(3)) ENGINE = " + engine + " ORDER BY version_id"
}

func (versions) InsertVersion(table string) string {
	return "INSERT INTO " + table + " (version_id, is_applied) VALUES ($1, $2)"
}

func (versions) DeleteVersion(table string) string {
	return "ALTER TABLE " + table + " DELETE WHERE version_id = $1 SETTINGS mutations_sync = 2"
}

func (versions) GetMigrationByVersion(table string) string {
	return "SELECT tstamp, is_applied FROM " + table + " WHERE version_id = $1 ORDER BY tstamp DESC LIMIT 1"
}

func (versions) ListMigrations(table string) string {
	return "SELECT version_id, is_applied FROM " + table + " ORDER BY version_id DESC"
}

func (versions) GetLatestVersion(table string) string {
	return "SELECT max(version_id) FROM " + table
}

// setRetentions changes the TTL of the tables whose days changed.
func (db *DB) setRetentions(ctx context.Context) error {
	r := db.cfg.Retention
	for _, t := range []struct {
		table, column string
		days          int
	}{
		{"samples", "ts", r.SamplesDays},
		{"ingest_ledger", "scrape", r.LedgerDays},
		{"dead_letters", "ingest", r.DeadLettersDays},
		{"task_events", "time", r.TasksDays},
		// The row of a node that works is written again each hour, so it never expires. That
		// a node was removed stays: older rows that a merge has not yet dropped would bring
		// the node back.
		{"inventories", "ingest", r.InventoryDays},
		{"inventory_parts", "ingest", r.InventoryDays},
		{"inventory_links", "ingest", r.InventoryDays},
		{"node_records", "ingest", r.InventoryDays},
		{"task_log", "day", taskLogDays},
		{"sla_events", "breached", r.TasksDays},
		{"derived_ticks", "tick", r.FeaturesDays},
		{"served_features", "time", servedDays},
		{"rolled_hours", "hour", r.FeaturesDays},
		{"rolled_tasks", "hour", r.FeaturesDays},
		{"rolled_allocations", "hour", r.FeaturesDays},
		{"rolled_devices", "hour", r.FeaturesDays},
		{"rolled_nodes", "hour", r.FeaturesDays},
		{"feature_faults", "tick", r.FeaturesDays},
		{"feature_changes", "hour", r.FeaturesDays},
		{"feature_profiles", "hour", r.FeaturesDays},
		{"feature_skews", "hour", r.FeaturesDays},
	} {
		if err := db.setRetention(ctx, t.table, t.column, t.days); err != nil {
			return err
		}
	}
	return nil
}

// lasting says which rows of a table expire, where some do not.
var lasting = map[string]string{"inventories": " WHERE removed = 0", "node_records": " WHERE removed = 0"}

var ttlDays = regexp.MustCompile(` TTL toDateTime\([a-z` + "`" + `]+\) \+ (?:toIntervalDay\((\d+)\)|INTERVAL (\d+) DAY)`)

func (db *DB) setRetention(ctx context.Context, table, column string, days int) error {
	local := table
	if db.cfg.Cluster != "" {
		local += "_local"
	}
	var engine string
	err := db.conn.QueryRow(ctx, "SELECT engine_full FROM system.tables WHERE database = ? AND name = ?", db.cfg.Database, local).Scan(&engine)
	if err != nil {
		return fmt.Errorf("retention of %s: %w", table, err)
	}
	has := "0"
	if m := ttlDays.FindStringSubmatch(engine); m != nil {
		has = m[1] + m[2]
	}
	if has == fmt.Sprint(days) {
		return nil
	}
	change := "REMOVE TTL"
	if days > 0 {
		change = fmt.Sprintf("MODIFY TTL toDateTime(%s) + INTERVAL %d DAY%s", column, days, lasting[table])
	}
	// Old rows go when their parts merge, or when a whole part has expired: rewriting
	// every part at once would stop the world.
	err = db.conn.Exec(ctx, "ALTER TABLE "+db.names.Local(table)+db.names.OnCluster()+" "+change+" SETTINGS materialize_ttl_after_modify = 0")
	if err != nil {
		return fmt.Errorf("retention of %s: %w", table, err)
	}
	db.log.Info("retention changed", "table", table, "days", days)
	return nil
}

// replaceViews creates every view of schema/sql/views, or replaces it.
func (db *DB) replaceViews(ctx context.Context) error {
	files, err := fs.Glob(schema.Files, "views/*.sql")
	if err != nil {
		return fmt.Errorf("schema/sql: %w", err)
	}
	for _, file := range files {
		text, err := renderFile(schema.Files, file, db.accounts())
		if err != nil {
			return err
		}
		if err := db.conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("view %s: %w", strings.TrimSuffix(path.Base(file), ".sql"), err)
		}
	}
	return nil
}
