package kube

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the watcher.
type Metrics struct {
	events      *prometheus.CounterVec
	annotations prometheus.Counter
	tasks       prometheus.Gauge
	nodes       *prometheus.CounterVec
	leader      prometheus.Gauge
	synced      *prometheus.GaugeVec
}

// NewMetrics registers the metrics on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	const ns, sub = "sextant", "watch"
	m := &Metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: ns, Subsystem: sub, Name: "events_total",
			Help: "Task events by state; again: sent again after a start; refused: the object makes no event that is right."}, []string{"state"}),
		annotations: prometheus.NewCounter(prometheus.CounterOpts{Namespace: ns, Subsystem: sub, Name: "annotation_faults_total",
			Help: "Annotations below sextant/ that could not be read."}),
		tasks: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: ns, Subsystem: sub, Name: "tasks",
			Help: "Objects that this watcher knows; 0 unless it leads."}),
		nodes: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: ns, Subsystem: sub, Name: "node_looks_total",
			Help: "Looks at nodes by result: changed and again (it was told), gone, unchanged, refused (it makes no document that is right)."}, []string{"result"}),
		leader: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: ns, Subsystem: sub, Name: "leader",
			Help: "Whether this watcher holds the lease."}),
		synced: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: ns, Subsystem: sub, Name: "synced",
			Help: "Whether all objects of a resource were read once; 0 where the API server refuses."}, []string{"resource"}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.events, m.annotations, m.tasks, m.nodes, m.leader, m.synced} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
