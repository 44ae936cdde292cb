package promapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/prometheus/prometheus/util/stats"
)

// annotated is what an engine adds to an answer.
type annotated struct {
	annotations annotations.Annotations
	done        func() // called when the answer is written, which shares the query's memory
}

// queryData is the data of a query's answer.
type queryData struct {
	Type   parser.ValueType
	Result parser.Value
	Stats  stats.QueryStats
}

// maxPoints is Prometheus' limit for the points of a series in one answer.
const maxPoints = 11_000

func (s *server) query(r *http.Request) (answer, *apiError) {
	at, failed := timeParam(r, "time", s.Now())
	if failed != nil {
		return answer{}, failed
	}
	return s.run(r, func(ctx context.Context, o promql.QueryOpts) (promql.Query, error) {
		return s.engine.NewInstantQuery(ctx, s.source, o, r.FormValue("query"), at)
	})
}

func (s *server) queryRange(r *http.Request) (answer, *apiError) {
	start, failed := timeParam(r, "start", time.Time{})
	if failed != nil {
		return answer{}, failed
	}
	end, failed := timeParam(r, "end", time.Time{})
	if failed != nil {
		return answer{}, failed
	}
	if end.Before(start) {
		return answer{}, badParam("end", errors.New("end timestamp must not be before start time"))
	}
	step, err := parseDuration(r.FormValue("step"))
	if err != nil {
		return answer{}, badParam("step", err)
	}
	if step <= 0 {
		return answer{}, badParam("step", errors.New("zero or negative query resolution step widths are not accepted. Try a positive integer"))
	}
	if end.Sub(start)/step > maxPoints {
		return answer{}, badData(errors.New("exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)"))
	}
	return s.run(r, func(ctx context.Context, o promql.QueryOpts) (promql.Query, error) {
		return s.engine.NewRangeQuery(ctx, s.source, o, r.FormValue("query"), start, end, step)
	})
}

// run builds a query and answers with its result.
func (s *server) run(r *http.Request, build func(context.Context, promql.QueryOpts) (promql.Query, error)) (answer, *apiError) {
	limit, failed := limitParam(r)
	if failed != nil {
		return answer{}, failed
	}
	timeout, failed := timeoutParam(r)
	if failed != nil {
		return answer{}, failed
	}
	ctx := r.Context()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var lookback time.Duration
	if text := r.FormValue("lookback_delta"); text != "" {
		var err error
		if lookback, err = parseDuration(text); err != nil {
			return answer{}, badData(fmt.Errorf("error parsing lookback delta duration: %w", err))
		}
	}
	wanted := r.FormValue("stats")
	query, err := build(ctx, promql.NewPrometheusQueryOpts(wanted == "all", lookback, nil))
	if err != nil {
		return answer{}, s.construction(err)
	}
	a := answer{from: annotated{done: query.Close}}
	res := query.Exec(ctx)
	if res.Err != nil {
		return a, s.failure(res.Err)
	}
	a.from.annotations = res.Warnings
	data := &queryData{Type: res.Value.Type(), Result: res.Value}
	if limit > 0 && truncate(data, limit) {
		a.notes = append(a.notes, errTruncated)
	}
	if wanted != "" {
		data.Stats = stats.NewQueryStats(query.Stats())
		if wanted != "true" && wanted != "all" {
			a.notes = append(a.notes, fmt.Errorf("value %q for parameter \"stats\" is deprecated and will be rejected in the next major release, use \"true\" or \"all\"", wanted))
		}
	}
	a.data = data
	return a, nil
}

var errTruncated = errors.New("results truncated due to limit")

// truncate keeps the first series of a result.
func truncate(d *queryData, limit int) bool {
	switch v := d.Result.(type) {
	case promql.Matrix:
		if len(v) > limit {
			d.Result = v[:limit]
			return true
		}
	case promql.Vector:
		if len(v) > limit {
			d.Result = v[:limit]
			return true
		}
	}
	return false
}

func (s *server) formatQuery(r *http.Request) (answer, *apiError) {
	expr, err := s.parser.ParseExpr(r.FormValue("query"))
	if err != nil {
		return answer{}, badParam("query", err)
	}
	return answer{data: expr.Pretty(0)}, nil
}

// exemplars answers a right question with none: the line carries no exemplars.
func (s *server) exemplars(r *http.Request) (answer, *apiError) {
	if _, err := s.parser.ParseExpr(r.FormValue("query")); err != nil {
		return answer{}, badData(err)
	}
	return answer{data: []any{}}, nil
}
