package api

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
	"sextant/features/online"
)

// Bounds of the log of what was served.
const (
	servedQueue    = 256    // sampled answers that wait to be written
	servedEntities = 1_000  // of one answer
	servedRows     = 20_000 // of one write
	servedEvery    = time.Second
	servedDrain    = 3 * time.Second // for the last write, when the program ends
)

// ServedSink stores rows of the log.
type ServedSink interface {
	WriteServed(ctx context.Context, rows []features.Served) error
}

// ServedOptions of a log.
type ServedOptions struct {
	Rate       float64               // share of requests that is kept, 0 to 1
	Registerer prometheus.Registerer // nil registers nothing
	Log        *slog.Logger          // slog.Default
}

// ServedLog keeps a sample of what was answered, so that it can be compared with what was
// stored. A request only leaves a reference; what the log cannot keep up with is dropped
// and counted.
type ServedLog struct {
	opts    ServedOptions
	sink    ServedSink
	queue   chan servedAnswer
	written prometheus.Counter
	dropped *prometheus.CounterVec
	failing bool // of Run
}

// servedAnswer is an answer of the past: snapshots never change, so it need not be copied.
type servedAnswer struct {
	plan   *plan
	groups []group
	now    int64
}

// NewServedLog returns a log that writes while Run runs.
func NewServedLog(sink ServedSink, o ServedOptions) (*ServedLog, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	l := &ServedLog{opts: o, sink: sink, queue: make(chan servedAnswer, servedQueue),
		written: prometheus.NewCounter(prometheus.CounterOpts{Name: "sextant_api_served_rows_total", Help: "Rows written to served_features."}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_api_served_dropped_rows_total", Help: "Rows of sampled answers that were not written to served_features: the queue was full, the answer too large, or the store failed.",
		}, []string{"reason"})}
	for _, reason := range []string{"queue", "size", "store"} {
		l.dropped.WithLabelValues(reason)
	}
	if o.Registerer == nil {
		return l, nil
	}
	for _, c := range []prometheus.Collector{l.written, l.dropped} {
		if err := o.Registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// observe takes a share of the answers. It never waits. A nil log takes none.
func (l *ServedLog) observe(p *plan, groups []group, now int64) {
	if l == nil || rand.Float64() >= l.opts.Rate {
		return
	}
	n := min(p.entities, servedEntities)
	a := servedAnswer{plan: p, now: now, groups: make([]group, len(p.views))}
	for i := range a.groups {
		g := &groups[i]
		a.groups[i] = group{snapshot: g.snapshot, rows: append([]int32(nil), g.rows[:n]...), statuses: append([]features.Status(nil), g.statuses[:n]...)}
	}
	l.dropped.WithLabelValues("size").Add(float64((p.entities - n) * len(p.views)))
	select {
	case l.queue <- a:
	default:
		l.dropped.WithLabelValues("queue").Add(float64(n * len(p.views)))
	}
}

// Run writes until ctx is done, then what is left.
func (l *ServedLog) Run(ctx context.Context) error {
	tick := time.NewTicker(servedEvery)
	defer tick.Stop()
	var rows []features.Served
	for {
		select {
		case a := <-l.queue:
			if rows = append(rows, a.rows()...); len(rows) < servedRows {
				continue
			}
		case <-tick.C:
		case <-ctx.Done():
			for len(l.queue) > 0 {
				a := <-l.queue
				rows = append(rows, a.rows()...)
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), servedDrain)
			defer cancel()
			l.write(last, rows)
			return context.Cause(ctx)
		}
		l.write(ctx, rows)
		rows = nil
	}
}

// write makes one attempt: the log is a sample, and a queue that waits for a store that is
// away would drop what comes later instead.
func (l *ServedLog) write(ctx context.Context, rows []features.Served) {
	if len(rows) == 0 {
		return
	}
	err := l.sink.WriteServed(ctx, rows)
	if err == nil {
		l.written.Add(float64(len(rows)))
	} else {
		l.dropped.WithLabelValues("store").Add(float64(len(rows)))
	}
	if failing := err != nil; failing != l.failing {
		l.failing = failing
		if failing {
			l.opts.Log.Warn("served features are not stored", "err", err)
		} else {
			l.opts.Log.Info("served features are stored again")
		}
	}
}

// rows are those of the answer, by view and entity.
func (a *servedAnswer) rows() []features.Served {
	var rows []features.Served
	for v, view := range a.plan.views {
		g := &a.groups[v]
		keys := a.plan.keysOf(nil, view)
		for i, row := range g.rows {
			r := features.Served{Time: a.now, View: view}
			for _, k := range keys {
				r.Keys = append(r.Keys, k[i])
			}
			if row >= 0 {
				r.Tick, r.Known = g.snapshot.Tick[row], g.snapshot.Known[row]
			}
			for _, c := range a.plan.columns {
				if c.group == v {
					add(&r, g.snapshot, c.col, int(row), g.statuses[i])
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// add puts one value beside the others, as the encoders write it.
func add(r *features.Served, s *online.Snapshot, col, row int, ofRow features.Status) {
	f, c := &s.View.Features[col], &s.Cols[col]
	value, text, st := math.NaN(), "", c.Status(row, ofRow)
	switch {
	case st == features.NullValue && f.Default != nil:
		value = *f.Default
	case st != features.Present:
	case c.Str != nil:
		text = c.Str[row]
	default:
		value = c.Num[row]
	}
	r.Features, r.Values, r.Texts, r.Statuses = append(r.Features, f.Name), append(r.Values, value), append(r.Texts, text), append(r.Statuses, st.String())
}
