// Package trainset measures how fast training sets are built, beside Feast's own
// point-in-time join over the same rows and labels.
package trainset

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"sextant/features"
	"sextant/features/training"
	"sextant/internal/bench/child"
	"sextant/internal/bench/store"
)

// Options of a run. A zero value is the default.
type Options struct {
	Nodes  int   // 200
	Hours  int   // of rows, each node every 10 s; 24
	Labels []int // sizes of the sets; 1,000,000 and 10,000,000
	Feast  bool  // beside Feast, in a virtual environment that is made once
	Random bool  // labels in no order of time, which is the dear case
}

func (o Options) withDefaults() Options {
	if o.Nodes == 0 {
		o.Nodes = 200
	}
	if o.Hours == 0 {
		o.Hours = 24
	}
	if len(o.Labels) == 0 {
		o.Labels = []int{1_000_000, 10_000_000}
	}
	return o
}

// Row is one set by one program.
type Row struct {
	Program  string
	Labels   int
	Took     time.Duration
	CPU      time.Duration // of the program,
	StoreCPU time.Duration // and of its store
	Peak     int64         // bytes of the program, and for Sextant of its store too, which has a process of its own
	PeakBoth int64
	Fault    string // why there is no figure
}

// Result is a run.
type Result struct {
	Options
	Features int
	Stored   int
	Rows     []Row
}

// view is what is stored and asked for.
const view = "node_monitoring"

// Run fills a store and builds the sets, each by a process of its own.
func Run(ctx context.Context, o Options, progress io.Writer) (*Result, error) {
	o = o.withDefaults()
	dir, err := os.MkdirTemp("", "sextant-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, err := open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer b.store.Stop()
	fmt.Fprintf(progress, "training-set: storing %d rows of %d features\n", b.rows(), len(b.view.Features))
	if err := b.fill(ctx); err != nil {
		return nil, err
	}
	r := &Result{Options: o, Features: len(b.view.Features), Stored: b.rows()}
	for _, n := range o.Labels {
		fmt.Fprintf(progress, "training-set: %d labels\n", n)
		if err := b.writeLabels(n); err != nil {
			return nil, err
		}
		row, err := b.sextant(ctx, n)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, row)
		if o.Feast {
			r.Rows = append(r.Rows, b.feast(ctx, n, progress))
		}
	}
	return r, nil
}

// bench is a store with rows.
type bench struct {
	Options
	dir   string
	view  *features.View
	start time.Time
	store *store.Store
}

func open(ctx context.Context, dir string, o Options) (*bench, error) {
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		return nil, err
	}
	v, ok := set.View(view)
	if !ok {
		return nil, fmt.Errorf("view %s is not built in", view)
	}
	b := &bench{Options: o, dir: dir, view: v, start: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)}
	if b.store, err = store.Open(ctx, dir); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *bench) rows() int { return b.Nodes * b.Hours * 360 }

// fill stores a row for each node and tick, one value in twenty missing.
func (b *bench) fill(ctx context.Context) error {
	var names, values []string
	for i, f := range b.view.Features {
		names = append(names, "`"+f.Name+"`")
		value := fmt.Sprintf("if(cityHash64(number, %d) %% 20 = 0, NULL, (cityHash64(number, %d) %% 100000) / 1000)", i, 1000+i)
		if f.DType == features.String {
			value = "'text'"
		}
		values = append(values, value)
	}
	ticks := b.Hours * 360
	return b.store.Do(ctx, fmt.Sprintf(`INSERT INTO sextant.%s (node, tick, known, %s)
SELECT concat('node-', leftPad(toString(intDiv(number, %d)), 6, '0')),
	fromUnixTimestamp64Milli(toInt64(%d + (number %% %d) * 10000), 'UTC') AS t, t + INTERVAL 5 SECOND, %s
FROM numbers(%d)`, b.view.Table(), strings.Join(names, ", "), ticks, b.start.UnixMilli(), ticks, strings.Join(values, ", "), b.rows()), nil)
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// writeLabels writes n labels at random nodes, in the order of time unless Random.
func (b *bench) writeLabels(n int) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "node", Type: arrow.BinaryTypes.String},
		{Name: "event_timestamp", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "label", Type: arrow.PrimitiveTypes.Int64}}, nil)
	f, err := os.Create(b.path("labels.parquet"))
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := training.Formats[0].Create(struct{ io.Writer }{f}, schema)
	if err != nil {
		return err
	}
	r, span := rand.New(rand.NewPCG(1, uint64(n))), int64(b.Hours)*3_600_000
	rows := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := 0; i < n; {
		for ; i < n; i++ {
			at := span * int64(i) / int64(n)
			if b.Random {
				at = r.Int64N(span)
			}
			rows.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("node-%06d", r.IntN(b.Nodes)))
			rows.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(b.start.UnixMilli() + at))
			rows.Field(2).(*array.Int64Builder).Append(int64(i))
			if i%(1<<16) == 1<<16-1 {
				i++
				break
			}
		}
		batch := rows.NewRecordBatch()
		err := w.Write(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// sextant builds the set as a user would.
func (b *bench) sextant(ctx context.Context, n int) (Row, error) {
	begin, before := time.Now(), b.store.CPU()
	p, err := child.Start(ctx, b.dir, "training-set", "", b.store.Env, "features", "training-set", "--features", strings.Join(b.refs(), ","),
		"--labels", b.path("labels.parquet"), "--out", b.path("set.parquet"))
	if err == nil {
		err = p.Wait()
	}
	if err != nil {
		return Row{}, err
	}
	return Row{Program: "sextant", Labels: n, Took: time.Since(begin), CPU: p.CPUAtEnd(), StoreCPU: b.store.CPU() - before, Peak: p.PeakAtEnd(), PeakBoth: p.PeakAtEnd() + b.store.Peak()}, nil
}

func (b *bench) refs() []string {
	refs := make([]string, len(b.view.Features))
	for i, f := range b.view.Features {
		refs[i] = view + ":" + f.Name
	}
	return refs
}

// perMillion is CPU seconds per million rows.
func perMillion(d time.Duration, rows int) float64 { return d.Seconds() * 1e6 / float64(rows) }

// Print writes the table.
func (r *Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d nodes, %d h, %d rows of %d features; labels in the order of time: %v\n", r.Nodes, r.Hours, r.Stored, r.Features, !r.Random)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "program\tlabels\ttook\trows/s\tCPU s per M rows: program\tstore\tpeak MiB\twith the store MiB")
	for _, x := range r.Rows {
		if x.Fault != "" {
			fmt.Fprintf(w, "%s\t%d\t-\t-\t-\t-\t-\t%s\n", x.Program, x.Labels, x.Fault)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f s\t%.0f\t%.1f\t%.1f\t%d\t%d\n", x.Program, x.Labels, x.Took.Seconds(), float64(x.Labels)/x.Took.Seconds(), perMillion(x.CPU, x.Labels), perMillion(x.StoreCPU, x.Labels), x.Peak>>20, x.PeakBoth>>20)
	}
	return w.Flush()
}
