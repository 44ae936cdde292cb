package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/pipeline/derive"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/pane"
	"sextant/schema/quality"
	schema "sextant/schema/sql"
)

// Limits of one query for a view that looks back further than the stream.
const (
	paneSeconds = 600
	paneSeries  = 100_000 // of one question
)

// asStreamed are the options of the stream's evaluator.
var asStreamed = evaluate.Options{Lookback: time.Minute, GroupSize: 32}

// longViews evaluates views that look back further than the stream.
type longViews struct {
	db     *DB
	since  int64  // unix ms: panes that were made before are made again
	series uint64 // that are computed, or evaluated, at a time; more, if a few nodes have them

	mu    sync.Mutex
	plans map[*features.View]*pane.Plan // guarded by mu
	told  map[string]bool               // guarded by mu: what was logged
}

func newLongViews(db *DB) *longViews {
	return &longViews{db: db, series: paneSeries, plans: map[*features.View]*pane.Plan{}, told: map[string]bool{}}
}

func (l *longViews) plan(v *features.View) (*pane.Plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.plans[v]; p != nil {
		return p, nil
	}
	p, err := pane.NewPlan(v, asStreamed)
	if err == nil {
		l.plans[v] = p
	}
	return p, err
}

// derive makes the panes that the tick lacks, and evaluates the view.
func (l *longViews) derive(ctx context.Context, v *features.View, at derive.At) (*features.Rows, error) {
	p, err := l.plan(v)
	if err != nil {
		return nil, err
	}
	if err := l.fill(ctx, p, at.Tick); err != nil {
		return nil, err
	}
	parts, err := l.parts(ctx, selectorsOf(p))
	if err != nil {
		return nil, err
	}
	out := &features.Rows{View: v, Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	for _, part := range parts {
		e, err := p.At(at.Tick)
		if err != nil {
			return nil, err
		}
		if err := l.read(ctx, p, e, at.Tick, part); err != nil {
			return nil, err
		}
		rows, fault := e.Rows(at.Known)
		l.tell(v, fault)
		if rows != nil {
			out.Append(rows)
		}
	}
	return out, nil
}

// tell logs what is wrong with the series of some nodes, once.
func (l *longViews) tell(v *features.View, fault error) {
	if fault == nil {
		return
	}
	l.mu.Lock()
	told := l.told[v.Ref()]
	l.told[v.Ref()] = true
	l.mu.Unlock()
	if !told {
		l.db.log.Warn("a view has no values for some nodes", "view", v.Ref(), "err", fault)
	}
}

// selectorsOf is all that a plan reads.
func selectorsOf(p *pane.Plan) (out []pane.Selector) {
	for _, list := range [][]pane.Window{p.Windows, p.Samples} {
		for _, w := range list {
			out = append(out, w.Selectors...)
		}
	}
	return out
}

// idRange is series ids, both ends among them. All series of a node are in one.
type idRange struct{ first, last uint64 }

// parts cut the series of selectors into ranges that are read one after the other.
func (l *longViews) parts(ctx context.Context, selectors []pane.Selector) ([]idRange, error) {
	var n uint64
	if err := l.db.conn.QueryRow(ctx, "SELECT count() FROM ("+l.db.names.seriesOf(selectors, idRange{0, 1<<64 - 1})+")").Scan(&n); err != nil {
		return nil, fmt.Errorf("count series: %w", err)
	}
	var out []idRange
	parts := min(n/l.series+1, 1<<16)
	for i := range parts {
		// The high bits of an id are its node's.
		first, next := i*(1<<16)/parts, (i+1)*(1<<16)/parts
		out = append(out, idRange{first << 48, next<<48 - 1})
	}
	return out, nil
}

// seriesOf is the query of the ids that selectors choose; it may give some more.
func (n names) seriesOf(selectors []pane.Selector, r idRange) string {
	parts := make([]string, len(selectors))
	for i, s := range selectors {
		parts[i] = "(1" + conditions(s.Matchers, seriesColumn) + ")"
	}
	return "SELECT id FROM " + n.Table("series") + " WHERE id BETWEEN " + strconv.FormatUint(r.first, 10) + " AND " + strconv.FormatUint(r.last, 10) +
		" AND (" + strings.Join(parts, " OR ") + ") GROUP BY id"
}

// paneData is what the queries pane_*.sql are filled with.
type paneData struct {
	names
	Series string // query of their ids
	Stored bool   // the panes that are stored, and not those of samples
	Whole  bool   // one by one, and not one for all of a series
	Sums   bool   // with the sum
}

// Without is the flags of samples that no window has: as in the stream, those without a value, and
// those that came when their tick was closed.
func (paneData) Without() uint16 { return quality.Unusable | quality.Late }

// Rows is the query of panes of samples.
func (d paneData) Rows() (string, error) { return renderFile(schema.Files, "queries/pane_rows.sql", d) }

// asked carries a stretch of time and the limits of a query.
func (l *longViews) asked(ctx context.Context, s pane.Span) context.Context {
	settings := ch.Settings{"max_execution_time": paneSeconds, "max_memory_usage": int64(deriveMemory)}
	if l.db.cfg.Cluster != "" {
		settings["distributed_product_mode"] = "global"
		settings["insert_distributed_sync"] = 1
	}
	length := s.Length
	if length == 0 {
		length = s.To - s.From
	}
	return ch.Context(ctx, ch.WithSettings(settings), ch.WithParameters(ch.Parameters{
		"length": strconv.FormatInt(length, 10), "from": strconv.FormatInt(s.From, 10), "to": strconv.FormatInt(s.To, 10)}))
}

// each calls f for every row of a query.
func (l *longViews) each(ctx context.Context, file string, d paneData, s pane.Span, f func(driver.Rows) error) error {
	return l.db.eachRow(l.asked(ctx, s), "queries/"+file, d, nil, f)
}

// read gives an evaluation all that it needs of a range of series.
func (l *longViews) read(ctx context.Context, p *pane.Plan, e *pane.Evaluation, tick int64, part idRange) error {
	all := paneData{names: l.db.names, Series: l.db.names.seriesOf(selectorsOf(p), part)}
	b := labels.NewScratchBuilder(16)
	err := l.each(ctx, "pane_series.sql", all, pane.Span{}, func(rows driver.Rows) error {
		var id uint64
		var name, text string
		if err := rows.Scan(&id, &name, &text); err != nil {
			return err
		}
		e.Know(id, unpack(&b, name, text))
		return nil
	})
	if err != nil {
		return err
	}
	for i, w := range p.Windows {
		of := paneData{names: l.db.names, Series: l.db.names.seriesOf(w.Selectors, part), Whole: w.Whole, Sums: w.Sums}
		for _, s := range pane.Cut(tick-w.From, tick-w.To) {
			if err := l.panes(ctx, of, s, func(id uint64, x *pane.Pane) { e.Pane(i, id, x) }); err != nil {
				return err
			}
		}
	}
	for _, w := range p.Samples {
		of := paneData{names: l.db.names, Series: l.db.names.seriesOf(w.Selectors, part)}
		var id uint64
		var t int64
		var v float64
		err := l.each(ctx, "pane_samples.sql", of, pane.Span{From: tick - w.From, To: tick - w.To}, func(rows driver.Rows) error {
			if err := rows.Scan(&id, &t, &v); err != nil {
				return err
			}
			e.Sample(id, t, v)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// panes calls f for each pane of a span, in the order of time.
func (l *longViews) panes(ctx context.Context, of paneData, s pane.Span, f func(id uint64, p *pane.Pane)) error {
	of.Stored = s.Length > 0
	var p pane.Pane
	var id uint64
	var n uint64
	var changes, resets uint32
	into := []any{&id, &n, &p.FirstT, &p.LastT, &p.First, &p.Last, &p.Min, &p.Max, &p.Sum, &p.Spread, &p.MeanT, &p.SpreadT, &p.SpanTV, &changes, &resets, &p.Fallen}
	return l.each(ctx, "pane_read.sql", of, s, func(rows driver.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		p.N, p.Changes, p.Resets = float64(n), float64(changes), float64(resets)
		f(id, &p)
		return nil
	})
}
