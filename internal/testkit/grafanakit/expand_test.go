package grafanakit

import (
	"strings"
	"testing"
	"time"
)

// TestExpand: the right sides are those of the documentation of the ClickHouse data source.
func TestExpand(t *testing.T) {
	v := View{From: time.Unix(1415792726, 0), To: time.Unix(1447328726, 0), Interval: 20 * time.Second, Variables: map[string][]string{
		"one": {"n1"}, "two": {"a", "b'c"}, "any": {All}, "empty": {""}}}
	for _, c := range [][2]string{
		{"$__timeFilter(ts)", "ts >= toDateTime(1415792726) AND ts <= toDateTime(1447328726)"},
		{"tick > $__fromTime AND tick <= $__toTime", "tick > toDateTime(1415792726) AND tick <= toDateTime(1447328726)"},
		{"$__timeInterval(tick) AS time", "toStartOfInterval(toDateTime(tick), INTERVAL 20 second) AS time"},
		{"sum(x) / $__interval_s", "sum(x) / 20"},
		{"n = ${one:singlequote}", "n = 'n1'"},
		{"n = $one", "n = n1"},
		{"n IN (${two:singlequote})", `n IN ('a','b\'c')`},
		{"$__conditionalAll(f(a, 'x') IN (${two:singlequote}), $two) AND 1", `f(a, 'x') IN ('a','b\'c') AND 1`},
		{"$__conditionalAll(a IN (${any:singlequote}), $any) AND $__conditionalAll(b IN (${two:singlequote}), $two)", `1=1 AND b IN ('a','b\'c')`},
		{"$__conditionalAll(m['a'] IN (${empty:singlequote}), $empty)", "1=1"},
	} {
		if got, err := v.SQL(c[0]); err != nil || got != c[1] {
			t.Errorf("%s is\n%s (%v), want\n%s", c[0], got, err, c[1])
		}
	}
	for _, c := range [][2]string{
		{"$__timeFilter(ts", "never closed"}, {"$other", "no variable"}, {"$__dateFilter(d)", "no macro"},
		{"n IN ($two)", "singlequote"}, {"$__conditionalAll(a, ${one:singlequote})", "no variable"}, {"$__conditionalAll(a)", "1 arguments"},
	} {
		if got, err := v.SQL(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s is %s (%v), want an error with %q", c[0], got, err, c[1])
		}
	}
}

func TestExpandPromQL(t *testing.T) {
	v := View{From: time.Unix(0, 0), To: time.Unix(3600, 0), Interval: 10 * time.Second, Variables: map[string][]string{"node": {"a", "b"}}}
	got, err := v.PromQL(`rate(x{node=~"$node"}[$__rate_interval])`)
	if want := `rate(x{node=~"a|b"}[1m0s])`; err != nil || got != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
}

func TestShapes(t *testing.T) {
	at := Column{"time", "DateTime('UTC')"}
	value, label := Column{"v", "Nullable(Float32)"}, Column{"node", "LowCardinality(String)"}
	rows := [][]any{{"2026-01-01 00:00:00", "a", 1.}, {"2026-01-01 00:00:00", "b", nil}, {"2026-01-01 00:00:10", "a", 2.}}
	good := &Answer{Meta: []Column{at, label, value}, Data: rows}
	if err := good.CheckTimeSeries("node"); err != nil {
		t.Error(err)
	}
	for name, a := range map[string]*Answer{
		"no rows":          {Meta: good.Meta},
		"time is text":     {Meta: []Column{{"time", "String"}, label, value}, Data: rows},
		"time may be null": {Meta: []Column{{"time", "Nullable(DateTime)"}, label, value}, Data: rows},
		"another label":    {Meta: []Column{at, {"host", "String"}, value}, Data: rows},
		"value is text":    {Meta: []Column{at, label, {"v", "String"}}, Data: rows},
		"never a value":    {Meta: good.Meta, Data: [][]any{{"2026-01-01 00:00:00", "a", nil}}},
		"time falls":       {Meta: good.Meta, Data: [][]any{rows[2], rows[0]}},
		"twice":            {Meta: good.Meta, Data: [][]any{rows[0], rows[0]}},
	} {
		if err := a.CheckTimeSeries("node"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
