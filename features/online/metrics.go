package online

import (
	"github.com/prometheus/client_golang/prometheus"
)

// metrics of a store. The gauges are read from the snapshots when they are scraped, so an
// age goes on growing while nothing refreshes.
type metrics struct {
	store    *Store
	entities *prometheus.Desc
	age      *prometheus.Desc
	refresh  *prometheus.HistogramVec
	rows     *prometheus.CounterVec
	errors   *prometheus.CounterVec
}

func newMetrics(s *Store, reg prometheus.Registerer) (*metrics, error) {
	view := []string{"view"}
	m := &metrics{
		store:    s,
		entities: prometheus.NewDesc("sextant_online_rows", "Entities whose latest row is in memory.", view, nil),
		age:      prometheus.NewDesc("sextant_online_newest_tick_age_seconds", "Age of the newest tick in memory; absent while there is none.", view, nil),
		refresh: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sextant_online_refresh_seconds", Help: "Time of one refresh from the source.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 11),
		}, view),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_online_read_rows_total", Help: "Rows that the source answered with.",
		}, view),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_online_refresh_errors_total", Help: "Refreshes that failed.",
		}, view),
	}
	for _, sh := range s.views {
		m.errors.WithLabelValues(sh.view.Ref())
	}
	if reg == nil {
		return m, nil
	}
	return m, reg.Register(m)
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.entities
	ch <- m.age
	m.refresh.Describe(ch)
	m.rows.Describe(ch)
	m.errors.Describe(ch)
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	now := m.store.opts.Now().UnixMilli()
	for _, sh := range m.store.views {
		snapshot, ref := sh.snapshot.Load(), sh.view.Ref()
		ch <- prometheus.MustNewConstMetric(m.entities, prometheus.GaugeValue, float64(snapshot.Len()), ref)
		if snapshot.Len() > 0 {
			age := float64(now-snapshot.Newest) / 1000
			ch <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, age, ref)
		}
	}
	m.refresh.Collect(ch)
	m.rows.Collect(ch)
	m.errors.Collect(ch)
}
