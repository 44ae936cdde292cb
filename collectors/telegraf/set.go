package telegraf

import (
	"errors"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sextant/collectors/plugins"
)

// Set is all that the file asks for.
type Set struct {
	Plugins []*Plugin // in the order of the file
}

type metrics struct {
	strings, panics *prometheus.CounterVec
}

func openSet(c plugins.Config, o plugins.Options) (*Set, error) {
	list, err := load(c, o)
	if err != nil {
		return nil, err
	}
	m := &metrics{
		strings: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_telegraf_string_fields_dropped_total",
			Help: "Fields of Telegraf plugins that hold a text and so have no sample."}, []string{"plugin"}),
		panics: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_telegraf_panics_total",
			Help: "Readings of Telegraf plugins that ended in a panic."}, []string{"plugin"}),
	}
	o.Register.MustRegister(m.strings, m.panics)
	s := &Set{}
	for _, l := range list {
		s.Plugins = append(s.Plugins, newPlugin(l, c, m, o.Log))
	}
	return s, nil
}

// Targets are the plugins as targets of their own.
func (s *Set) Targets() []plugins.Target {
	out := make([]plugins.Target, len(s.Plugins))
	for i, p := range s.Plugins {
		out[i] = plugins.Target{Name: p.Name, Interval: p.Interval, Gatherer: p}
	}
	return out
}

// Gather reads all plugins once, beside each other, and joins what they give.
func (s *Set) Gather() ([]*dto.MetricFamily, error) {
	families, errs := make([][]*dto.MetricFamily, len(s.Plugins)), make([]error, len(s.Plugins))
	var wg sync.WaitGroup
	for i, p := range s.Plugins {
		wg.Go(func() { families[i], errs[i] = p.Gather() })
	}
	wg.Wait()
	return merge(slices.Concat(families...)), errors.Join(errs...)
}

// Close stops the plugins, together: each may hang.
func (s *Set) Close() error {
	errs := make([]error, len(s.Plugins))
	var wg sync.WaitGroup
	for i, p := range s.Plugins {
		wg.Go(func() { errs[i] = p.close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
