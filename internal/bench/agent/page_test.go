package agent

import (
	"bytes"
	"strings"
	"testing"
)

func TestPageHasItsSeriesAndChangesEachTime(t *testing.T) {
	p := newPage(1)
	first := p.next(nil)
	second := p.next(nil)
	a, b := bytes.Split(first, []byte("\n")), bytes.Split(second, []byte("\n"))
	series, same := map[string]bool{}, 0
	for i, line := range a {
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		name, _, _ := strings.Cut(string(line), " ")
		series[name] = true
		if bytes.Equal(line, b[i]) {
			same++
		}
	}
	if len(series) != pageSeries || same > pageSeries/100 {
		t.Fatalf("%d distinct series of %d, %d unchanged", len(series), pageSeries, same)
	}
}
