package pipeline

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/schema/quality"
)

// Metrics are the self-metrics of all partitions of a process.
type Metrics struct {
	counts    *prometheus.CounterVec // by what
	features  *prometheus.CounterVec // by view, feature, reason
	paths     *prometheus.CounterVec // by path
	flags     *prometheus.CounterVec // by flag
	unknown   *prometheus.GaugeVec   // by vendor
	watermark *prometheus.GaugeVec   // by partition
	windows   *prometheus.GaugeVec
	rows      *prometheus.CounterVec // by table
	write     prometheus.Histogram
	failures  prometheus.Counter

	mu    sync.Mutex
	names map[UnknownName]struct{} // guarded by mu
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "sextant", Subsystem: "pipeline", Name: name, Help: help}
	}
	m := &Metrics{
		counts: prometheus.NewCounterVec(prometheus.CounterOpts(opts("items_total",
			"Records, samples, series and ticks by what became of them.")), []string{"item"}),
		features: prometheus.NewCounterVec(prometheus.CounterOpts(opts("feature_faults_total",
			"Feature values that are NULL for a reason other than missing samples.")), []string{"view", "feature", "reason"}),
		paths: prometheus.NewCounterVec(prometheus.CounterOpts(opts("feature_evaluations_total",
			"Evaluations of a feature over a group of nodes, by what computed it: the compiled expression, or the engine.")), []string{"path"}),
		flags: prometheus.NewCounterVec(prometheus.CounterOpts(opts("sample_flags_total",
			"Samples stored, by what is wrong with them. A sample may have several flags.")), []string{"flag"}),
		unknown: prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("unknown_names",
			"Metric names of a known vendor that the catalogue does not list, as met since the start.")), []string{"vendor"}),
		watermark: prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("watermark_timestamp_seconds",
			"How far event time has come.")), []string{"partition"}),
		windows: prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("window_series",
			"Series whose recent past is held in memory.")), []string{"partition"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts(opts("written_rows_total",
			"Rows made durable.")), []string{"table"}),
		write: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sextant", Subsystem: "pipeline", Name: "write_duration_seconds",
			Help: "Time until a batch was durable.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 12)}),
		failures: prometheus.NewCounter(prometheus.CounterOpts(opts("write_failures_total",
			"Writes that failed and were tried again."))),
	}
	reg.MustRegister(m.counts, m.features, m.paths, m.flags, m.unknown, m.watermark, m.windows, m.rows, m.write, m.failures)
	for _, f := range quality.All {
		m.flags.WithLabelValues(f.Name)
	}
	m.names = map[UnknownName]struct{}{}
	return m
}

// meet notes an unknown name, and reports whether it is new to the process.
func (x *Metrics) meet(name UnknownName) bool {
	if x == nil {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.names[name]; ok {
		return false
	}
	x.names[name] = struct{}{}
	x.unknown.WithLabelValues(name.Vendor).Inc()
	return true
}

// observe adds what the machine did since the last call.
func (x *Metrics) observe(m *Machine) {
	if x == nil {
		return
	}
	now, before := m.counts, m.observed
	m.observed = now
	now.each(before, func(item string, delta uint64) { x.counts.WithLabelValues(item).Add(float64(delta)) })
	for _, f := range quality.All {
		x.flags.WithLabelValues(f.Name).Add(float64(now.Flagged(f.Bit) - before.Flagged(f.Bit)))
	}
	i := 0
	m.eval.Counts(func(view, feature string, c FeatureCounts) {
		if i == len(m.observedFeatures) {
			m.observedFeatures = append(m.observedFeatures, FeatureCounts{})
		}
		was := m.observedFeatures[i]
		m.observedFeatures[i] = c
		i++
		x.paths.WithLabelValues("compiled").Add(float64(c.Compiled - was.Compiled))
		x.paths.WithLabelValues("engine").Add(float64(c.Engine - was.Engine))
		for _, d := range [...]struct {
			reason string
			delta  uint64
		}{
			{"query failed", c.Errors - was.Errors}, {"extra labels", c.ExtraLabels - was.ExtraLabels},
			{"two results", c.Duplicates - was.Duplicates}, {"out of range", c.OutOfRange - was.OutOfRange},
		} {
			if d.delta > 0 {
				x.features.WithLabelValues(view, feature, d.reason).Add(float64(d.delta))
			}
		}
	})
	p := strconv.Itoa(int(m.cfg.Partition))
	x.watermark.WithLabelValues(p).Set(float64(m.Watermark()) / 1000)
	x.windows.WithLabelValues(p).Set(float64(m.Windows()))
}

// forget drops the gauges of a partition that this process no longer has.
func (x *Metrics) forget(m *Machine) {
	if x == nil {
		return
	}
	p := strconv.Itoa(int(m.cfg.Partition))
	x.watermark.DeleteLabelValues(p)
	x.windows.DeleteLabelValues(p)
}

func (x *Metrics) wrote(b *Batch, d time.Duration) {
	if x == nil {
		return
	}
	x.write.Observe(d.Seconds())
	x.rows.WithLabelValues("samples").Add(float64(len(b.Samples.Series)))
	x.rows.WithLabelValues("series").Add(float64(len(b.Series)))
	x.rows.WithLabelValues("ingest_ledger").Add(float64(len(b.Ledger)))
	for _, r := range b.Rows {
		x.rows.WithLabelValues(r.View.Table()).Add(float64(len(r.Tick)))
	}
}

func (x *Metrics) failed() {
	if x != nil {
		x.failures.Inc()
	}
}
