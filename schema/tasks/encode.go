package tasks

import (
	"encoding/json"
	"time"
)

// Encode checks e, as it would be read at the time now, unix ms, and returns its JSON.
// The same event has the same bytes.
func (e *Event) Encode(now int64) ([]byte, error) {
	if fs := e.Check(now); len(fs) > 0 {
		return nil, fs
	}
	b, err := json.Marshal(e)
	if err == nil && len(b) > MaxBytes {
		var fs Faults
		fs.add("", "%d bytes, the limit is %d", len(b), MaxBytes)
		return nil, fs
	}
	return b, err
}

// MarshalJSON writes the fields that e has.
func (e *Event) MarshalJSON() ([]byte, error) {
	type owner struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		ID   string `json:"id,omitempty"`
	}
	type slo struct {
		Deadline      string  `json:"deadline,omitempty"`
		MaxQueue      float64 `json:"max_queue_seconds,omitempty"`
		LatencyTarget float64 `json:"latency_target_seconds,omitempty"`
	}
	out := struct {
		Version       int                `json:"version"`
		ID            string             `json:"event_id"`
		Task          string             `json:"task"`
		Cluster       string             `json:"cluster,omitempty"`
		State         State              `json:"state"`
		Time          string             `json:"time"`
		Sequence      uint64             `json:"sequence,omitempty"`
		Source        string             `json:"source"`
		Kind          string             `json:"kind,omitempty"`
		Name          string             `json:"name,omitempty"`
		Namespace     string             `json:"namespace,omitempty"`
		Tenant        string             `json:"tenant,omitempty"`
		Queue         string             `json:"queue,omitempty"`
		Type          string             `json:"type,omitempty"`
		PriorityClass string             `json:"priority_class,omitempty"`
		Priority      *int64             `json:"priority,omitempty"`
		QoS           string             `json:"qos,omitempty"`
		Owners        []owner            `json:"owners,omitempty"`
		Group         string             `json:"group,omitempty"`
		GroupSize     int                `json:"group_size,omitempty"`
		Dependencies  []string           `json:"dependencies,omitempty"`
		Node          string             `json:"node,omitempty"`
		Devices       []string           `json:"devices,omitempty"`
		Requests      map[string]float64 `json:"requests,omitempty"`
		Limits        map[string]float64 `json:"limits,omitempty"`
		SLO           *slo               `json:"slo,omitempty"`
		Labels        map[string]string  `json:"labels,omitempty"`
		Simulated     bool               `json:"simulated,omitempty"`
		Reason        string             `json:"reason,omitempty"`
		ExitCode      *int32             `json:"exit_code,omitempty"`
	}{Version, e.ID, e.Task, e.Cluster, e.State, stamp(e.Time), e.Sequence, e.Source, e.Kind, e.Name, e.Namespace, e.Tenant, e.Queue, e.Type,
		e.PriorityClass, e.Priority, e.QoS, nil, e.Group, e.GroupSize, e.Dependencies, e.Node, e.Devices, e.Requests, e.Limits, nil, e.Labels,
		e.Simulated, e.Reason, e.ExitCode}
	for _, o := range e.Owners {
		out.Owners = append(out.Owners, owner(o))
	}
	if e.SLO != (SLO{}) {
		out.SLO = &slo{stamp(e.SLO.Deadline), e.SLO.MaxQueue, e.SLO.LatencyTarget}
	}
	return json.Marshal(&out)
}

// stamp writes a time; 0 is none.
func stamp(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z07:00")
}
