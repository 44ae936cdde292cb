package evaluate

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
)

// TestCloneIsAlone lets the engine rewrite a copy, twice, and wants the original as it was.
func TestCloneIsAlone(t *testing.T) {
	exprs := []string{
		`-(2 * 3) * (sum by (z, a) (rate(m{x=~"a|b"}[1m])))`,
		`max_over_time(sum(m)[40s:10s]) + on (node) group_left count_values("v", m)`,
		`topk(2 + 1, m offset 5s) or label_replace(m, "a", "$1", "b", "(.*)")`,
		`quantile by (node) (0.9, (m)) > bool scalar(vector(1))`,
		`histogram_quantile(0.9, sum by (le) (rate(m_bucket[5m])))`,
		`timestamp(m) unless vector(time() - 3)`,
	}
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		if v.SQL != "" {
			continue
		}
		for _, f := range v.Features {
			exprs = append(exprs, f.Expr)
		}
	}
	for _, text := range exprs {
		expr, err := features.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := parser.Prettify(expr)
		p := &parsed{parser.NewParser(parser.Options{}), map[string]parser.Expr{text: expr}}
		for range 2 {
			c, err := p.ParseExpr(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := parser.Prettify(c); got != want {
				t.Errorf("the copy is\n%s\nwant\n%s", got, want)
			}
			if _, err := promql.PreprocessExpr(c, time.UnixMilli(0), time.UnixMilli(0), 0); err != nil {
				t.Fatal(err)
			}
		}
		if got := parser.Prettify(expr); got != want {
			t.Errorf("the engine changed the original to\n%s\nwant\n%s", got, want)
		}
	}
}
