package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sextant/features"
	schema "sextant/schema/sql"
)

// reserved are the names of the schema's own tables and views: a feature view must not
// replace one.
var reserved = map[string]bool{
	"samples": true, "series": true, "ingest_ledger": true, "agents": true, "agents_of_ledger": true,
	"backfills": true, "late_records": true, "late_records_of_ledger": true, "repairs": true, "repairs_pending": true,
	"dead_letters": true, "feature_views": true, "feature_services": true, "feature_history": true, "feature_registry": true, "schema_versions": true,
	"ledger": true, "quality": true, "unknown_names": true, "ingest_audit": true, "samples_labelled": true, "freshness": true,
	"inventories": true, "inventory_parts": true, "inventory_links": true, "inventory_changes": true,
	"task_events": true, "tasks": true, "tasks_running": true, "tasks_sla": true, "tasks_times": true, "tasks_usage": true,
	"node_records": true, "tasks_allocation": true, "kubernetes_nodes": true, "kubernetes_nodes_at": true,
	"nodes": true, "devices": true, "nics": true, "links": true,
	"task_log": true, "task_snapshots": true, "nodes_at": true, "task_log_of_events": true, "tasks_at": true, "sla_events": true, "served_features": true, "derived_ticks": true,
	"rolled_hours": true, "rolled_tasks": true, "rolled_allocations": true, "rolled_devices": true, "rolled_nodes": true, "rollup_slots": true,
	"prices": true, "slo_targets": true, "devices_at": true, "device_hours": true, "node_hours": true, "task_hours": true, "utilization": true, "utilization_costs": true,
	"sla_violations": true, "error_budgets": true, "regressions": true, "line_health": true,
	"feature_faults": true, "feature_changes": true, "feature_profiles": true, "feature_baselines": true, "feature_skews": true, "feature_quality": true, "feature_drift": true, "feature_skew": true,
	"sample_panes": true, "pane_fills": true,
}

// ApplyViews makes the store ready for rows of views: a table for each version, a column
// for each feature, and under the view's plain name its newest version. A feature that
// the definition gained becomes a column; one that it lost stays, and is NULL from then
// on. A feature whose type changed is an error: give the view a new version.
func (db *DB) ApplyViews(ctx context.Context, views []*features.View) error {
	var errs []error
	for _, v := range inOrder(views) {
		if err := db.applyView(ctx, v); err != nil {
			errs = append(errs, fmt.Errorf("feature view %s version %d: %w", v.Name, v.Version, err))
		}
	}
	return errors.Join(errs...)
}

// inOrder puts views of SQL last: they may read the tables of the others.
func inOrder(views []*features.View) []*features.View {
	views = slices.Clone(views)
	slices.SortStableFunc(views, func(a, b *features.View) int { return cmp.Compare(min(len(a.SQL), 1), min(len(b.SQL), 1)) })
	return views
}

func (db *DB) applyView(ctx context.Context, v *features.View) error {
	if err := checkView(v); err != nil {
		return err
	}
	if v.SQL != "" {
		if err := db.checkSQL(ctx, v); err != nil {
			return err
		}
	}
	for _, o := range []features.Origin{features.Live, features.Repair} {
		if err := db.applyTable(ctx, v, o); err != nil {
			return err
		}
	}
	if err := db.registerView(ctx, v); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return db.replaceView(ctx, v)
}

// applyTable makes the table for rows of an origin, or brings it up to date.
func (db *DB) applyTable(ctx context.Context, v *features.View, o features.Origin) error {
	text, err := renderFile(schema.Files, "features/table.sql", viewData{names: db.names, v: v, origin: o})
	if err != nil {
		return err
	}
	if err := db.conn.Exec(ctx, text); err != nil {
		return fmt.Errorf("create table: %w", err)
	}
	table := tableOf(v, o)
	if err := db.alterTable(ctx, v, table); err != nil {
		return err
	}
	if s := db.names.Distributed(table, shardOf(v)); s != "" {
		if err := db.conn.Exec(ctx, strings.TrimSuffix(s, ";")); err != nil {
			return fmt.Errorf("create table over all shards: %w", err)
		}
	}
	return db.setRetention(ctx, table, "tick", db.cfg.Retention.FeaturesDays)
}

// checkView refuses what SQL cannot hold. What PromQL and YAML allow, the loader of the
// views has checked.
func checkView(v *features.View) error {
	taken := map[string]string{"tick": "a column of every view", "known": "a column of every view", "flags": "a column of every view", "origin": "a column of every view"}
	if !identifier.MatchString(v.Name) || reserved[v.Name] || strings.HasSuffix(v.Name, features.CorrectedSuffix) {
		return fmt.Errorf("%q cannot name a view in SQL", v.Name)
	}
	for _, k := range v.Keys {
		if !identifier.MatchString(k) || taken[k] != "" {
			return fmt.Errorf("key %q cannot name a column", k)
		}
		taken[k] = "a key"
	}
	for i := range v.Features {
		f := v.Features[i].Name
		if !identifier.MatchString(f) {
			return fmt.Errorf("feature %q cannot name a column", f)
		}
		if taken[f] != "" {
			return fmt.Errorf("feature %q has the name of %s", f, taken[f])
		}
		taken[f] = "another feature"
	}
	return nil
}

// viewData is what the templates of schema/sql/features see.
type viewData struct {
	names
	v       *features.View
	origin  features.Origin
	latest  int64    // version that the plain name shows
	columns []string // of the table of corrected rows of that version
}

// Table shadows names.Table: the table of this version.
func (d viewData) Table() string { return tableOf(d.v, d.origin) }

// Source is the table that the plain name shows.
func (d viewData) Source() string { return d.newest().Table() }

// SourceCorrected is the table of its corrected rows.
func (d viewData) SourceCorrected() string { return d.newest().CorrectedTable() }

func (d viewData) newest() *features.View {
	latest := *d.v
	latest.Version = int(d.latest)
	return &latest
}

// AllColumns is what both tables have.
func (d viewData) AllColumns() string { return identList(d.columns) }

// KeyColumns is the keys.
func (d viewData) KeyColumns() string { return identList(d.v.Keys) }

func identList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = ident(n)
	}
	return strings.Join(out, ", ")
}

func (d viewData) View() string { return d.v.Name }

// CorrectedView is the SQL view over both tables.
func (d viewData) CorrectedView() string { return d.v.Name + features.CorrectedSuffix }

func (d viewData) Keys() []string { return d.v.Keys }

func (d viewData) Comment() string {
	c := fmt.Sprintf("Features of a %s every %v", d.v.Entity, d.v.Interval)
	if d.origin == features.Repair {
		c = "Only the rows that samples changed which came too late for them. " + c
	}
	if d.v.Description != "" {
		c += ": " + d.v.Description
	}
	return c
}

// CorrectedComment is the one of the SQL view over both tables.
func (d viewData) CorrectedComment() string {
	return "As corrected by late samples; what was known in time is " + d.v.Name + ". " + d.Comment()
}

func (d viewData) Columns() []viewColumn {
	out := make([]viewColumn, len(d.v.Features))
	for i := range out {
		out[i] = viewColumn{&d.v.Features[i]}
	}
	return out
}

// viewColumn is the column of one feature.
type viewColumn struct{ f *features.Feature }

// Type is the column's type as the server spells it.
func (c viewColumn) Type() string {
	if c.f.DType == features.String {
		return "LowCardinality(Nullable(String))"
	}
	return "Nullable(" + baseType(c.f.DType) + ")"
}

// codec: see docs/adr/0005-sample-codecs.md.
func (c viewColumn) codec() string {
	switch c.f.DType {
	case features.Float32, features.Float64, features.Int64:
		return " CODEC(Delta, ZSTD(1))"
	}
	return ""
}

// Comment is the feature's unit and description.
func (c viewColumn) Comment() string {
	switch {
	case c.f.Unit == "":
		return c.f.Description
	case c.f.Description == "":
		return c.f.Unit
	}
	return c.f.Unit + ": " + c.f.Description
}

// Definition is the column in CREATE TABLE and ADD COLUMN.
func (c viewColumn) Definition() string {
	return ident(c.f.Name) + " " + c.Type() + " COMMENT " + quote(c.Comment()) + c.codec()
}

// flagsColumn is in the table of every view; of rows that are older than it, nothing is known.
const flagsColumn = "flags UInt16 COMMENT 'bits of what was wrong with the samples of the row''s entity since its last tick: docs/quality.md' CODEC(ZSTD(1))"

// Flags is the definition of the column of that name.
func (viewData) Flags() string { return flagsColumn }

// originColumn is in the table of every view; rows that are older than it are live ones.
var originColumn = "origin " + origins + " DEFAULT 'live' COMMENT 'what computed the row: the stream at the tick, or stored samples later' CODEC(ZSTD(1))"

// Origin is the definition of the column of that name.
func (viewData) Origin() string { return originColumn }

// alterTable adds the columns that the table lacks and renews the comments.
func (db *DB) alterTable(ctx context.Context, v *features.View, table string) error {
	have, err := db.columnsOf(ctx, v, table)
	if err != nil {
		return err
	}
	var changes []string
	if _, ok := have["flags"]; !ok {
		changes = append(changes, "ADD COLUMN IF NOT EXISTS "+flagsColumn+" AFTER known")
	}
	if _, ok := have["origin"]; !ok {
		changes = append(changes, "ADD COLUMN IF NOT EXISTS "+originColumn+" AFTER flags")
	}
	for _, c := range (viewData{names: db.names, v: v}).Columns() {
		old, ok := have[c.f.Name]
		switch {
		case !ok:
			changes = append(changes, "ADD COLUMN IF NOT EXISTS "+c.Definition())
		case old.kind != c.Type():
			return fmt.Errorf("feature %s is a %s, and its column is a %s: a new type needs a new version of the view", c.f.Name, c.Type(), old.kind)
		case old.comment != c.Comment():
			changes = append(changes, "COMMENT COLUMN "+ident(c.f.Name)+" "+quote(c.Comment()))
		}
	}
	if len(changes) == 0 {
		return nil
	}
	tables := []string{db.names.Local(table)}
	if db.cfg.Cluster != "" {
		tables = append(tables, db.names.Table(table))
	}
	for _, t := range tables {
		if err := db.conn.Exec(ctx, "ALTER TABLE "+t+db.names.OnCluster()+" "+strings.Join(changes, ", ")); err != nil {
			return fmt.Errorf("alter table: %w", err)
		}
	}
	db.log.Info("feature view changed", "view", v.Name, "version", v.Version, "changes", len(changes))
	return nil
}

type columnInfo struct {
	kind, comment string
}

// columnsOf reads the columns of a table of v, and checks that the keys are v's.
func (db *DB) columnsOf(ctx context.Context, v *features.View, table string) (map[string]columnInfo, error) {
	local := strings.TrimPrefix(db.names.Local(table), db.names.DB()+".")
	rows, err := db.conn.Query(ctx, "SELECT name, type, comment, is_in_sorting_key = 1 FROM system.columns WHERE database = ? AND table = ? ORDER BY position",
		db.cfg.Database, strings.Trim(local, "`"))
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	defer rows.Close()
	out := make(map[string]columnInfo)
	var keys []string
	for rows.Next() {
		var name string
		var c columnInfo
		var inKey uint8
		if err := rows.Scan(&name, &c.kind, &c.comment, &inKey); err != nil {
			return nil, fmt.Errorf("read columns: %w", err)
		}
		if inKey == 1 && name != "tick" {
			keys = append(keys, name)
		}
		out[name] = c
	}
	if got, want := strings.Join(keys, ", "), strings.Join(v.Keys, ", "); got != want {
		return nil, fmt.Errorf("keys are %s, and the table's are %s: new keys need a new version of the view", want, got)
	}
	return out, rows.Err()
}

func shardOf(v *features.View) string {
	keys := make([]string, len(v.Keys))
	for i, k := range v.Keys {
		keys[i] = ident(k)
	}
	return "cityHash64(" + strings.Join(keys, ", ") + ")"
}

// registerView writes the definition to feature_views.
func (db *DB) registerView(ctx context.Context, v *features.View) error {
	batch, err := db.conn.PrepareBatch(ctx, "INSERT INTO "+db.names.Table("feature_views")+
		" (name, version, feature, position, dtype, unit, expr, description, entity, keys, tier, interval_ms, ttl_ms, owner)")
	if err != nil {
		return err
	}
	for i := range v.Features {
		f := &v.Features[i]
		if err := batch.Append(v.Name, int64(v.Version), f.Name, uint32(i), baseType(f.DType), f.Unit, v.Expression(i), f.Description,
			v.Entity, v.Keys, v.Tier, v.Interval.Milliseconds(), v.TTL.Milliseconds(), v.Owner); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	if err := batch.Send(); err != nil {
		return err
	}
	return db.forgetFeatures(ctx, v)
}

// forgetFeatures takes features that the definition lost out of feature_views. Their
// columns stay.
func (db *DB) forgetFeatures(ctx context.Context, v *features.View) error {
	names := make([]string, len(v.Features))
	for i := range v.Features {
		names[i] = v.Features[i].Name
	}
	const lost = " WHERE name = ? AND version = ? AND NOT has(?, feature)"
	var n uint64
	if err := db.conn.QueryRow(ctx, "SELECT count() FROM "+db.names.Table("feature_views")+lost, v.Name, int64(v.Version), names).Scan(&n); err != nil || n == 0 {
		return err
	}
	return db.conn.Exec(ctx, "ALTER TABLE "+db.names.Local("feature_views")+db.names.OnCluster()+" DELETE"+lost+
		" SETTINGS mutations_sync = 2", v.Name, int64(v.Version), names)
}

// replaceView points the plain name at the newest version that was ever applied: an old
// program that starts again must not turn readers back.
func (db *DB) replaceView(ctx context.Context, v *features.View) error {
	var latest int64
	if err := db.conn.QueryRow(ctx, "SELECT max(version) FROM "+db.names.Table("feature_views")+" WHERE name = ?", v.Name).Scan(&latest); err != nil {
		return fmt.Errorf("newest version: %w", err)
	}
	d := viewData{names: db.names, v: v, latest: latest}
	var err error
	if d.columns, err = db.columnNames(ctx, d.SourceCorrected()); err != nil {
		return err
	}
	for _, file := range []string{"features/view.sql", "features/corrected.sql"} {
		if len(d.columns) == 0 && file == "features/corrected.sql" {
			continue // of a program that knows no corrected rows, which has the newest version
		}
		text, err := renderFile(schema.Files, file, d)
		if err != nil {
			return err
		}
		if err := db.conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("create view: %w", err)
		}
	}
	return nil
}

// columnNames lists the columns of a table in their order.
func (db *DB) columnNames(ctx context.Context, table string) (names []string, err error) {
	rows, err := db.conn.Query(ctx, "SELECT name FROM system.columns WHERE database = ? AND table = ? ORDER BY position", db.cfg.Database, table)
	if err != nil {
		return nil, fmt.Errorf("columns of %s: %w", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("columns of %s: %w", table, err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
