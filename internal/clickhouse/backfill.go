package clickhouse

import (
	"context"
	"fmt"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/pipeline"
	"sextant/pipeline/backfill"
	"sextant/schema/quality"
	schema "sextant/schema/sql"
)

// BackfillStore is where backfills read samples, and write rows through a sink.
type BackfillStore struct {
	db     *DB
	sink   *Sink
	gentle bool
}

var _ backfill.Store = (*BackfillStore)(nil)

// NewBackfillStore returns a store that writes through sink, which the caller closes.
func (db *DB) NewBackfillStore(sink *Sink) *BackfillStore { return &BackfillStore{db: db, sink: sink} }

// Gentle is the store for work that must not be felt: a query of it has one thread.
func (s *BackfillStore) Gentle() *BackfillStore { return &BackfillStore{s.db, s.sink, true} }

// Nodes implements backfill.Store.
func (s *BackfillStore) Nodes(ctx context.Context) (nodes []string, err error) {
	err = s.ask(ctx, "queries/backfill_nodes.sql", s.db.names, nil, func(rows driver.Rows) error {
		nodes = append(nodes, "")
		return rows.Scan(&nodes[len(nodes)-1])
	})
	return nodes, err
}

// Series implements backfill.Store.
func (s *BackfillStore) Series(ctx context.Context, nodes, names []string) (out []backfill.Series, err error) {
	b := labels.NewScratchBuilder(16)
	err = s.ask(ctx, "queries/backfill_series.sql", s.db.names, ofMetrics(nodes, names), func(rows driver.Rows) error {
		var x backfill.Series
		var name string
		var keys, values []string
		if err := rows.Scan(&x.ID, &x.Node, &name, &keys, &values); err != nil {
			return err
		}
		b.Reset()
		b.Add(labels.MetricName, name)
		for i, k := range keys {
			b.Add(k, values[i])
		}
		b.Sort()
		x.Labels = b.Labels()
		out = append(out, x)
		return nil
	})
	return out, err
}

func ofMetrics(nodes, names []string) []any {
	all := names == nil
	if all {
		names = []string{""}
	}
	return []any{ch.Named("nodes", nodes), ch.Named("all", all), ch.Named("names", names)}
}

// Samples implements backfill.Store.
func (s *BackfillStore) Samples(ctx context.Context, r backfill.Range, names []string, late bool, f func(backfill.Samples)) error {
	without := quality.Unusable
	if !late {
		without |= quality.Late
	}
	const file = "queries/backfill_samples.sql"
	text, err := renderFile(schema.Files, file, s.db.names)
	if err != nil {
		return err
	}
	args := append(ofMetrics(r.Nodes, names), ch.Named("from", r.From), ch.Named("to", r.To), ch.Named("without", without))
	if err := s.db.readSamples(s.settings(ctx), text, args, f); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Rows implements backfill.Store.
func (s *BackfillStore) Rows(ctx context.Context, v *features.View, r backfill.Range) (*features.Rows, error) {
	text, err := renderFile(schema.Files, "queries/backfill_rows.sql", viewData{names: s.db.names, v: v})
	if err != nil {
		return nil, err
	}
	rows, err := s.db.conn.Query(ctx, text, ch.Named("nodes", r.Nodes), ch.Named("from", r.From), ch.Named("to", r.To))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", v.Table(), err)
	}
	defer rows.Close()
	out, err := scanRows(rows, v)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", v.Table(), err)
	}
	return out, nil
}

// Write implements backfill.Store. What was refused is stored first: it is not asked for again
// once there are rows.
func (s *BackfillStore) Write(ctx context.Context, source string, rows []*features.Rows, refused []backfill.Refused) error {
	if err := s.db.changes.tell(ctx, rows...); err != nil {
		return err
	}
	if err := s.writeFaults(ctx, source, refused); err != nil {
		return err
	}
	if err := s.sink.Write(ctx, &pipeline.Batch{Topic: source, First: 0, Last: -1, Rows: rows}); err != nil {
		return err
	}
	return s.db.changes.tell(ctx, rows...)
}

func (s *BackfillStore) writeFaults(ctx context.Context, source string, refused []backfill.Refused) error {
	if len(refused) == 0 {
		return nil
	}
	faults := make([]faultRow, len(refused))
	for i, r := range refused {
		faults[i] = faultRow{r.View.Ref(), r.View.Features[r.Feature].Name, r.Tick, source, r.Count}
	}
	h := newHasher()
	hashFaults(h, faults)
	return s.db.attempt(ctx, &step{table: faultsTable, rows: len(faults), token: token(faultsTable.name, source, h.sum()), append: func(w *columnWriter) { appendFaults(w, faults) }})
}

// Progress implements backfill.Store.
func (s *BackfillStore) Progress(ctx context.Context, job string) (map[string]bool, error) {
	done := map[string]bool{}
	rows, err := s.db.Query(ctx, "SELECT part FROM {db}.backfills WHERE job = ?", job)
	if err != nil {
		return nil, fmt.Errorf("progress of the backfill: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var part string
		if err := rows.Scan(&part); err != nil {
			return nil, fmt.Errorf("progress of the backfill: %w", err)
		}
		done[part] = true
	}
	return done, rows.Err()
}

// Done implements backfill.Store.
func (s *BackfillStore) Done(ctx context.Context, job, part string, c backfill.Counts) error {
	err := s.db.Exec(ctx, "INSERT INTO {db}.backfills (job, part, rows, stored, differ) VALUES (?, ?, ?, ?, ?)",
		job, part, uint64(c.Rows), uint64(c.Stored), uint64(c.Differ))
	if err != nil {
		return fmt.Errorf("note what the backfill did: %w", err)
	}
	return nil
}

// Closed is the time before which every tick is closed and stored, unix ms: the ledger is
// written after the rows, and a tick closes with a record later than it by the lateness. A
// partition that was silent for an hour when another one spoke holds up nothing.
func (s *BackfillStore) Closed(ctx context.Context, lateness time.Duration) (int64, error) {
	var closed int64
	err := s.db.conn.QueryRow(ctx, `SELECT ifNull(min(reached), 0) FROM (
		SELECT max(toUnixTimestamp64Milli(least(scrape, ingest))) AS reached, max(ingest) AS heard FROM `+s.db.names.Table("ingest_ledger")+`
		GROUP BY partition)
		WHERE heard > (SELECT max(ingest) FROM `+s.db.names.Table("ingest_ledger")+`) - INTERVAL 1 HOUR`).Scan(&closed)
	if err != nil {
		return 0, fmt.Errorf("how far rows are stored: %w", err)
	}
	return closed - lateness.Milliseconds(), nil
}

// settings makes queries of ctx gentle where they are to be.
func (s *BackfillStore) settings(ctx context.Context) context.Context {
	if !s.gentle {
		return ctx
	}
	return ch.Context(ctx, ch.WithSettings(ch.Settings{"max_threads": 1}))
}

// ask runs a query and calls f at each row.
func (s *BackfillStore) ask(ctx context.Context, file string, data any, args []any, f func(driver.Rows) error) error {
	return s.db.eachRow(s.settings(ctx), file, data, args, f)
}
