package features

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// answers evaluates a built-in view at a tick over the samples before it, as the pipeline
// does, with its lookback of a minute. The result is "feature key key" to the value; of a
// string, "feature key key = text" to 1. Two answers of one entity fail the test.
func answers(t *testing.T, view, script string, tick time.Duration) map[string]float64 {
	t.Helper()
	v := builtinView(t, view)
	store := promqltest.LoadedStorage(t, script)
	engine := promqltest.NewTestEngine(t, false, time.Minute, promqltest.DefaultMaxSamplesPerQuery)
	out := make(map[string]float64)
	for _, f := range v.Features {
		q, err := engine.NewInstantQuery(context.Background(), store, nil, f.Expr, time.UnixMilli(tick.Milliseconds()-1))
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		vector, err := q.Exec(context.Background()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		for _, s := range vector {
			wantLabels(t, v, f, s)
			key, value := f.Name, s.F
			for _, k := range v.Keys {
				key += " " + s.Metric.Get(k)
			}
			if f.DType == String {
				key, value = key+" = "+s.Metric.Get(f.Label), 1
			}
			if _, twice := out[key]; twice {
				t.Errorf("%s has two answers", key)
			}
			out[key] = value
			if f.Min != nil && value < *f.Min || f.Max != nil && value > *f.Max {
				t.Errorf("%s = %v is outside %s", key, value, f.Range())
			}
		}
	}
	return out
}

func builtinView(t *testing.T, name string) *View {
	t.Helper()
	views := ofPromQL(t)
	for _, v := range views {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no view %s", name)
	return nil
}

// wantAll wants an expectation for each feature of the view, so that none is left out.
func wantAll(t *testing.T, view string, got, want map[string]float64) {
	t.Helper()
	wantNums(t, got, want)
	for _, f := range builtinView(t, view).Features {
		found := false
		for key := range want {
			found = found || strings.HasPrefix(key, f.Name+" ")
		}
		if !found {
			t.Errorf("%s has no expectation here", f.Name)
		}
	}
}
