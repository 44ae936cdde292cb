package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// eventful is a row that tells of events, until all files are read: the row of the
// derived metric may stand in a later one.
type eventful struct {
	file string
	node *yaml.Node
}

// time reads what a row says of the course of its values.
func (l *loader) time(m *Metric, keys map[string]*yaml.Node) {
	if k, ok := keys["steps_back"]; ok {
		if v := l.number(k); v != nil && (*v <= 0 || m.Kind != Counter) {
			l.fault(k, "steps_back %v: want a positive number, on a counter", *v)
		} else if v != nil {
			m.StepsBack = *v
		}
	}
	if k, ok := keys["events"]; ok {
		m.Events = l.text(keys, k, "events")
		l.eventful = append(l.eventful, eventful{l.file, k})
	}
}

// LastOf is the metric that holds the time of the last event of a derived metric.
func LastOf(events string) string { return strings.TrimSuffix(events, "_events") + "_last_seconds" }

// checkEvents reports the rows whose derived metrics the catalogue does not describe.
func (l *loader) checkEvents() {
	for _, e := range l.eventful {
		for _, name := range []string{e.node.Value, LastOf(e.node.Value)} {
			if rows := l.catalog.byName[name]; name == e.node.Value && !strings.HasSuffix(name, "_events") || len(rows) != 1 || rows[0].Kind != Gauge {
				l.file = e.file
				l.fault(e.node, "events: %s is no gauge of the catalogue named …_events", name)
			}
		}
	}
}
