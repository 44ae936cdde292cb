package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/prometheus/storage"

	"sextant/features"
	"sextant/schema/quality"
	schema "sextant/schema/sql"
)

// PromLimits bound what one selector of a PromQL query may read. All are needed.
type PromLimits struct {
	Series  int           // that match
	Samples int           // that are read
	Range   time.Duration // from the first to the last time that is read
}

// Prometheus shows the store to a PromQL engine: samples under their canonical names, and
// the features of views as feature:VIEW:FEATURE. It implements storage.Queryable.
type Prometheus struct {
	db     *DB
	views  []*features.View
	limits PromLimits
}

var _ storage.Queryable = (*Prometheus)(nil)

// Prometheus makes the queryable. Of a view with several versions the newest is shown.
func (db *DB) Prometheus(views []*features.View, limits PromLimits) *Prometheus {
	return &Prometheus{db: db, views: newest(views), limits: limits}
}

// newest keeps the highest version of each view.
func newest(views []*features.View) []*features.View {
	at := make(map[string]int)
	var out []*features.View
	for _, v := range views {
		i, seen := at[v.Name]
		switch {
		case !seen:
			at[v.Name] = len(out)
			out = append(out, v)
		case out[i].Version < v.Version:
			out[i] = v
		}
	}
	return out
}

// Querier implements storage.Queryable. Times are unix ms, both inclusive.
func (p *Prometheus) Querier(mint, maxt int64) (storage.Querier, error) {
	return &promQuerier{p: p, span: promSpan{mint, maxt}.clamp()}, nil
}

// promSpan is [from, to] in unix ms.
type promSpan struct{ from, to int64 }

// What a DateTime64(3) holds: 1900 to 2299. The API's "for ever" lies outside.
var firstTime, lastTime = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(2299, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli()

func (s promSpan) clamp() promSpan {
	return promSpan{min(max(s.from, firstTime), lastTime), max(min(s.to, lastTime), firstTime)}
}

// bounded says whether the caller named both ends.
func (s promSpan) bounded() bool { return s.from > firstTime && s.to < lastTime }

// LimitError says that a query asks for more than it may.
type LimitError struct{ what string }

func (e *LimitError) Error() string { return e.what }

func tooMuch(format string, args ...any) error { return &LimitError{fmt.Sprintf(format, args...)} }

func (p *Prometheus) checkRange(s promSpan) error {
	if limit := p.limits.Range; time.Duration(min(s.to-s.from, math.MaxInt64/int64(time.Millisecond)))*time.Millisecond > limit {
		return tooMuch("the query reads %v of time for one selector, more than the limit of %v", time.Duration(s.to-s.from)*time.Millisecond, limit)
	}
	return nil
}

// Away says that an error came of a store that does not answer now, and not of the query.
func Away(err error) bool {
	var ex *ch.Exception
	if errors.As(err, &ex) {
		return ex.Code != codeTimeout && kindOfCode(ex.Code) == away
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && unreachable(err)
}

// TimedOut says that the store gave a query up because it took too long.
func TimedOut(err error) bool {
	var ex *ch.Exception
	return errors.As(err, &ex) && ex.Code == codeTimeout || errors.Is(err, context.DeadlineExceeded)
}

const codeTimeout = 159 // TIMEOUT_EXCEEDED

// promData is what the templates schema/sql/queries/promql_*.sql see. Its strings are
// SQL, made of numbers and quoted text only.
type promData struct {
	Names   names
	Where   string // further conditions, each with AND before it
	IDs     string
	Visible string
	Label   string // expression of a label's value
	Limit   int
}

// visible is the one place that says which samples PromQL sees: those without a flag that
// says that there is no value. A late sample is a sample: FINAL has already put it behind
// one that was in time.
func visible() string { return fmt.Sprintf("bitAnd(flags, %d) = 0", quality.Unusable) }

// ask runs one of the queries. The store gives up when ctx's deadline has passed.
func (p *Prometheus) ask(ctx context.Context, file string, data any, args ...any) (driver.Rows, error) {
	text, err := renderFile(schema.Files, "queries/"+file, data)
	if err != nil {
		return nil, err
	}
	settings := ch.Settings{}
	if deadline, ok := ctx.Deadline(); ok {
		settings["max_execution_time"] = int(max(1, math.Ceil(time.Until(deadline).Seconds())))
	}
	return p.db.conn.Query(ch.Context(ctx, ch.WithSettings(settings)), text, args...)
}

// each calls f for every row of a query.
func (p *Prometheus) each(ctx context.Context, file string, data any, args []any, f func(driver.Rows) error) (err error) {
	rows, err := p.ask(ctx, file, data, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
