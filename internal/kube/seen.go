package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sextant/schema/tasks"
)

// Source is the source of every event of the watcher.
const Source = "kubernetes"

// seen is what one object says at one time: what is known of the task, and the steps of
// its life that the object still remembers.
type seen struct {
	ref     ref
	changed int64 // when the object was last written, unix ms
	facts   tasks.Event
	steps   []step

	deleting bool              // its owners may be gone already: what it is was said before
	needs    map[string]string // uids of the names that an annotation gives
}

// ref is an object. The uid is what an object is; the name may be given to another.
type ref struct {
	Resource  string `json:"resource"` // such as pods, or jobs.batch.volcano.sh
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// step is a turn in a task's life.
type step struct {
	state  tasks.State
	time   int64 // unix ms
	node   string
	reason string
	exit   *int32
	when   when
}

// when says which steps are new. Kubernetes objects remember some times and forget others.
type when int

const (
	once when = iota // of each state one: the first that was seen stays
	at               // of each state and time one: the object dates each occurrence
	turn             // each time that the state is another than before: the object dates none
)

// meta is the part of every object that the facts of all kinds share.
func meta(resource, kind string, o metav1.Object) seen {
	s := seen{ref: ref{resource, o.GetNamespace(), o.GetName(), string(o.GetUID())}, changed: written(o), deleting: o.GetDeletionTimestamp() != nil}
	s.facts = tasks.Event{Kind: kind, Name: o.GetName(), Namespace: o.GetNamespace(), Tenant: o.GetNamespace(), Labels: labels(o.GetLabels())}
	s.steps = append(s.steps, step{state: tasks.Submitted, time: o.GetCreationTimestamp().UnixMilli()})
	return s
}

func (s *seen) add(st step) { s.steps = append(s.steps, st) }

// written is the newest time in the managed fields, which the API server dates by itself
// on each change, or the creation where there are none.
func written(o metav1.Object) int64 {
	at := o.GetCreationTimestamp().Time
	for _, m := range o.GetManagedFields() {
		if m.Time != nil && m.Time.After(at) {
			at = m.Time.Time
		}
	}
	return at.UnixMilli()
}

// machine are labels that controllers put on pods for themselves.
var machine = map[string]bool{"pod-template-hash": true, "controller-revision-hash": true, "pod-template-generation": true,
	"controller-uid": true, "batch.kubernetes.io/controller-uid": true}

// labels are the labels that an event can carry: in the order of their names, as many as
// it may have.
func labels(all map[string]string) map[string]string {
	var out map[string]string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if machine[k] || len(k) > tasks.MaxName || len(all[k]) > tasks.MaxLabelValue {
			continue
		}
		if len(out) == tasks.MaxLabels {
			break
		}
		if out == nil {
			out = map[string]string{}
		}
		out[k] = all[k]
	}
	return out
}

// amounts are resources under their canonical names; two names of one thing are added.
func amounts(list corev1.ResourceList, times float64) map[string]float64 {
	var out map[string]float64
	for name, q := range list {
		v := q.AsApproximateFloat64() * times
		if v < 0 || v > tasks.MaxAmount {
			continue // no resource that a node can have
		}
		if out == nil {
			out = map[string]float64{}
		}
		out[tasks.Canonical(string(name))] += v
	}
	return out
}

// sum adds b to a.
func sum(a, b map[string]float64) map[string]float64 {
	if a == nil {
		return b
	}
	for k, v := range b {
		a[k] += v
	}
	return a
}

// hash is the same for the same facts.
func hash(facts *tasks.Event) string {
	b, err := json.Marshal(facts)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}

// words joins a reason and a message, as long as an event takes, without what it does not
// take.
func words(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.Join(parts, ": "))
	for len(s) > tasks.MaxReason {
		s = strings.ToValidUTF8(s[:tasks.MaxReason], "")
	}
	return strings.ToValidUTF8(s, "?")
}
