package backfill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"sextant/internal/clickhouse"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline"
)

// batchSamples is about how many samples are stored at once.
const batchSamples = 500_000

// fill stores what a fleet sends, as the pipeline would without any view, and merges it as
// the past is merged.
func (b *bench) fill(ctx context.Context) (err error) {
	cfg := clickhouse.DefaultConfig()
	cfg.Addr, cfg.Protocol = []string{b.store.Addr}, "http"
	db, err := clickhouse.Open(ctx, cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sink, err := db.NewSink(clickhouse.DefaultSinkConfig())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "bench"}, pipeline.Checkpoint{})
	if err != nil {
		return err
	}
	f := fleet.NewAt(b.Nodes, 1, b.from.UnixMilli())
	offset := int64(0)
	// A tick more than is asked for closes the last one.
	for tick := range b.Ticks + 1 {
		for _, r := range f.Log(tick, tick+1, offset) {
			if err := m.Add(r); err != nil {
				return err
			}
			offset++
		}
		if m.Len() < batchSamples && tick < b.Ticks {
			continue
		}
		batch := m.Take()
		if err := sink.Write(ctx, batch); err != nil {
			return err
		}
		m.Recycle(batch)
	}
	for _, table := range []string{"samples", "series"} {
		if err := b.store.Do(ctx, "OPTIMIZE TABLE sextant."+table+" FINAL", nil); err != nil {
			return err
		}
	}
	b.Stored, err = b.number(ctx, "SELECT count() FROM sextant.samples")
	return err
}

// number is the single number that a query yields.
func (b *bench) number(ctx context.Context, query string) (int64, error) {
	var out bytes.Buffer
	if err := b.store.Do(ctx, query, &out); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.100s: %w", query, err)
	}
	return n, nil
}
