package spool

import (
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the spool's own series.
type metrics struct {
	reg                                                                prometheus.Registerer
	all                                                                []prometheus.Collector
	appended, failed, refused, shared, syncFailed, journalFailed, torn prometheus.Counter
	dropped                                                            *prometheus.CounterVec
	appendSeconds, syncSeconds                                         prometheus.Histogram
}

func newMetrics(s *Spool, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{reg: reg}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "spool", Name: name, Help: help})
		m.all = append(m.all, c)
		return c
	}
	seconds := func(name, help string) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sextant", Subsystem: "spool", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)})
		m.all = append(m.all, h)
		return h
	}
	gauge := func(name, help string, f func() float64) {
		m.all = append(m.all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "spool", Name: name, Help: help}, f))
	}
	m.appended = counter("appended_total", "Entries written to disk.")
	m.failed = counter("append_failed_total", "Entries that the disk did not take; the agent's own were held in memory.")
	m.refused = counter("refused_total", "Entries that break a limit and were not kept.")
	m.shared = counter("received_refused_total", "Entries of remote-write that were not kept because the spool is half full; their sender was told to try again.")
	m.syncFailed = counter("sync_failed_total", "Failed fsyncs.")
	m.journalFailed = counter("journal_failed_total", "Failed writes to the journal; the records concerned may be sent again after a restart.")
	m.torn = counter("torn_total", "Torn entries cut off when the spool was opened.")
	m.dropped = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "spool", Name: "dropped_total",
		Help: "Entries given up since the start, by reason: cap, damaged or oversize."}, []string{"reason"})
	m.all = append(m.all, m.dropped)
	for _, reason := range []string{"cap", "damaged", "oversize"} {
		m.dropped.WithLabelValues(reason)
	}
	m.appendSeconds = seconds("append_seconds", "Time of an Append.")
	m.syncSeconds = seconds("sync_seconds", "Time of an fsync of the entries.")
	m.torn.Add(float64(s.torn))

	gauge("bytes", "Bytes of all segments on disk.", func() float64 { s.mu.Lock(); defer s.mu.Unlock(); return float64(s.bytes) })
	gauge("limit_bytes", "Cap of the segments on disk.", func() float64 { return float64(s.opt.MaxBytes) })
	gauge("entries", "Entries that are not settled, those in memory included.", func() float64 { return float64(s.Pending()) })
	gauge("memory_entries", "Entries that are held in memory because the disk took no more.", func() float64 { s.mu.Lock(); defer s.mu.Unlock(); return float64(len(s.memory.held)) })
	gauge("memory_dropped", "Entries dropped from that memory.", func() float64 { s.mu.Lock(); defer s.mu.Unlock(); return float64(s.memory.dropped) })
	gauge("oldest_timestamp_seconds", "Scrape time of the oldest unsettled entry on disk, 0 when there is none.", func() float64 { return float64(s.OldestScrape()) / 1e3 })
	for i, c := range m.all {
		if err := reg.Register(c); err != nil {
			m.all = m.all[:i]
			m.unregister()
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) unregister() {
	for _, c := range m.all {
		m.reg.Unregister(c)
	}
}
