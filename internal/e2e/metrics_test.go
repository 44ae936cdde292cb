package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// counter returns the sum of a program's metric over the series that have the labels,
// written as name{a="b"} with any part of the labels.
func counter(addr, series string) (float64, error) {
	text, err := get("http://" + addr + "/metrics")
	if err != nil {
		return 0, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text + "\n"))
	if err != nil {
		return 0, err
	}
	name, rest, _ := strings.Cut(series, "{")
	var want []string
	if rest = strings.TrimSuffix(rest, "}"); rest != "" {
		want = strings.Split(rest, ",")
	}
	sum := 0.0
	for _, m := range families[name].GetMetric() {
		have := map[string]bool{}
		for _, l := range m.GetLabel() {
			have[fmt.Sprintf("%s=%q", l.GetName(), l.GetValue())] = true
		}
		matches := true
		for _, w := range want {
			matches = matches && have[w]
		}
		if matches {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum, nil
}

// awaitCounter waits until a program has counted at least n.
func (l *line) awaitCounter(addr, series string, n float64) {
	l.t.Helper()
	eventually(l.t, 60*time.Second, series, func() error {
		got, err := counter(addr, series)
		if err == nil && got < n {
			err = fmt.Errorf("it is %g, want at least %g", got, n)
		}
		return err
	})
}

// count is what a program has counted by now.
func (l *line) count(addr, series string) float64 {
	l.t.Helper()
	v, err := counter(addr, series)
	if err != nil {
		l.t.Fatal(err)
	}
	return v
}
