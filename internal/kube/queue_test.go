package kube

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"sextant/schema/tasks"
)

// A turn is what a controller writes into a status, and what has been told of the object by
// then. {N} is N seconds after a time of the test; a state that the object does not date has
// no number.
type turnOf struct{ status, told string }

type queued struct {
	resource schema.GroupVersionResource
	object   string
	facts    string
	turns    []turnOf
}

var queues = map[string]queued{
	"a Workload that is preempted and admitted again": {
		schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"},
		`{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w}, spec: {queueName: gold, priority: 7, podSets: [
			{count: 3, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2", "nvidia.com/gpu": "1"}}}]}}}]}}`,
		"workload gold 7 map[accelerators_nvidia:3 cpu_cores:6] 0",
		[]turnOf{
			{`{"conditions": [{"type": "QuotaReserved", "status": "True", "lastTransitionTime": "{1}"}, {"type": "Admitted", "status": "True", "lastTransitionTime": "{2}"}]}`,
				"queued, scheduled 2"},
			{`{"conditions": [{"type": "Admitted", "status": "False", "lastTransitionTime": "{5}"}, {"type": "Evicted", "status": "True", "reason": "Preempted", "message": "for w2", "lastTransitionTime": "{5}"}]}`,
				"queued, scheduled 2, evicted 5 Preempted: for w2"},
			{`{"conditions": [{"type": "Evicted", "status": "False", "lastTransitionTime": "{6}"}, {"type": "Requeued", "status": "True", "lastTransitionTime": "{6}"}]}`,
				"queued, scheduled 2, evicted 5 Preempted: for w2, queued 6"},
			{`{"conditions": [{"type": "Admitted", "status": "True", "lastTransitionTime": "{8}"}, {"type": "PodsReady", "status": "True", "lastTransitionTime": "{9}"}]}`,
				"queued, scheduled 2, evicted 5 Preempted: for w2, queued 6, scheduled 8, started 9"},
			{`{"conditions": [{"type": "Admitted", "status": "True", "lastTransitionTime": "{8}"}, {"type": "Finished", "status": "True", "reason": "Succeeded", "lastTransitionTime": "{20}"}]}`,
				"queued, scheduled 2, evicted 5 Preempted: for w2, queued 6, scheduled 8, started 9, finished 20 Succeeded"},
		},
	},
	"a Volcano Job that is restarted": {
		schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"},
		`{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v}, spec: {queue: silver, minAvailable: 3, tasks: [
			{replicas: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}},
			{replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "4"}}}]}}}]}}`,
		"job silver - map[cpu_cores:9] 3",
		[]turnOf{
			{`{"state": {"phase": "Running"}, "conditions": [{"status": "Pending", "lastTransitionTime": "{1}"}, {"status": "Running", "lastTransitionTime": "{2}"}]}`,
				"queued, started 2"},
			{`{"state": {"phase": "Running"}, "conditions": [{"status": "Running", "lastTransitionTime": "{2}"}, {"status": "Restarting", "lastTransitionTime": "{5}"}, {"status": "Running", "lastTransitionTime": "{7}"}]}`,
				"queued, started 2, evicted 5, started 7"},
			{`{"state": {"phase": "Failed", "reason": "MaxRetry"}, "conditions": [{"status": "Running", "lastTransitionTime": "{7}"}, {"status": "Failed", "lastTransitionTime": "{9}"}]}`,
				"queued, started 2, evicted 5, started 7, failed 9 MaxRetry"},
		},
	},
	"a PodGroup of Volcano": {
		schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"},
		`{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: pv}, spec: {queue: silver, minMember: 4, minResources: {cpu: "8"}}}`,
		"podgroup silver - map[cpu_cores:8] 4",
		[]turnOf{{`{"phase": "Inqueue"}`, "queued"}, {`{"phase": "Running"}`, "queued, started"}, {`{"phase": "Completed"}`, "queued, started, finished"}},
	},
	"a PodGroup of scheduler-plugins": {
		schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"},
		`{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: ps}, spec: {minMember: 2, minResources: {"amd.com/gpu": "16"}}}`,
		"podgroup  - map[accelerators_amd:16] 2",
		[]turnOf{{`{"phase": "PreScheduling"}`, "queued"}, {`{"phase": "Scheduled"}`, "queued, scheduled"}, {`{"phase": "Running"}`, "queued, scheduled, started"},
			{`{"phase": "Failed"}`, "queued, scheduled, started, failed"}},
	},
	"a PodGroup of Kubernetes": {
		schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha2", Resource: "podgroups"},
		`{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: pk}, spec: {schedulingPolicy: {gang: {minCount: 5}}}}`,
		"podgroup  - map[] 5",
		[]turnOf{{`{"conditions": [{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled", "message": "", "lastTransitionTime": "{3}"}]}`, "queued, scheduled 3"}},
	},
}

// TestQueuesAndGangs writes into a real API server, step by step, what the controllers of
// Kueue, Volcano and the schedulers write. The watcher was there before the resources were.
func TestQueuesAndGangs(t *testing.T) {
	b := newBench(t)
	must(b.typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "work"}}, metav1.CreateOptions{}))(b)
	w := b.watcher()
	b.until("the watcher leads", func() bool { return w.said("this watcher leads") })
	b.optionalCRDs()
	for _, q := range queues {
		b.until("watching "+q.resource.String(), func() bool { return w.said("resource=" + q.resource.GroupResource().String() + " ") })
	}
	base := time.Now().Truncate(time.Second).Add(2 * time.Minute) // later than any write of this test
	uids := map[string]string{}
	for name, q := range queues {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(q.object), &u.Object); err != nil {
			t.Fatal(err)
		}
		u = must(b.dynamic.Resource(q.resource).Namespace("work").Create(t.Context(), u, metav1.CreateOptions{}))(b)
		uids[name] = string(u.GetUID())
	}
	for name, q := range queues {
		for _, turn := range q.turns {
			b.turn(q, turn.status, base)
			got := ""
			b.until(name+": "+turn.told, func() bool {
				last := got
				if got = b.story(uids[name], base); got != last {
					t.Logf("%s: %s", name, got)
				}
				return got == turn.told
			})
		}
		f := factsOf(b.eventsOf(uids[name]))
		priority := "-"
		if f.Priority != nil {
			priority = strconv.FormatInt(*f.Priority, 10)
		}
		if got := fmt.Sprintf("%s %s %s %v %d", f.Kind, f.Queue, priority, f.Requests, f.GroupSize); got != q.facts || f.Tenant != "work" {
			t.Errorf("%s: %s of %s, want %s", name, got, f.Tenant, q.facts)
		}
	}
}

var seconds = regexp.MustCompile(`\{(\d+)\}`)

// turn writes a status, as the controller of the object would.
func (b *bench) turn(q queued, status string, base time.Time) {
	b.Helper()
	status = seconds.ReplaceAllStringFunc(status, func(s string) string {
		n := must(strconv.Atoi(s[1 : len(s)-1]))(b)
		return base.Add(time.Duration(n) * time.Second).UTC().Format(time.RFC3339)
	})
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(q.object), &u.Object); err != nil {
		b.Fatal(err)
	}
	if _, err := b.dynamic.Resource(q.resource).Namespace("work").Patch(b.Context(), u.GetName(), mergePatch, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status"); err != nil {
		b.Fatalf("%s: %v", status, err)
	}
}

// eventsOf are the events of a task, each once, as they happened.
func (b *bench) eventsOf(uid string) []tasks.Event {
	b.Helper()
	all := slices.DeleteFunc(b.events(), func(e tasks.Event) bool { return e.Task != uid })
	slices.SortStableFunc(all, func(a, b tasks.Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Sequence, b.Sequence), a.State.Rank()-b.State.Rank())
	})
	return slices.CompactFunc(all, func(a, b tasks.Event) bool { return a.ID == b.ID })
}

// story is what was told of a task after its making.
func (b *bench) story(uid string, base time.Time) string {
	b.Helper()
	var out []string
	for _, e := range b.eventsOf(uid) {
		if e.State == tasks.Updated || e.State == tasks.Submitted {
			continue
		}
		s := string(e.State)
		if after := e.Time - base.UnixMilli(); after >= 0 {
			s += fmt.Sprintf(" %d", after/1000)
		}
		out = append(out, strings.TrimSpace(s+" "+e.Reason))
	}
	return strings.Join(out, ", ")
}
