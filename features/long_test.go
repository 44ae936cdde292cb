package features

import (
	"strings"
	"testing"
	"testing/fstest"
)

// slow is one with an interval of a minute.
func slow(expr string) string { return strings.Replace(one(expr), "interval: 10s", "interval: 1m", 1) }

// TestWhereViewsAreComputed: a view is the store's when one of its features looks back further
// than the stream does, and panes compute what has a long range.
func TestWhereViewsAreComputed(t *testing.T) {
	for _, tt := range []struct {
		expr        string
		long, panes bool
	}{
		{"max_over_time(x[1h])", false, false},
		{"max_over_time(x[30m] offset 30m)", false, false},
		{"max_over_time(x[61m])", true, true},
		{"x - x offset 7d", true, false},
		{"rate(x[5m]) / rate(x[5m] offset 1d)", true, false},
		{"sum by (node) (increase(x[7d] offset 1h)) / max by (node) (y)", true, true},
		{"predict_linear(x[2h], -(3600))", true, true},
		{"max_over_time(x[30d])", true, true},
	} {
		views, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(slow(tt.expr))}})
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		v := views[0]
		if v.Long != tt.long || v.Streamed() == tt.long || v.InStore() != tt.long || v.Features[0].FromPanes() != tt.panes {
			t.Errorf("%s: long %v, streamed %v, from panes %v", tt.expr, v.Long, v.Streamed(), v.Features[0].FromPanes())
		}
	}
}

func TestLongWindowsThatAreRefused(t *testing.T) {
	for expr, want := range map[string]string{
		"quantile_over_time(0.9, x[24h])":         "looks back 24h0m0s with quantile_over_time: over more than 1h0m0s the store computes avg_over_time, changes,",
		"irate(x[2h])":                            "looks back 2h0m0s with irate: over more than",
		"absent_over_time(x[2h])":                 "looks back 2h0m0s with absent_over_time",
		"max_over_time(rate(x[30m])[40m:1m])":     "looks back 1h10m0s in a subquery: at most 1h0m0s, or a range function",
		"max_over_time(rate(x[2h])[10m:1m])":      "looks back 2h10m0s in a subquery",
		"x offset 15d":                            "looks back 360h0m0s: at most 336h0m0s with an offset",
		"max_over_time(x[30d] offset 1h)":         "looks back 721h0m0s: at most 720h0m0s",
		"predict_linear(x[2h], scalar(y))":        "looks back 2h0m0s with predict_linear of a time that is no number: write the seconds out",
		"double_exponential_smoothing(x[2h],1,1)": "looks back 2h0m0s with double_exponential_smoothing",
	} {
		_, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(slow(expr))}})
		if err == nil || !strings.Contains(err.Error(), "f.yaml:11: feature x: expr: "+want) {
			t.Errorf("%s: %v, want %s", expr, err, want)
		}
	}
}
