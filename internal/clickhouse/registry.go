package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sextant/features"
	"sextant/features/registry"
)

// Registry reads which feature views and services are in force. In a database without
// the schema there are none.
func (db *DB) Registry(ctx context.Context) (*registry.State, error) {
	var there uint64
	if err := db.conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = ? AND name = 'feature_registry'", db.cfg.Database).Scan(&there); err != nil {
		return nil, fmt.Errorf("read the feature registry: %w", err)
	}
	if there == 0 {
		return registry.NewState(nil)
	}
	records, err := db.records(ctx, "SELECT kind, name, version, event, changed, changed_by, hash, definition FROM "+
		db.names.Table("feature_registry")+" ORDER BY kind, name, version")
	if err != nil {
		return nil, err
	}
	return registry.NewState(records)
}

// FeatureHistory reads every record of a view or service, the oldest first.
func (db *DB) FeatureHistory(ctx context.Context, name string) ([]registry.Record, error) {
	return db.records(ctx, "SELECT kind, name, version, event, at, who, hash, definition FROM "+
		db.names.Table("feature_history")+" FINAL WHERE name = ? ORDER BY at, kind, version", name)
}

func (db *DB) records(ctx context.Context, sql string, args ...any) ([]registry.Record, error) {
	rows, err := db.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read the feature registry: %w", err)
	}
	defer rows.Close()
	var out []registry.Record
	for rows.Next() {
		var r registry.Record
		var version int64
		if err := rows.Scan(&r.Kind, &r.Name, &version, &r.Event, &r.At, &r.Who, &r.Hash, &r.Definition); err != nil {
			return nil, fmt.Errorf("read the feature registry: %w", err)
		}
		r.Version = int(version)
		out = append(out, r)
	}
	return out, rows.Err()
}

// Apply carries out a plan: tables and columns first, then the history, so that what the
// registry calls applied has a place to be written to. It may be run twice.
func (db *DB) Apply(ctx context.Context, p *registry.Plan, who string, at time.Time) error {
	if err := p.Refused(); err != nil {
		return err
	}
	if err := db.ApplyViews(ctx, p.Views()); err != nil {
		return err
	}
	if err := db.registerServices(ctx, p.Services()); err != nil {
		return fmt.Errorf("register services: %w", err)
	}
	return db.Record(ctx, p.Records(), who, at)
}

// Record adds records to the history.
func (db *DB) Record(ctx context.Context, records []registry.Record, who string, at time.Time) error {
	if len(records) == 0 {
		return nil
	}
	batch, err := db.conn.PrepareBatch(ctx, "INSERT INTO "+db.names.Table("feature_history")+
		" (kind, name, version, event, at, who, hash, definition)")
	if err != nil {
		return fmt.Errorf("write the feature registry: %w", err)
	}
	for _, r := range records {
		if err := batch.Append(r.Kind, r.Name, int64(r.Version), r.Event, at, who, r.Hash, r.Definition); err != nil {
			return errors.Join(fmt.Errorf("write the feature registry: %w", err), batch.Close())
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write the feature registry: %w", err)
	}
	return nil
}

// registerServices writes what stands in each place to feature_services.
func (db *DB) registerServices(ctx context.Context, services []*features.Service) error {
	if len(services) == 0 {
		return nil
	}
	batch, err := db.conn.PrepareBatch(ctx, "INSERT INTO "+db.names.Table("feature_services")+
		" (name, version, position, view, view_version, feature, dtype, keys)")
	if err != nil {
		return err
	}
	for _, s := range services {
		for i, c := range s.Columns {
			if err := batch.Append(s.Name, int64(s.Version), uint32(i), c.View.Name, int64(c.View.Version), c.Def().Name,
				baseType(c.Def().DType), s.Keys); err != nil {
				return errors.Join(err, batch.Close())
			}
		}
	}
	return batch.Send()
}
