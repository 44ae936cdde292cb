package dcgm

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// labels are the identity of an entity's series. They are made when the entity is found
// and shared by all of its samples.
type labels struct {
	names, values []string
}

// with is the labels and further ones, given as name, value, name, value. An empty value
// is left out.
func (l labels) with(kv ...string) labels {
	out := labels{slices.Clone(l.names), slices.Clone(l.values)}
	for i := 0; i < len(kv); i += 2 {
		if kv[i+1] != "" {
			out.names, out.values = append(out.names, kv[i]), append(out.values, strings.ToValidUTF8(kv[i+1], "\uFFFD"))
		}
	}
	return out
}

func (l labels) get(name string) string {
	if i := slices.Index(l.names, name); i >= 0 {
		return l.values[i]
	}
	return ""
}

// sample is one series of a page.
type sample struct {
	name, help string
	kind       prometheus.ValueType
	labels     labels
	value      float64
}

// page is what one reading of the engine gave.
type page struct {
	samples []sample
	states  [fieldStates]int  // values by how they came out
	notes   map[string]string // what is wrong and costs only a part: subject → why
}

// fieldState says how reading a value of a field came out.
type fieldState uint8

const (
	stateOK fieldState = iota
	stateBlank
	stateError
	stateStale
	fieldStates // their number
)

var stateNames = [fieldStates]string{"ok", "blank", "error", "stale"}

func (p *page) add(name, help string, kind prometheus.ValueType, l labels, v float64) {
	p.samples = append(p.samples, sample{name, help, kind, l, v})
}

func (p *page) gauge(name, help string, l labels, v float64) {
	p.add(name, help, prometheus.GaugeValue, l, v)
}

// note says what is wrong with a part; the collector logs when that turns.
func (p *page) note(subject string, err error) {
	if p.notes == nil {
		p.notes = map[string]string{}
	}
	p.notes[subject] = err.Error()
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
