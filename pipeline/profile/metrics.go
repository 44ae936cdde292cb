package profile

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
)

// Metrics tell how the newest hour of each feature is: a series for each feature of each view in
// force, and of psi for each baseline beside.
type Metrics struct {
	nulls, ranges, skew, age, psi *prometheus.GaugeVec
	hours, failures               prometheus.Counter
	seconds                       prometheus.Histogram
}

// NewMetrics registers the metrics on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "feature", Name: name, Help: help}, append([]string{"view", "feature"}, labels...))
	}
	m := &Metrics{
		nulls:  gauge("null_ratio", "Share of the rows of the newest closed hour in which the feature has no value."),
		ranges: gauge("out_of_range_ratio", "Share of the values of the newest closed hour that were outside the feature's range."),
		skew:   gauge("skew_ratio", "Share of the values served of the newest closed hour that are not what is stored."),
		age:    gauge("freshness_seconds", "Age of the tick of the newest value, when it was looked at: every 5 minutes."),
		psi:    gauge("psi", "Population stability index of the newest closed hour against a baseline.", "baseline"),
		hours: prometheus.NewCounter(prometheus.CounterOpts{Name: "sextant_feature_profile_hours_total",
			Help: "Hours of views whose values were measured."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "sextant_feature_profile_failures_total",
			Help: "Rounds that measure the values of features and failed."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "sextant_feature_profile_duration_seconds",
			Help: "Time to measure one hour of a view.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 10)}),
	}
	if reg != nil {
		reg.MustRegister(m.nulls, m.ranges, m.skew, m.age, m.psi, m.hours, m.failures, m.seconds)
	}
	return m
}

// tell sets the gauges of the views in force, and drops all others. newest is the tick of the last
// value by view@v1:feature, unix ms.
func (m *Metrics) tell(views []*features.View, latest []Latest, newest map[string]int64, now int64) {
	m.forget()
	known := map[string]bool{}
	for _, v := range views {
		for i := range v.Features {
			key := v.Ref() + ":" + v.Features[i].Name
			known[key] = true
			if t := newest[key]; t > 0 {
				m.age.WithLabelValues(v.Ref(), v.Features[i].Name).Set(float64(now-t) / 1000)
			}
		}
	}
	for _, l := range latest {
		if !known[l.View+":"+l.Feature] {
			continue
		}
		set := func(g *prometheus.GaugeVec, x float64, labels ...string) {
			if !math.IsNaN(x) {
				g.WithLabelValues(append([]string{l.View, l.Feature}, labels...)...).Set(x)
			}
		}
		set(m.nulls, l.NullRatio)
		set(m.ranges, l.OutOfRangeRatio)
		set(m.skew, l.SkewRatio)
		for baseline, x := range l.PSI {
			set(m.psi, x, baseline)
		}
	}
}

func (m *Metrics) forget() {
	for _, g := range []*prometheus.GaugeVec{m.nulls, m.ranges, m.skew, m.age, m.psi} {
		g.Reset()
	}
}
