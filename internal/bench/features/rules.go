package features

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"sextant/features"
)

// ruleEngine is Prometheus' own: groups of recording rules, one for each interval, over a
// TSDB whose samples are all in the head. It has no write-ahead log.
type ruleEngine struct {
	dir    string
	db     *tsdb.DB
	groups []*rules.Group
	refs   [][]storage.SeriesRef // by node
	labels [][]labels.Labels
	values int // results of the rules of the present tick
}

func newRuleEngine(views []*features.View) (*ruleEngine, error) {
	dir, err := os.MkdirTemp("", "sextant-bench-tsdb-")
	if err != nil {
		return nil, err
	}
	o := tsdb.DefaultOptions()
	o.WALSegmentSize = -1
	o.NoLockfile = true
	e := &ruleEngine{dir: dir}
	if e.db, err = tsdb.Open(dir, slog.New(slog.DiscardHandler), nil, o, nil); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e.db.DisableCompactions()
	return e, errors.Join(e.load(views))
}

// load makes a recording rule of each feature.
func (e *ruleEngine) load(views []*features.View) error {
	p := features.NewParser()
	engine := promql.NewEngine(promql.EngineOpts{
		Logger: slog.New(slog.DiscardHandler), MaxSamples: math.MaxInt, Timeout: time.Hour, LookbackDelta: options.Lookback, Parser: p,
	})
	query := rules.EngineQueryFunc(engine, e.db)
	o := &rules.ManagerOptions{
		NameValidationScheme: model.UTF8Validation, Context: context.Background(), AppendableV2: e.db, Queryable: e.db, Parser: p,
		Logger: slog.New(slog.DiscardHandler),
		QueryFunc: func(ctx context.Context, text string, at time.Time) (promql.Vector, error) {
			v, err := query(ctx, text, at)
			e.values += len(v)
			return v, err
		},
	}
	rules.NewManager(o) // completes them
	byInterval := map[time.Duration][]rules.Rule{}
	for _, v := range views {
		for i := range v.Features {
			expr, err := p.ParseExpr(v.Features[i].Expr)
			if err != nil {
				return err
			}
			r := rules.NewRecordingRule("feature:"+v.Name+":"+v.Features[i].Name, expr, labels.EmptyLabels())
			byInterval[v.Interval] = append(byInterval[v.Interval], r)
		}
	}
	for interval, rs := range byInterval {
		e.groups = append(e.groups, rules.NewGroup(rules.GroupOptions{Name: interval.String(), Interval: interval, Rules: rs, Opts: o}))
	}
	return nil
}

func (e *ruleEngine) join(i int, t *telemetry) error {
	ls := t.seriesOf(i)
	e.labels = append(e.labels, ls)
	e.refs = append(e.refs, make([]storage.SeriesRef, len(ls)))
	return nil
}

func (e *ruleEngine) add(i int, points []point) error {
	app := e.db.Appender(context.Background())
	for _, p := range points {
		ref, err := app.Append(e.refs[i][p.series], e.labels[i][p.series], p.t, p.v)
		if err != nil {
			return errors.Join(err, app.Rollback())
		}
		e.refs[i][p.series] = ref
	}
	return app.Commit()
}

func (*ruleEngine) pass(int64) error { return nil }

func (e *ruleEngine) evaluate(tick int64) (values int, err error) {
	e.values = 0
	for _, g := range e.groups {
		if tick%g.Interval().Milliseconds() != 0 {
			continue
		}
		g.Eval(context.Background(), time.UnixMilli(tick-1))
		for _, r := range g.Rules() {
			err = errors.Join(err, r.LastError())
		}
	}
	return e.values, err
}

func (e *ruleEngine) close() error { return errors.Join(e.db.Close(), os.RemoveAll(e.dir)) }
