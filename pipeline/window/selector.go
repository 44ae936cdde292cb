package window

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Selector is one distinct set of matchers that the expressions use, compiled once.
type Selector struct {
	key      string // the matchers, sorted: what Select is asked with
	name     string // the metric name when it is given with "=", else ""
	matchers []*labels.Matcher
	history  int64 // ms before a tick's end that some expression reads
}

// matches reports whether a series belongs to the selector. A label that is absent has
// the value "", as in Prometheus.
func (s *Selector) matches(ls labels.Labels) bool {
	for _, m := range s.matchers {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

// selectorKey names a set of matchers, whatever their order.
func selectorKey(ms []*labels.Matcher) string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.String()
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// selectorsOf returns the selectors of an expression with the history that each reads.
// An expression whose value at a tick depends on more than the samples before that tick
// is an error: its rows could not be computed again.
func selectorsOf(expr parser.Expr, lookback time.Duration) ([]*Selector, error) {
	var (
		found []*Selector
		errs  []error
		rng   time.Duration // of the matrix selector whose inner selector comes next
	)
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		switch n := node.(type) {
		case *parser.Call:
			if n.Func.Name == "info" {
				errs = append(errs, errors.New("info() reads series that the expression does not name"))
			}
		case *parser.MatrixSelector:
			rng = n.Range
		case *parser.SubqueryExpr:
			errs = append(errs, pinned("subquery", n.Timestamp != nil || n.StartOrEnd != 0, n.OriginalOffset))
		case *parser.VectorSelector:
			errs = append(errs, pinned(n.String(), n.Timestamp != nil || n.StartOrEnd != 0, n.OriginalOffset))
			if n.Anchored || n.Smoothed {
				errs = append(errs, fmt.Errorf("%s: anchored and smoothed ranges read samples after the tick", n))
			}
			h := lookback
			if rng > 0 {
				h = rng
			}
			h += n.OriginalOffset
			for _, p := range path {
				if sq, ok := p.(*parser.SubqueryExpr); ok {
					h += sq.Range + sq.OriginalOffset
				}
			}
			found = append(found, newSelector(n.LabelMatchers, h))
			rng = 0
		}
		return nil
	})
	return found, errors.Join(errs...)
}

func pinned(what string, at bool, offset time.Duration) error {
	if at {
		return fmt.Errorf("%s: @ pins the expression to one moment", what)
	}
	if offset < 0 {
		return fmt.Errorf("%s: a negative offset reads samples after the tick", what)
	}
	return nil
}

func newSelector(ms []*labels.Matcher, history time.Duration) *Selector {
	s := &Selector{key: selectorKey(ms), matchers: ms, history: history.Milliseconds()}
	for _, m := range ms {
		if m.Name == labels.MetricName && m.Type == labels.MatchEqual {
			s.name = m.Value
		}
	}
	return s
}
