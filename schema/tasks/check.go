package tasks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of one event.
const (
	MaxBytes        = 64 << 10 // of its JSON
	MaxName         = 253      // bytes of an id or a name
	MaxReason       = 1024     // bytes
	MaxOwners       = 16
	MaxDependencies = 256
	MaxDevices      = 256
	MaxResources    = 64
	MaxLabels       = 64
	MaxLabelValue   = 256         // bytes
	MaxAmount       = 1 << 60     // of a resource
	MaxSeconds      = 366 * 86400 // of a promise
	MaxGroup        = 1_000_000
	MaxFuture       = 5 * time.Minute // how far the clock of a sender may be ahead

	minYear, maxYear = 2000, 2100
)

// Check returns all that is wrong with e at the time now, unix ms.
func (e *Event) Check(now int64) Faults {
	var fs Faults
	for _, f := range []struct{ name, value string }{{"event_id", e.ID}, {"task", e.Task}, {"source", e.Source}} {
		if f.value == "" {
			fs.add(f.name, "is missing")
		}
	}
	switch {
	case e.State == "":
		fs.add("state", "is missing")
	case e.State.Rank() < 0:
		fs.add("state", "%.40q is none of %s", string(e.State), list(States))
	}
	switch limit := now + MaxFuture.Milliseconds(); {
	case e.Time == 0:
		fs.add("time", "is missing")
	case e.Time > limit:
		fs.add("time", "is %v ahead of the clock here, the limit is %v", time.Duration(e.Time-now)*time.Millisecond, MaxFuture)
	}
	if e.Kind != "" && !slices.Contains(Kinds, e.Kind) {
		fs.add("kind", "%.40q is none of %s", e.Kind, strings.Join(Kinds, ", "))
	}
	for _, f := range []struct{ name, value string }{
		{"event_id", e.ID}, {"task", e.Task}, {"cluster", e.Cluster}, {"source", e.Source}, {"name", e.Name}, {"namespace", e.Namespace},
		{"tenant", e.Tenant}, {"queue", e.Queue}, {"type", e.Type}, {"priority_class", e.PriorityClass}, {"qos", e.QoS}, {"group", e.Group}, {"node", e.Node},
	} {
		fs.text(f.name, f.value, MaxName)
	}
	fs.text("reason", e.Reason, MaxReason)
	e.checkLists(&fs)
	if e.GroupSize < 0 || e.GroupSize > MaxGroup {
		fs.add("group_size", "%d is not within 0 and %d", e.GroupSize, MaxGroup)
	}
	if e.GroupSize > 0 && e.Group == "" {
		fs.add("group", "is missing, with a group_size of %d", e.GroupSize)
	}
	if len(e.Devices) > 0 && e.Node == "" {
		fs.add("node", "is missing, with %d devices on it", len(e.Devices))
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"slo.max_queue_seconds", e.SLO.MaxQueue}, {"slo.latency_target_seconds", e.SLO.LatencyTarget}} {
		if !(f.value >= 0 && f.value <= MaxSeconds) {
			fs.add(f.name, "%g is not within 0 and %d", f.value, MaxSeconds)
		}
	}
	return fs
}

func (e *Event) checkLists(fs *Faults) {
	fs.texts("dependencies", e.Dependencies, MaxDependencies)
	fs.texts("devices", e.Devices, MaxDevices)
	for i, o := range e.Owners {
		at := fmt.Sprintf("owners[%d].", i)
		if o.Kind == "" || o.Name == "" {
			fs.add(at+"name", "an owner has a kind and a name")
		}
		fs.text(at+"kind", o.Kind, MaxName)
		fs.text(at+"name", o.Name, MaxName)
		fs.text(at+"id", o.ID, MaxName)
	}
	for _, f := range []struct {
		name  string
		value map[string]float64
	}{{"requests", e.Requests}, {"limits", e.Limits}} {
		for _, k := range slices.Sorted(maps.Keys(f.value)) {
			fs.named(f.name, k)
		}
	}
	if len(e.Labels) > MaxLabels {
		fs.add("labels", "%d labels, the limit is %d", len(e.Labels), MaxLabels)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(e.Labels)) {
		fs.named("labels", k)
		fs.text("labels."+k[:min(len(k), 64)], e.Labels[k], MaxLabelValue)
	}
}

// named checks the key of a map.
func (fs *Faults) named(field, key string) {
	if key == "" {
		fs.add(field, "a name is empty")
	}
	fs.text(field, key, MaxName)
}

func (fs *Faults) texts(field string, values []string, limit int) {
	if len(values) > limit {
		fs.add(field, "%d values, the limit is %d", len(values), limit)
		return
	}
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", field, i)
		if v == "" {
			fs.add(at, "is empty")
		}
		fs.text(at, v, MaxName)
	}
}

func (fs *Faults) text(field, v string, limit int) {
	if len(v) > limit {
		fs.add(field, "%d bytes, the limit is %d", len(v), limit)
	}
	if !utf8.ValidString(v) || strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		fs.add(field, "a control character")
	}
}

func list(states []State) string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
