package scrape

import "github.com/prometheus/client_golang/prometheus"

// metrics count what the scrapes of all targets met. Logs tell when a target turns good
// or bad; these count each item.
type metrics struct {
	scrapes   *prometheus.CounterVec // by job, state
	failures  *prometheus.CounterVec // by job, reason
	samples   *prometheus.CounterVec // by job
	badLines  *prometheus.CounterVec // by job
	truncated *prometheus.CounterVec // by job
	conflicts *prometheus.CounterVec // by job
	refused   *prometheus.CounterVec // by job, reason
	skipped   *prometheus.CounterVec // by job
	unstored  *prometheus.CounterVec // by job
	bytes     *prometheus.CounterVec // by job
	targets   *prometheus.GaugeVec   // by job
	rejected  *prometheus.GaugeVec   // by job
	duration  prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant_agent", Name: name, Help: help}, labels)
		reg.MustRegister(v)
		return v
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "sextant_agent", Name: name, Help: help}, labels)
		reg.MustRegister(v)
		return v
	}
	m := &metrics{
		scrapes:   counter("scrapes_total", "Scrapes by how complete they were: ok, partial, failed.", "job", "state"),
		failures:  counter("scrape_failures_total", "Failed scrapes by reason.", "job", "reason"),
		samples:   counter("samples_scraped_total", "Samples read from targets, before metric relabelling.", "job"),
		badLines:  counter("bad_lines_total", "Lines of expositions that could not be read; each costs itself.", "job"),
		truncated: counter("truncated_bodies_total", "Expositions that ended inside a line, which was dropped.", "job"),
		conflicts: counter("duplicate_conflicts_total", "Series that had two values for one time in a scrape; neither was kept.", "job"),
		refused:   counter("series_refused_total", "Series left out of a scrape, by reason.", "job", "reason"),
		skipped:   counter("scrapes_skipped_total", "Aligned scrapes that were not made because the one before took too long or the clock stepped.", "job"),
		unstored:  counter("records_not_stored_total", "Records that the spool refused; their samples are lost.", "job"),
		bytes:     counter("scraped_bytes_total", "Bytes of expositions read, after decompression.", "job"),
		targets:   gauge("targets", "Targets that are being scraped.", "job"),
		rejected:  gauge("targets_rejected", "Discovered targets whose labels do not make a target.", "job"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sextant_agent", Name: "scrape_seconds",
			Help: "Time from the start of a scrape until its samples were durable.", Buckets: []float64{.001, .005, .02, .1, .5, 1, 2, 5, 10}}),
	}
	reg.MustRegister(m.duration)
	return m
}

// jobMetrics are the counters of one job, looked up once.
type jobMetrics struct {
	job  string
	all  *metrics
	ok   [3]prometheus.Counter // by wire.State
	read struct{ samples, badLines, truncated, conflicts, skipped, unstored, bytes prometheus.Counter }
}

func (m *metrics) of(job string) *jobMetrics {
	j := &jobMetrics{job: job, all: m}
	for i, state := range []string{"ok", "partial", "failed"} {
		j.ok[i] = m.scrapes.WithLabelValues(job, state)
	}
	j.read.samples = m.samples.WithLabelValues(job)
	j.read.badLines = m.badLines.WithLabelValues(job)
	j.read.truncated = m.truncated.WithLabelValues(job)
	j.read.conflicts = m.conflicts.WithLabelValues(job)
	j.read.skipped = m.skipped.WithLabelValues(job)
	j.read.unstored = m.unstored.WithLabelValues(job)
	j.read.bytes = m.bytes.WithLabelValues(job)
	return j
}

func (j *jobMetrics) failed(reason string) { j.all.failures.WithLabelValues(j.job, reason).Inc() }

func (j *jobMetrics) counted(c counts) {
	j.read.samples.Add(float64(c.scraped))
	j.read.conflicts.Add(float64(c.conflicts))
	for reason, n := range c.refused {
		j.all.refused.WithLabelValues(j.job, reason).Add(float64(n))
	}
}
