package exposition

import (
	"testing"

	"sextant/schema/wire"
)

func scanAll(s *Scanner, page string, format Format) {
	s.Reset([]byte(page), format)
	for s.Next() {
	}
}

func TestMeta(t *testing.T) {
	var s Scanner
	scanAll(&s, string(testdata(t, "counters.om")), OpenMetrics)
	faults := Meta{Type: wire.TypeCounter, Help: `Faults by device, "all" kinds.`}
	for name, want := range map[string]Meta{
		"device_faults_total":   faults,
		"device_faults_created": faults,
		"device_faults_bucket":  {},
		"device_busy_seconds":   {Type: wire.TypeGauge, Unit: "seconds"},
		"driver_info":           {Type: wire.TypeInfo},
		"driver":                {Type: wire.TypeInfo},
		"unheard_of":            {},
	} {
		if got := s.Meta(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}

	scanAll(&s, string(testdata(t, "history.prom")), Text)
	if got := s.Meta("device_busy_seconds"); got != (Meta{}) {
		t.Errorf("metadata of the page before: %+v", got)
	}
	for name, want := range map[string]wire.MetricType{
		"request_seconds_bucket": wire.TypeHistogram, "request_seconds_sum": wire.TypeHistogram, "request_seconds_count": wire.TypeHistogram,
		"rpc_seconds": wire.TypeSummary, "rpc_seconds_sum": wire.TypeSummary, "rpc_seconds_bucket": wire.TypeUnknown,
	} {
		if got := s.Meta(name).Type; got != want {
			t.Errorf("%s: type %d, want %d", name, got, want)
		}
	}

	scanAll(&s, string(testdata(t, "names.prom")), Text)
	if got, want := s.Meta("hw.gpu.utilization"), (Meta{Type: wire.TypeGauge, Help: "Busy share of a GPU."}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestMetaLines(t *testing.T) {
	for _, c := range []struct {
		page   string
		format Format
		want   Meta
	}{
		{"#TYPE a counter\n#  HELP\ta\tx  y\n", Text, Meta{Type: wire.TypeCounter, Help: "x  y"}},
		{"# TYPE a COUNTER\r\n# HELP a x\r\n", Text, Meta{Type: wire.TypeCounter, Help: "x"}},
		{"# TYPE a gauge\n# TYPE a counter\n# HELP a x\n# HELP a y\n", Text, Meta{Type: wire.TypeCounter, Help: "y"}},
		{"# TYPE a untyped\n", Text, Meta{}},
		{"# TYPE a stateset\n", OpenMetrics, Meta{Type: wire.TypeStateSet}},
		{"# TYPE a gaugehistogram\n", OpenMetrics, Meta{Type: wire.TypeGaugeHistogram}},
		{"# TYPE a banana\n# TYPE\n# HELP\n# TYPE \"a\n# UNIT a\n", Text, Meta{}},
		{`# HELP a one\ntwo \\ \"q\"` + "\n", Text, Meta{Help: "one\ntwo \\ \\\"q\\\""}},
		{`# HELP a one\ntwo \\ \"q\"` + "\n", OpenMetrics, Meta{Help: "one\ntwo \\ \"q\""}},
		{"# HELP a \xff\n", Text, Meta{Help: "�"}},
		{"# HELPFUL a x\n# note TYPE a gauge\n#\n# \n", Text, Meta{}},
	} {
		var s Scanner
		scanAll(&s, c.page, c.format)
		if got := s.Meta("a"); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.page, got, c.want)
		}
		if s.Stats().BadLines != 0 {
			t.Errorf("%q: %d bad lines; metadata is advice", c.page, s.Stats().BadLines)
		}
	}
}
