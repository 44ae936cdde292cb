// Package line measures the line from a filled Kafka topic to rows in ClickHouse, each
// part a process of its own on the same machine, beside the bare limit: the same samples
// as ready blocks, inserted into the same engine.
package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"sextant/internal/bench/child"
)

// Options of a run. The zero value is the default.
type Options struct {
	Nodes int    // of the fleet, 5,000
	Ticks int    // scrapes of each, 40; more than an hour of them cannot be replayed
	Dir   string // where data goes meanwhile; a new temporary folder when empty
}

// Result is what Run measured.
type Result struct {
	Nodes, Ticks int
	FeatureRows  int64

	Stretch                         // from the pipeline's start until the last sample is visible
	Second                  Stretch // its second half: all series are registered by then
	PipelinePeak, StorePeak int64   // bytes of memory
	Split                   []Part  // of the pipeline's CPU time

	BareWall, BareStore time.Duration // the same samples as ready blocks

	BytesWritten float64 // per sample on disk, when the run ended
	BytesMerged  float64 // and after every merge
}

// Stretch is a part of a run.
type Stretch struct {
	Samples                 int64 // that became visible
	Wall                    time.Duration
	Pipeline, Store, Broker time.Duration // CPU time of each
}

func (s Stretch) minus(o Stretch) Stretch {
	return Stretch{s.Samples - o.Samples, s.Wall - o.Wall, s.Pipeline - o.Pipeline, s.Store - o.Store, s.Broker - o.Broker}
}

// Run fills a topic, lets the pipeline empty it, and inserts the same samples bare.
func Run(ctx context.Context, o Options, progress io.Writer) (Result, error) {
	if o.Nodes == 0 {
		o.Nodes = 5000
	}
	if o.Ticks == 0 {
		o.Ticks = 40
	}
	if o.Nodes < 1 || o.Ticks < 1 || o.Ticks > 300 {
		return Result{}, errors.New("bench: want at least 1 node, and 1 to 300 ticks")
	}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "sextant-bench-")
		if err != nil {
			return Result{}, err
		}
		defer os.RemoveAll(dir)
		o.Dir = dir
	}
	b := &bench{o: o, progress: progress}
	defer b.close()
	if err := b.start(ctx); err != nil {
		return Result{}, err
	}
	fmt.Fprintf(progress, "filling the topic: %d nodes, %d scrapes each\n", o.Nodes, o.Ticks)
	n, err := fill(ctx, b.kafka, o.Nodes, o.Ticks)
	if err != nil {
		return Result{}, fmt.Errorf("fill the topic: %w", err)
	}
	r := Result{Nodes: o.Nodes, Ticks: o.Ticks}
	fmt.Fprintf(progress, "pipeline: %d samples\n", n)
	if err := b.pipeline(ctx, n, &r); err != nil {
		return r, err
	}
	fmt.Fprintln(progress, "bare limit: the same samples as ready blocks")
	return r, b.bare(ctx, &r)
}

// bench holds the processes of a run.
type bench struct {
	o        Options
	progress io.Writer
	kafka    string
	store    store
	children []*child.Process
}

func (b *bench) close() {
	for i := len(b.children) - 1; i >= 0; i-- {
		b.children[i].Stop()
	}
}

func (b *bench) run(ctx context.Context, name, ready string, args ...string) (*child.Process, error) {
	env := []string{
		"SEXTANT_KAFKA_BROKERS=" + b.kafka, "SEXTANT_CLICKHOUSE_ADDR=" + b.store.addr, "SEXTANT_CLICKHOUSE_PROTOCOL=http",
		"SEXTANT_PIPELINE_LISTEN=",
	}
	c, err := child.Start(ctx, b.o.Dir, name, ready, env, args...)
	if err != nil {
		return nil, err
	}
	b.children = append(b.children, c)
	return c, nil
}

func (b *bench) start(ctx context.Context) error {
	var err error
	if b.kafka, err = child.FreeAddr(); err != nil {
		return err
	}
	if b.store.addr, err = child.FreeAddr(); err != nil {
		return err
	}
	if _, err := b.run(ctx, "broker", "ready", "embedded", "--dir", filepath.Join(b.o.Dir, "broker"), "--kafka", b.kafka, "--clickhouse", "none"); err != nil {
		return err
	}
	if _, err := b.run(ctx, "store", "ready", "embedded", "--dir", filepath.Join(b.o.Dir, "store"), "--kafka", "none", "--clickhouse", b.store.addr); err != nil {
		return err
	}
	migrate, err := child.Start(ctx, b.o.Dir, "migrate", "", []string{"SEXTANT_CLICKHOUSE_ADDR=" + b.store.addr, "SEXTANT_CLICKHOUSE_PROTOCOL=http"}, "migrate")
	if err != nil {
		return err
	}
	return migrate.Wait()
}

// pipeline lets the pipeline empty the topic, which has so many samples.
func (b *bench) pipeline(ctx context.Context, samples int64, r *Result) error {
	broker, db := b.children[0], b.children[1]
	broker0, db0 := broker.CPU(), db.CPU()
	profile := filepath.Join(b.o.Dir, "pipeline.pprof")
	began := time.Now()
	pipe, err := b.run(ctx, "pipeline", "", "pipeline", "--cpu-profile", profile)
	if err != nil {
		return err
	}
	until := func(want int64) (Stretch, error) {
		n, err := b.await(ctx, pipe, want)
		return Stretch{min(n, samples), time.Since(began), pipe.CPU(), db.CPU() - db0, broker.CPU() - broker0}, err
	}
	first, err := until(samples / 2)
	if err != nil {
		return err
	}
	if r.Stretch, err = until(samples); err != nil {
		return err
	}
	r.Second = r.Stretch.minus(first)
	r.PipelinePeak, r.StorePeak = pipe.Peak(), db.Peak()
	pipe.Stop()
	b.children = b.children[:2]
	if r.Split, err = split(profile); err != nil {
		return fmt.Errorf("profile of the pipeline: %w", err)
	}
	rows, err := b.store.number(ctx, "SELECT sum(rows) FROM system.parts WHERE active AND database = 'sextant' AND table LIKE 'features_%'")
	r.FeatureRows = int64(rows)
	return err
}

// await polls until so many samples are visible, and returns how many are.
func (b *bench) await(ctx context.Context, pipe *child.Process, want int64) (int64, error) {
	poll := time.NewTicker(500 * time.Millisecond) // a query costs milliseconds of the CPU that is measured
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-poll.C:
		}
		if err := pipe.Failed(); err != nil {
			return 0, err
		}
		n, err := b.store.number(ctx, "SELECT sum(rows) FROM system.parts WHERE active AND database = 'sextant' AND table = 'samples'")
		if err != nil {
			return 0, err
		}
		if int64(n) >= want {
			return int64(n), nil
		}
	}
}
