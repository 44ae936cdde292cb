package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
	"sextant/pipeline/rollup"
	"sextant/schema/quality"
	schema "sextant/schema/sql"
)

// Limits of the computation of one hour.
const (
	rollSeconds = 600
	rollMemory  = 4 << 30 // bytes, in the store
	rollDevices = 20_000  // that are computed at a time
)

// Views of features that the hours are computed from.
const (
	deviceView = "device_monitoring"
	nodeView   = "node_monitoring"
)

// RollupStore computes the hours of reports. It is a rollup.Store.
type RollupStore struct{ db *DB }

var _ rollup.Store = (*RollupStore)(nil)

// NewRollupStore returns the store of the hours. It has nothing to close.
func (db *DB) NewRollupStore() *RollupStore { return &RollupStore{db} }

// rollupData is what the queries rollup_*.sql are filled with.
type rollupData struct {
	names
	Step     int64 // ms of a slot: the interval of device_monitoring
	Interval int64 // ms of node_monitoring
}

// Use is the query of what devices did, to stand in parentheses.
func (d rollupData) Use() (string, error) {
	return renderFile(schema.Files, "queries/rollup_use.sql", d)
}

// Places is the query of the devices by what exporters call them that do not know their ids.
func (d rollupData) Places() string {
	return "SELECT node, concat('pci:', pci) AS place, device FROM " + d.Table("devices_at") + "(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device"
}

// DeviceRows is the view of the rows of devices, as late samples corrected them.
func (rollupData) DeviceRows() string { return deviceView + features.CorrectedSuffix }

// NodeRows is likewise of nodes.
func (rollupData) NodeRows() string { return nodeView + features.CorrectedSuffix }

// Unusable is the mask of the flags of samples that have no value to reckon with.
func (rollupData) Unusable() uint16 { return quality.Unusable }

// data finds out what the hours can be computed from. A view that was never applied has no
// interval, which is 0.
func (s *RollupStore) data(ctx context.Context) (rollupData, error) {
	d := rollupData{names: s.db.names}
	for _, v := range []struct {
		name string
		to   *int64
	}{{deviceView, &d.Step}, {nodeView, &d.Interval}} {
		if err := s.db.conn.QueryRow(ctx, "SELECT ifNull(argMax(interval_ms, version), 0) FROM "+s.db.names.Table("feature_views")+" WHERE name = ?", v.name).Scan(v.to); err != nil {
			return d, fmt.Errorf("interval of %s: %w", v.name, err)
		}
	}
	return d, nil
}

// Rolled implements rollup.Store.
func (s *RollupStore) Rolled(ctx context.Context, from int64) (map[int64]rollup.Hour, error) {
	rows, err := s.db.Query(ctx, `SELECT toInt64(toUnixTimestamp(hour)) * 1000, toUnixTimestamp64Milli(until), closed, seen FROM {db}.rolled_hours FINAL
		WHERE hour >= toDateTime(toInt64(?), 'UTC')`, from/1000)
	if err != nil {
		return nil, fmt.Errorf("read rolled_hours: %w", err)
	}
	defer rows.Close()
	out := map[int64]rollup.Hour{}
	for rows.Next() {
		var h rollup.Hour
		var closed uint8
		if err := rows.Scan(&h.Start, &h.Until, &closed, &h.Seen); err != nil {
			return nil, fmt.Errorf("read rolled_hours: %w", err)
		}
		h.Closed = closed == 1
		out[h.Start] = h
	}
	return out, rows.Err()
}

// Seen implements rollup.Store. It counts the rows of devices and nodes; that merges drop rows
// which came twice may compute an hour again for nothing.
func (s *RollupStore) Seen(ctx context.Context, from int64) (map[int64]uint64, error) {
	return s.seen(ctx, from, time.Now().Add(24*time.Hour).UnixMilli())
}

func (s *RollupStore) seen(ctx context.Context, from, to int64) (map[int64]uint64, error) {
	out := map[int64]uint64{}
	d, err := s.data(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name string
		have bool
	}{{deviceView, d.Step > 0}, {nodeView, d.Interval > 0}} {
		if !v.have {
			continue
		}
		// The tables behind the view, without FINAL: only two columns are read.
		rows, err := s.db.Query(ctx, `SELECT toInt64(toUnixTimestamp(toStartOfHour(tick - toIntervalMillisecond(1)))) * 1000 AS start, cityHash64(count(), max(known)) FROM {db}.`+
			ident(v.name+features.CorrectedSuffix)+` WHERE tick > fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(?), 'UTC') GROUP BY start`, from, to)
		if err != nil {
			return nil, fmt.Errorf("count rows of %s: %w", v.name, err)
		}
		for rows.Next() {
			var start int64
			var hash uint64
			if err := rows.Scan(&start, &hash); err != nil {
				return nil, errors.Join(fmt.Errorf("count rows of %s: %w", v.name, err), rows.Close())
			}
			out[start] = out[start]*31 + hash
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, fmt.Errorf("count rows of %s: %w", v.name, err)
		}
	}
	return out, nil
}

// Touched implements rollup.Store.
func (s *RollupStore) Touched(ctx context.Context, since int64) (oldest int64, repaired []int64, err error) {
	err = s.db.conn.QueryRow(ctx, `SELECT if(count() = 0, 0, toInt64(toUnixTimestamp(toStartOfHour(min(time)))) * 1000) FROM `+s.db.names.Table("task_log")+`
		WHERE day >= toDate(fromUnixTimestamp64Milli(toInt64(?), 'UTC')) AND ingest > fromUnixTimestamp64Milli(toInt64(?), 'UTC')`, since, since).Scan(&oldest)
	if err != nil {
		return 0, nil, fmt.Errorf("newest task events: %w", err)
	}
	// A window of a repaired hour may reach into the next.
	rows, err := s.db.Query(ctx, `SELECT DISTINCT toInt64(toUnixTimestamp(hour + toIntervalHour(n))) * 1000 FROM {db}.repairs ARRAY JOIN [0, 1] AS n
		WHERE at > fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND status = 'done' AND rows > 0`, since)
	if err != nil {
		return 0, nil, fmt.Errorf("newest repairs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var start int64
		if err := rows.Scan(&start); err != nil {
			return 0, nil, fmt.Errorf("newest repairs: %w", err)
		}
		repaired = append(repaired, start)
	}
	return oldest, repaired, rows.Err()
}

// rolledTables hold the rows of hours.
var rolledTables = []string{"rolled_tasks", "rolled_allocations", "rolled_devices", "rolled_nodes"}

// Roll implements rollup.Store.
func (s *RollupStore) Roll(ctx context.Context, h rollup.Hour) error {
	ctx, cancel := context.WithTimeout(ctx, rollSeconds*time.Second)
	defer cancel()
	d, err := s.data(ctx)
	if err != nil {
		return err
	}
	seen, err := s.seen(ctx, h.Start, h.Until)
	if err != nil {
		return err
	}
	h.Seen = seen[h.Start]
	// Runs of one hour are ordered by the clock; two at once differ in the low bits.
	run := uint64(time.Now().UnixMilli())<<16 | uint64(rand.Uint32N(1<<16))
	failed := s.compute(ctx, d, h, run)
	dropped := s.db.conn.Exec(context.WithoutCancel(ctx), fmt.Sprintf("ALTER TABLE %s%s DROP PARTITION %d", s.db.names.Local("rollup_slots"), s.db.names.OnCluster(), run))
	if err := errors.Join(failed, dropped); err != nil {
		return fmt.Errorf("roll up %s: %w", time.UnixMilli(h.Start).UTC().Format(time.RFC3339), err)
	}
	return s.sweep(ctx, h, run)
}

// compute writes the rows of a run and puts it in force.
func (s *RollupStore) compute(ctx context.Context, d rollupData, h rollup.Hour, run uint64) error {
	var devices uint64
	if err := s.db.conn.QueryRow(ctx, "SELECT sum(n) FROM (SELECT toUInt64(argMax(accelerators, since)) AS n FROM "+s.db.names.Table("inventories")+" GROUP BY node)").Scan(&devices); err != nil {
		return fmt.Errorf("count devices: %w", err)
	}
	buckets := devices/rollDevices + 1
	steps := []struct {
		file string
		can  bool
	}{{"rollup_tasks", true}, {"rollup_slots", d.Step > 0}, {"rollup_allocations", d.Step > 0}, {"rollup_devices", d.Step > 0}, {"rollup_nodes", d.Interval > 0}}
	for _, step := range steps {
		if !step.can {
			continue
		}
		text, err := renderFile(schema.Files, "queries/"+step.file+".sql", d)
		if err != nil {
			return err
		}
		for bucket := range buckets {
			if err := s.db.conn.Exec(s.asked(ctx, h, run, bucket, buckets), text); err != nil {
				return fmt.Errorf("%s: %w", step.file, err)
			}
		}
	}
	closed := uint8(0)
	if h.Closed {
		closed = 1
	}
	err := s.db.Exec(ctx, `INSERT INTO {db}.rolled_hours (hour, run, until, closed, seen, rows)
		SELECT toDateTime(toInt64(?), 'UTC'), toUInt64(?), fromUnixTimestamp64Milli(toInt64(?), 'UTC'), ?, toUInt64(?),
			(SELECT count() FROM {db}.rolled_devices WHERE hour = toDateTime(toInt64(?), 'UTC') AND run = toUInt64(?))`,
		h.Start/1000, run, h.Until, closed, h.Seen, h.Start/1000, run)
	if err != nil {
		return fmt.Errorf("put in force: %w", err)
	}
	return nil
}

// asked carries the times and limits of a query.
func (s *RollupStore) asked(ctx context.Context, h rollup.Hour, run, bucket, buckets uint64) context.Context {
	settings := ch.Settings{"max_execution_time": rollSeconds, "max_memory_usage": int64(rollMemory)}
	if s.db.cfg.Cluster != "" {
		settings["distributed_product_mode"] = "global"
		settings["insert_distributed_sync"] = 1
	}
	return ch.Context(ctx, ch.WithSettings(settings), ch.WithParameters(ch.Parameters{
		"hour": parameterTime(h.Start), "until": parameterTime(h.Until), "run": strconv.FormatUint(run, 10),
		"bucket": strconv.FormatUint(bucket, 10), "buckets": strconv.FormatUint(buckets, 10)}))
}

// sweep takes away what older runs of an hour wrote, when the hour is closed: an open one is
// computed often, and rows that do not count are few.
func (s *RollupStore) sweep(ctx context.Context, h rollup.Hour, run uint64) error {
	if !h.Closed {
		return nil
	}
	for _, table := range rolledTables {
		var old uint64
		where := fmt.Sprintf(" WHERE hour = toDateTime(%d, 'UTC') AND run < %d", h.Start/1000, run)
		if err := s.db.conn.QueryRow(ctx, "SELECT count() FROM "+s.db.names.Table(table)+where).Scan(&old); err != nil {
			return fmt.Errorf("sweep %s: %w", table, err)
		}
		if old == 0 {
			continue
		}
		if err := s.db.conn.Exec(ctx, "ALTER TABLE "+s.db.names.Local(table)+s.db.names.OnCluster()+" DELETE"+where); err != nil {
			return fmt.Errorf("sweep %s: %w", table, err)
		}
	}
	return nil
}
