// Package evaluate turns the samples before a tick into feature rows. The upstream
// PromQL engine says what an expression means; this package says what of its answer is a
// feature value. The stream, a backfill and a test run the same code.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
	"sextant/pipeline/compile"
	"sextant/pipeline/window"
)

// Options are the choices that change what rows say, or what they cost.
type Options struct {
	Lookback  time.Duration // how long a sample stands for its series in an instant selector
	GroupSize int           // nodes per query
	Reference bool          // leave all expressions to the engine, whether they compile or not
}

// Evaluator evaluates views over a window store that it owns. It is not safe for
// concurrent use.
type Evaluator struct {
	views  []*view
	store  *window.Store
	set    *compile.Set
	reader *window.Reader
	engine *promql.Engine
	due    []dueView
}

// view is a feature view and the scratch space of its evaluation.
type view struct {
	*features.View
	exprs   []expression // by feature
	vectors []int        // features by the type of their expression
	scalars []int
	counts  []Counts
	groups  []*entities // by group
	rows    rowIndex
	last    int // rows of the last tick
}

// dueView is a view with its rows of the present tick.
type dueView struct {
	view *view
	rows *features.Rows
}

// expression is how a feature is computed: compiled, or by the engine.
type expression struct {
	program *compile.Program // nil: by the engine
	why     error            // the part that is not compiled
}

// Counts says what became of one feature's results that are not stored, and of its
// queries that failed.
type Counts struct {
	Compiled    uint64 // evaluations of a group by the compiled expression
	Engine      uint64 // evaluations of a group by the engine
	Errors      uint64 // queries of one node that failed
	ExtraLabels uint64 // results whose labels are not exactly the view's keys
	Duplicates  uint64 // entities left NULL because the expression gave them two results
	OutOfRange  uint64 // values outside the valid range or the type: NULL
}

// New checks and compiles the views that are streamed; others are left out. Every fault is reported at once.
func New(views []*features.View, o Options) (*Evaluator, error) {
	p := &parsed{features.NewParser(), map[string]parser.Expr{}}
	e := &Evaluator{engine: newEngine(o.Lookback, p), store: window.NewStore(o.GroupSize)}
	e.set = compile.NewSet(e.store, o.Lookback)
	var errs []error
	for _, def := range views {
		if !def.Streamed() {
			continue // the store evaluates it (pipeline/derive), or somebody else
		}
		v := &view{View: def, counts: make([]Counts, len(def.Features)), exprs: make([]expression, len(def.Features))}
		for i, f := range def.Features {
			if err := e.compile(v, i, p, o); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: feature %s: %w", def.File, f.Line, f.Name, err))
			}
		}
		e.views = append(e.views, v)
	}
	e.reader = e.store.NewReader()
	return e, errors.Join(errs...)
}

// compile parses feature i of a view and has the store keep what it reads.
func (e *Evaluator) compile(v *view, i int, p *parsed, o Options) error {
	text := v.Features[i].Expr
	expr, ok := p.exprs[text]
	if !ok {
		var err error
		if expr, err = features.Parse(text); err != nil {
			return err
		}
		p.exprs[text] = expr
	}
	switch expr.Type() {
	case parser.ValueTypeVector:
		v.vectors = append(v.vectors, i)
	case parser.ValueTypeScalar:
		v.scalars = append(v.scalars, i)
	default:
		return fmt.Errorf("expression %s gives a %s, not a vector or scalar", text, expr.Type())
	}
	if err := e.store.Keep(expr, o.Lookback); err != nil {
		return err
	}
	x := &v.exprs[i]
	if o.Reference {
		x.why = errReference
		return nil
	}
	x.program, x.why = e.set.Compile(expr)
	return nil
}

var errReference = errors.New("everything is left to the engine")

// newEngine returns an engine that answers the same today and in a replay: an evaluation
// has no deadline that a slow machine would meet, and no limit that a big fleet would.
func newEngine(lookback time.Duration, p parser.Parser) *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		Logger:        slog.New(slog.DiscardHandler),
		MaxSamples:    math.MaxInt,
		Timeout:       24 * time.Hour,
		LookbackDelta: lookback,
		Parser:        p,
	})
}

// Store is where the samples go.
func (e *Evaluator) Store() *window.Store { return e.store }

// Counts calls f with the counts of every feature so far.
func (e *Evaluator) Counts(f func(view, feature string, c Counts)) {
	for _, v := range e.views {
		for i, c := range v.counts {
			f(v.Name, v.Features[i].Name, c)
		}
	}
}

// Paths calls f for every feature with what its expression contains that is not compiled
// and keeps it with the engine, or nil.
func (e *Evaluator) Paths(f func(v *features.View, feature string, why error)) {
	for _, v := range e.views {
		for i, x := range v.exprs {
			f(v.View, v.Features[i].Name, x.why)
		}
	}
}

// Tick evaluates every view whose interval divides the tick, at the last millisecond
// before it: a range of w reads [tick-w, tick). known is the time from which the rows
// could be known. Both are unix ms. An entity has a row when a vector gave it a value.
func (e *Evaluator) Tick(tick, known int64) []*features.Rows {
	e.due = e.due[:0]
	for _, v := range e.views {
		if tick%v.Interval.Milliseconds() == 0 {
			e.due = append(e.due, dueView{v, newRows(v.View, v.last)})
		}
	}
	for g := range e.store.Groups() {
		if e.store.Empty(g) {
			continue
		}
		e.set.Begin(g, tick-1)
		for _, d := range e.due {
			e.evalGroup(d, g, tick, known)
		}
	}
	var out []*features.Rows
	for _, d := range e.due {
		if d.view.last = len(d.rows.Tick); d.view.last > 0 {
			out = append(out, d.rows)
		}
	}
	return out
}

func (e *Evaluator) evalGroup(d dueView, group int, tick, known int64) {
	v := d.view
	v.rows.begin(d.rows, v.entitiesOf(group), tick, known)
	for _, i := range v.vectors {
		e.evalFeature(v, i, group, tick)
	}
	for _, i := range v.scalars {
		e.evalFeature(v, i, group, tick)
	}
	v.rows.end()
}

// evalFeature evaluates a feature over a group. A query fails as a whole when one node's
// series contradict each other, so it is then asked node by node and only that node
// goes without.
func (e *Evaluator) evalFeature(v *view, i, group int, tick int64) {
	v.rows.feature(&v.Features[i], i, &v.counts[i])
	if p := v.exprs[i].program; p != nil {
		if vec, err := p.Eval(); err == nil {
			v.counts[i].Compiled++
			v.rows.putVector(p, vec)
			return
		}
	}
	v.counts[i].Engine++
	if e.query(v, i, group, "", tick) == nil {
		return
	}
	for _, node := range e.store.NodesOf(group) {
		if e.query(v, i, group, node, tick) != nil {
			v.counts[i].Errors++
		}
	}
}

func (e *Evaluator) query(v *view, i, group int, node string, tick int64) error {
	ctx := context.Background()
	e.reader.Use(group, node)
	q, err := e.engine.NewInstantQuery(ctx, e.reader, nil, v.Features[i].Expr, time.UnixMilli(tick-1))
	if err != nil {
		return err
	}
	defer q.Close()
	res := q.Exec(ctx)
	if res.Err != nil {
		return res.Err
	}
	switch val := res.Value.(type) {
	case promql.Vector:
		for j := range val {
			v.rows.put(&val[j])
		}
	case promql.Scalar:
		v.rows.putAll(val.V)
	}
	return nil
}
