package tasks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Decode reads one event and checks it. now is when it came, unix ms: an event from the
// future would hide all that follows it. Every error is Faults.
func Decode(b []byte, now int64) (*Event, error) {
	var faults Faults
	if len(b) > MaxBytes {
		faults.add("", "%d bytes, the limit is %d", len(b), MaxBytes)
		return nil, faults
	}
	e := &Event{}
	version := Version
	d := decoder{&faults}
	d.object("", b, fields(e, &version, d))
	if version != Version {
		return nil, Faults{{"version", fmt.Sprintf("%d, this program reads %d", version, Version)}}
	}
	if len(faults) == 0 {
		faults = e.Check(now)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return e, nil
}

// fields says where each field of the JSON goes: to a pointer, or to a function.
func fields(e *Event, version *int, d decoder) map[string]any {
	return map[string]any{
		"version": version, "event_id": &e.ID, "task": &e.Task, "cluster": &e.Cluster, "state": &e.State, "time": d.time(&e.Time),
		"sequence": &e.Sequence, "source": &e.Source, "kind": &e.Kind, "name": &e.Name, "namespace": &e.Namespace, "tenant": &e.Tenant,
		"queue": &e.Queue, "type": &e.Type, "priority_class": &e.PriorityClass, "priority": &e.Priority, "qos": &e.QoS,
		"owners": d.owners(&e.Owners), "group": &e.Group, "group_size": &e.GroupSize, "dependencies": &e.Dependencies, "node": &e.Node,
		"devices": &e.Devices, "requests": d.resources(&e.Requests), "limits": d.resources(&e.Limits), "labels": &e.Labels,
		"simulated": &e.Simulated, "reason": &e.Reason, "exit_code": &e.ExitCode,
		"slo": func(path string, b []byte) {
			d.object(path, b, map[string]any{"deadline": d.time(&e.SLO.Deadline), "max_queue_seconds": &e.SLO.MaxQueue,
				"latency_target_seconds": &e.SLO.LatencyTarget})
		},
	}
}

// decoder reads JSON field by field, so that each fault has the path of its field.
type decoder struct{ faults *Faults }

// object reads the members of a JSON object. A member that nobody knows is a fault: it is
// misspelt more often than new. A member that is null is not there.
func (d decoder) object(path string, b []byte, fields map[string]any) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil || members == nil {
		d.faults.add(path, "%s", wanted(err, "an object"))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at, raw := join(path, name), members[name]
		if bytes.Equal(raw, []byte("null")) {
			continue
		}
		switch to := fields[name].(type) {
		case nil:
			d.faults.add(at[:min(len(at), 100)], "no such field")
		case func(string, []byte):
			to(at, raw)
		default:
			d.value(at, raw, to)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d decoder) value(path string, b []byte, to any) {
	if err := json.Unmarshal(b, to); err != nil {
		d.faults.add(path, "%s", wanted(err, "another type"))
	}
}

// wanted says what should stand where something else does.
func wanted(err error, otherwise string) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		if err != nil {
			return err.Error()
		}
		return "want " + otherwise
	}
	kind := wrong.Type.Kind().String()
	switch kind {
	case "map", "struct":
		kind = "an object"
	case "slice":
		kind = "an array"
	case "string", "bool":
		kind = "a " + kind
	default:
		kind = "a number of type " + kind
	}
	return fmt.Sprintf("want %s, not %s", kind, wrong.Value)
}

// time reads RFC 3339 with a zone.
func (d decoder) time(to *int64) func(string, []byte) {
	return func(path string, b []byte) {
		var s string
		if json.Unmarshal(b, &s) != nil {
			d.faults.add(path, "want a time such as 2026-03-01T12:00:00Z")
			return
		}
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			d.faults.add(path, "%.40q is no time such as 2026-03-01T12:00:00Z", s)
			return
		}
		if at.Year() < minYear || at.Year() > maxYear {
			d.faults.add(path, "the year %d is not within %d and %d", at.Year(), minYear, maxYear)
			return
		}
		*to = at.UnixMilli()
	}
}

func (d decoder) owners(to *[]Owner) func(string, []byte) {
	return func(path string, b []byte) {
		var list []json.RawMessage
		if d.value(path, b, &list); len(list) > MaxOwners {
			d.faults.add(path, "%d owners, the limit is %d", len(list), MaxOwners)
			return
		}
		for i, raw := range list {
			var o Owner
			d.object(fmt.Sprintf("%s[%d]", path, i), raw, map[string]any{"kind": &o.Kind, "name": &o.Name, "id": &o.ID})
			*to = append(*to, o)
		}
	}
}

// resources reads amounts, as numbers or as Kubernetes writes them, under their canonical
// names.
func (d decoder) resources(to *map[string]float64) func(string, []byte) {
	return func(path string, b []byte) {
		var given map[string]json.RawMessage
		if d.value(path, b, &given); len(given) > MaxResources {
			d.faults.add(path, "%d resources, the limit is %d", len(given), MaxResources)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			at := path + "." + name[:min(len(name), 64)]
			v, err := quantity(given[name])
			if err != nil {
				d.faults.add(at, "%v", err)
				continue
			}
			if *to == nil {
				*to = map[string]float64{}
			}
			canonical := Canonical(name)
			if _, twice := (*to)[canonical]; twice {
				d.faults.add(at, "%s is given twice", canonical)
			}
			(*to)[canonical] = v
		}
	}
}
