package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/quality"
)

const testLookback = 30 * time.Second

// oracle is the stream's meaning written down plainly: it keeps everything, looks at all
// of it for every tick, and asks the engine node by node over the engine's own series.
type oracle struct {
	views             []*features.View
	engine            *promql.Engine
	watermark, closed int64
	ingest            int64
	kept              []sample // not late; labels are canonical
	out               *table

	notes  []note           // flags that rows have
	raised map[string]int64 // by node and flag in force: its last sample
}

// note is flags of a node's samples at a time.
type note struct {
	node  string
	t     int64
	flags uint16
}

// tell returns what a store holds after the events.
func tell(t *testing.T, views []*features.View, events []event) *table {
	t.Helper()
	o := &oracle{views: views, out: newTable(), raised: map[string]int64{}, engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Hour, LookbackDelta: testLookback})}
	seen := map[string]bool{}
	for _, e := range events {
		if e.idle != 0 {
			o.pause(e.idle - 5_000)
			continue
		}
		o.pause(e.record.Ingest)
		o.ingest = e.record.Ingest
		if e.dead {
			continue
		}
		if key := fmt.Sprint(e.record.Headers); !seen[key] {
			seen[key] = true
			set := uint16(0)
			for _, s := range e.decoded {
				set |= o.take(s, e.scrape, e.record.Ingest)
			}
			o.flag(string(e.record.Key), set&quality.OfScrape, e.scrape, e.record.Ingest)
		}
		o.advance(min(e.scrape, e.record.Ingest) - 5_000)
	}
	return o.out
}

func (o *oracle) pause(now int64) {
	if o.ingest != 0 && now-o.ingest >= 20_000 {
		o.advance(now - 20_000)
	}
}

// flag tells of what was wrong with a record, and ends what is no more.
func (o *oracle) flag(node string, set uint16, scrape, ingest int64) {
	at, late := scrape, false
	if at < ingest-30*24*3600_000 || at > ingest+60_000 {
		at = ingest
	}
	if at < o.closed {
		at, late, set = o.closed, true, quality.Late
	}
	o.notes = append(o.notes, note{node, at, set})
	for _, f := range quality.All {
		key := node + " " + f.Name
		last, inForce := o.raised[key]
		switch {
		case set&f.Bit != 0:
			if at > last {
				o.tell(node, f.Name, at, 1)
				o.raised[key] = at
			}
		case late || !inForce || at <= last || f.Bit == quality.Late && at-last < 20_000:
		default:
			if at-last <= 60_000 {
				o.tell(node, f.Name, at, math.Float64frombits(value.StaleNaN))
			}
			delete(o.raised, key)
		}
	}
}

func (o *oracle) tell(node, flag string, at int64, v float64) {
	text := "__name__\xffsample_flag\xffflag\xff" + flag + "\xffnode\xff" + node + "\xfftarget\xfft\xff"
	o.out.samples[sampleKey{pipeline.SeriesID(node, []byte(text)), at}] = fmt.Sprintf("%x 0", math.Float64bits(v))
}

// take stores a sample, and returns its flags.
func (o *oracle) take(s sample, scrape, ingest int64) uint16 {
	flags := uint16(0)
	if s.t < ingest-3600_000 || s.t > ingest+60_000 {
		s.t, flags = scrape, quality.Retimed
		if scrape > ingest+60_000 {
			s.t = ingest
		}
	}
	lb := labels.NewBuilder(s.labels)
	lb.Set("node", s.node)
	s.labels = lb.Labels()
	var text string
	s.labels.Range(func(l labels.Label) { text += l.Name + "\xff" + l.Value + "\xff" })
	key := sampleKey{pipeline.SeriesID(s.node, []byte(text)), s.t}
	if _, ok := o.out.samples[key]; ok {
		return flags // the same series and time again
	}
	if value.IsStaleNaN(s.v) {
		flags |= quality.Stale
	}
	if s.t < o.closed {
		flags |= quality.Late
	} else {
		o.kept = append(o.kept, s)
	}
	o.out.samples[key] = fmt.Sprintf("%x %d", math.Float64bits(s.v), flags)
	return flags
}

func (o *oracle) advance(w int64) {
	if w <= o.watermark {
		return
	}
	first := o.watermark == 0
	o.watermark = w
	for t := o.closed/10_000*10_000 + 10_000; t <= w && !first; t += 10_000 {
		o.closed = t
		for _, v := range o.views {
			if t%v.Interval.Milliseconds() == 0 {
				o.tick(v, t)
			}
		}
	}
	if first {
		o.closed = w / 10_000 * 10_000
	}
}

// tick writes the rows of one view at one tick.
func (o *oracle) tick(v *features.View, tick int64) {
	for _, node := range []string{"n0", "n1", "n2", "n3"} {
		text := ""
		for i := range v.Features {
			text += o.feature(&v.Features[i], node, tick)
		}
		flags := uint16(0)
		for _, n := range o.notes {
			if n.node == node && n.t >= tick-v.Interval.Milliseconds() && n.t < tick {
				flags |= n.flags
			}
		}
		if text != "" && flags != 0 {
			text += " flags=" + quality.Text(flags)
		}
		if text != "" {
			o.out.rows[fmt.Sprintf("%s %s %s", v.Name, node, since(tick))] = text
		}
	}
}

func (o *oracle) feature(f *features.Feature, node string, tick int64) string {
	q, err := o.engine.NewInstantQuery(context.Background(), &past{o.kept, node}, nil, f.Expr, time.UnixMilli(tick-1))
	if err != nil {
		panic(err)
	}
	vec, err := q.Exec(context.Background()).Vector()
	if err != nil || len(vec) != 1 {
		return "" // contradictory, ambiguous or nothing
	}
	if f.DType == features.String {
		return fmt.Sprintf(" %s=%q", f.Name, vec[0].Metric.Get(f.Label))
	}
	x := vec[0].F
	switch f.DType {
	case features.Int64:
		x = math.RoundToEven(x)
	case features.Float32:
		x = float64(float32(x))
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return fmt.Sprintf(" %s=%v", f.Name, x)
}

// past shows the engine all samples of one node.
type past struct {
	kept []sample
	node string
}

func (p *past) Querier(int64, int64) (storage.Querier, error) { return p, nil }
func (*past) Close() error                                    { return nil }

func (*past) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	panic("not asked")
}

func (*past) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	panic("not asked")
}

func (p *past) Select(_ context.Context, _ bool, _ *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	found := map[string][]chunks.Sample{}
	metric := map[string]labels.Labels{}
	for _, s := range p.kept {
		ok := s.node == p.node
		for _, m := range ms {
			ok = ok && m.Matches(s.labels.Get(m.Name))
		}
		if ok {
			found[s.labels.String()] = append(found[s.labels.String()], point{s.t, s.v})
			metric[s.labels.String()] = s.labels
		}
	}
	var series []storage.Series
	for k, points := range found {
		slices.SortStableFunc(points, func(a, b chunks.Sample) int { return int(a.T() - b.T()) })
		series = append(series, storage.NewListSeries(metric[k], points))
	}
	slices.SortFunc(series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return &list{series, -1}
}

type list struct {
	series []storage.Series
	i      int
}

func (l *list) Next() bool                      { l.i++; return l.i < len(l.series) }
func (l *list) At() storage.Series              { return l.series[l.i] }
func (*list) Err() error                        { return nil }
func (*list) Warnings() annotations.Annotations { return nil }

type point struct {
	t int64
	v float64
}

func (p point) T() int64                    { return p.t }
func (point) ST() int64                     { return 0 }
func (p point) F() float64                  { return p.v }
func (point) H() *histogram.Histogram       { return nil }
func (point) FH() *histogram.FloatHistogram { return nil }
func (point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample         { return p }

// TestAgainstOracle compares what a machine stores with the plain meaning of the stream.
func TestAgainstOracle(t *testing.T) {
	for seed := range uint64(6) {
		events := stream(seed, 400)
		want := tell(t, streamViews(), events)
		got := newTable()
		live(t, events, got, 1+int(seed)*7)
		// The oracle keeps no ledger, series or dead letters.
		want.ledger, want.series, want.dead = got.ledger, got.series, got.dead
		if d := got.diff(want); d != "" {
			t.Errorf("seed %d:\n%s", seed, d)
		}
		if len(want.rows) < 50 || len(want.samples) < 500 {
			t.Fatalf("seed %d: only %d rows and %d samples were compared", seed, len(want.rows), len(want.samples))
		}
	}
}
