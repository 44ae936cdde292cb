package kafka

import "github.com/prometheus/client_golang/prometheus"

// consumerMetrics count what a consumer did.
type consumerMetrics struct {
	records     prometheus.Counter
	bytes       prometheus.Counter
	failures    prometheus.Counter
	lost        *prometheus.CounterVec // reason: retention, corrupt
	generations prometheus.Counter
	commits     *prometheus.CounterVec // result: ok, fenced, failed
	lag         *prometheus.GaugeVec   // partition
}

func newConsumerMetrics(reg prometheus.Registerer) (*consumerMetrics, error) {
	m := &consumerMetrics{
		records:     counter("kafka_fetched_records_total", "Records handed to the pipeline."),
		bytes:       counter("kafka_fetched_bytes_total", "Bytes of fetch responses, compressed."),
		failures:    counter("kafka_fetch_failures_total", "Fetches that failed and were tried again."),
		generations: counter("kafka_generations_total", "Group generations that this member took part in."),
		lost: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Name: "kafka_lost_records_total",
			Help: "Offsets that could not be read: expired before they were read, or corrupt."}, []string{"reason"}),
		commits: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Name: "kafka_commits_total",
			Help: "Checkpoints committed, by result."}, []string{"result"}),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "sextant", Name: "kafka_lag_records",
			Help: "Records behind the high watermark."}, []string{"partition"}),
	}
	return m, register(reg, m.records, m.bytes, m.failures, m.generations, m.lost, m.commits, m.lag)
}

// producerMetrics count what a producer did.
type producerMetrics struct {
	records *prometheus.CounterVec // result: ok, too_large, retry
	bytes   prometheus.Counter
}

func newProducerMetrics(reg prometheus.Registerer) (*producerMetrics, error) {
	m := &producerMetrics{
		records: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Name: "kafka_sent_records_total",
			Help: "Records that were tried, by result. A retry may be stored all the same."}, []string{"result"}),
		bytes: counter("kafka_sent_bytes_total", "Bytes of acknowledged records, uncompressed."),
	}
	return m, register(reg, m.records, m.bytes)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Name: name, Help: help})
}

func register(reg prometheus.Registerer, cs ...prometheus.Collector) error {
	if reg == nil {
		return nil
	}
	for _, c := range cs {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}
