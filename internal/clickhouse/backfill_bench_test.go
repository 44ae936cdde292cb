package clickhouse

import (
	"context"
	"testing"
	"time"

	"sextant/features"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline"
	"sextant/pipeline/backfill"
)

// BenchmarkBackfill reads half an hour of 50 nodes from the engine and computes the rows of
// node_monitoring. CPU is that of this process, the engine's own included.
func BenchmarkBackfill(b *testing.B) {
	db := openDB(b)
	s := newSink(b, db)
	views, err := features.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	var monitoring []*features.View
	for _, v := range views {
		if v.Name == "node_monitoring" {
			monitoring = append(monitoring, v)
		}
	}
	if err := db.ApplyViews(context.Background(), monitoring); err != nil {
		b.Fatal(err)
	}
	const nodes, ticks = 50, 180
	f := fleet.New(nodes, 1)
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "t"}, pipeline.Checkpoint{})
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range f.Log(0, ticks, 0) {
		if err := m.Add(r); err != nil {
			b.Fatal(err)
		}
	}
	batch := m.Take()
	stored := len(batch.Samples.Series)
	if err := s.Write(context.Background(), batch); err != nil {
		b.Fatal(err)
	}
	store := db.NewBackfillStore(s)
	b.ResetTimer()
	before := cpu()
	var read int64
	for range b.N {
		p, err := backfill.Run(context.Background(), store, backfill.Config{Views: monitoring, From: fleet.Base, To: fleet.Base + ticks*fleet.Interval, Lateness: 5 * time.Second})
		if err != nil {
			b.Fatal(err)
		}
		read += p.Samples
	}
	took := (cpu() - before).Seconds()
	b.ReportMetric(float64(read)/took, "samples/cpu-s")
	b.ReportMetric(float64(stored*b.N)/took, "stored-samples/cpu-s")
}
