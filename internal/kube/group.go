package kube

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"sextant/schema/tasks"
)

// document reads fields of an object whose type is not compiled in. A field that is
// missing, or of another type than expected, is zero: versions of these APIs differ.
type document map[string]any

func (d document) at(path ...string) any {
	v, _, err := unstructured.NestedFieldNoCopy(d, path...)
	if err != nil {
		return nil
	}
	return v
}

func (d document) text(path ...string) string {
	s, _ := d.at(path...).(string)
	return s
}

func (d document) number(path ...string) int64 {
	n, _ := d.at(path...).(int64)
	return n
}

func (d document) list(path ...string) (out []document) {
	items, _ := d.at(path...).([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (d document) time(path ...string) int64 {
	t, err := time.Parse(time.RFC3339, d.text(path...))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// condition returns the condition of the kind, and whether it is true.
func (d document) condition(kind string) (c document, is bool) {
	for _, c := range d.list("status", "conditions") {
		if c.text("type") == kind {
			return c, c.text("status") == "True"
		}
	}
	return nil, false
}

// phases are what the schedulers call the states of a group or a job.
var phases = map[string]tasks.State{
	"PreScheduling": tasks.Queued, "Scheduling": tasks.Queued, "Inqueue": tasks.Queued,
	"Scheduled": tasks.Scheduled, "Running": tasks.Started, "Restarting": tasks.Evicted,
	"Finished": tasks.Finished, "Completed": tasks.Finished,
	"Failed": tasks.Failed, "Terminated": tasks.Failed, "Aborted": tasks.Cancelled,
}

// seeGroup reads a PodGroup of scheduler-plugins, Volcano or Kubernetes itself.
func seeGroup(resource string, u *unstructured.Unstructured) seen {
	s := meta(resource, "podgroup", u)
	d := document(u.Object)
	f := &s.facts
	f.Group = u.GetNamespace() + "/" + u.GetName()
	f.GroupSize = groupSize(d.number("spec", "minMember") + d.number("spec", "schedulingPolicy", "gang", "minCount"))
	f.Queue, f.PriorityClass = d.text("spec", "queue"), d.text("spec", "priorityClassName")
	if m, ok := d.at("spec", "minResources").(map[string]any); ok {
		var list corev1.ResourceList
		if convert(m, &list) {
			f.Requests = amounts(list, 1)
		}
	}
	s.queued(u, d.text("status", "phase"))
	for _, kind := range []string{"PodGroupScheduled", "PodGroupInitiallyScheduled"} {
		if c, is := d.condition(kind); is {
			s.add(step{state: tasks.Scheduled, time: c.time("lastTransitionTime")})
		}
	}
	s.phase(d.text("status", "phase"), s.changed, "")
	return s
}

// queued adds that the scheduler may look at it, which is so from the start unless a phase
// comes before.
func (s *seen) queued(u *unstructured.Unstructured, phase string) {
	if phase == "" {
		s.add(step{state: tasks.Queued, time: u.GetCreationTimestamp().UnixMilli()})
	}
}

// phase adds the step that a phase stands for.
func (s *seen) phase(name string, time int64, reason string) {
	if state, ok := phases[name]; ok {
		s.add(step{state: state, time: time, reason: reason, when: turn})
	}
}

// seeVolcano reads a Job of Volcano.
func seeVolcano(resource string, u *unstructured.Unstructured) seen {
	s := meta(resource, "job", u)
	d := document(u.Object)
	f := &s.facts
	f.Type = "batch"
	f.Queue, f.PriorityClass = d.text("spec", "queue"), d.text("spec", "priorityClassName")
	f.Group = u.GetNamespace() + "/" + u.GetName() + "-" + string(u.GetUID()) // as Volcano names the group that it makes
	f.GroupSize = groupSize(d.number("spec", "minAvailable"))
	for _, t := range d.list("spec", "tasks") {
		s.template(t, float64(t.number("replicas")))
	}
	s.add(step{state: tasks.Queued, time: u.GetCreationTimestamp().UnixMilli()})
	dated := false
	for _, c := range d.list("status", "conditions") { // each phase that it had
		if state, ok := phases[c.text("status")]; ok && c.time("lastTransitionTime") != 0 {
			dated = true
			s.add(step{state: state, time: c.time("lastTransitionTime"), reason: s.because(d, c.text("status")), when: at})
		}
	}
	if !dated {
		turned := d.time("status", "state", "lastTransitionTime")
		if turned == 0 {
			turned = s.changed
		}
		s.phase(d.text("status", "state", "phase"), turned, s.because(d, d.text("status", "state", "phase")))
	}
	return s
}

// because is the reason of the phase that is now.
func (*seen) because(d document, phase string) string {
	if d.text("status", "state", "phase") != phase {
		return ""
	}
	return words(d.text("status", "state", "reason"), d.text("status", "state", "message"))
}

// template adds what so many pods of the template in d ask for.
func (s *seen) template(d document, times float64) {
	m, ok := d.at("template", "spec").(map[string]any)
	var spec corev1.PodSpec
	if !ok || !convert(m, &spec) {
		return
	}
	requests, limits := podAmounts(&spec, times)
	s.facts.Requests, s.facts.Limits = sum(s.facts.Requests, requests), sum(s.facts.Limits, limits)
}

// seeWorkload reads a Workload of Kueue.
func seeWorkload(resource string, u *unstructured.Unstructured) seen {
	s := meta(resource, "workload", u)
	d := document(u.Object)
	f := &s.facts
	f.Queue = d.text("spec", "queueName")
	f.PriorityClass = d.text("spec", "priorityClassName")
	if f.PriorityClass == "" {
		f.PriorityClass = d.text("spec", "priorityClassRef", "name")
	}
	if p, ok := d.at("spec", "priority").(int64); ok {
		f.Priority = &p
	}
	for _, set := range d.list("spec", "podSets") {
		count, ok := set.at("count").(int64)
		if !ok {
			count = 1 // as Kueue has it
		}
		s.template(set, float64(count))
	}
	s.add(step{state: tasks.Queued, time: u.GetCreationTimestamp().UnixMilli()})
	turns := []struct {
		kind  string
		state tasks.State
	}{{"Requeued", tasks.Queued}, {"Admitted", tasks.Scheduled}, {"PodsReady", tasks.Started}, {"Evicted", tasks.Evicted}, {"Finished", tasks.Finished}}
	for _, t := range turns {
		c, is := d.condition(t.kind)
		if !is {
			continue
		}
		st := step{state: t.state, time: c.time("lastTransitionTime"), when: at}
		if t.state == tasks.Evicted || t.state == tasks.Finished {
			st.reason = words(c.text("reason"), c.text("message"))
		}
		if t.state == tasks.Finished && c.text("reason") == "Failed" {
			st.state = tasks.Failed
		}
		s.add(st)
	}
	return s
}

func groupSize(n int64) int { return int(min(max(n, 0), tasks.MaxGroup)) }

// convert reads m into a typed value, and reports whether it is one.
func convert(m map[string]any, into any) bool {
	if list, ok := into.(*corev1.ResourceList); ok { // no struct: the converter below wants one
		b, err := json.Marshal(m)
		return err == nil && json.Unmarshal(b, list) == nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(m, into) == nil
}
