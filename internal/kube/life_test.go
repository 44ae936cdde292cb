package kube

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pipenodes "sextant/pipeline/nodes"
	"sextant/schema/tasks"
	"sextant/schema/topics"
)

// What becomes of a pod of the test, by its number.
const (
	finishes = iota
	fails
	runs
	preempted
	deletedRunning
	deletedUnseen // while no watcher leads
	held          // by a gate, to the end
	fates
)

const podsOfTest, jobsOfTest, nodesOfTest = 175, 25, 8

// What becomes of nodes, by their number: one is cordoned while the second watcher leads,
// the last is deleted while none does.
const cordoned, unseen = 6, nodesOfTest - 1

// marker is the number of a pod that the third watcher tells of. It is held, so that it takes
// nothing of a node.
const marker = 1428*fates + held

// TestTwoHundredLives: Jobs and pods go through their lives, a watcher is killed in the
// middle and another takes over; a third comes at the end and lists everything again.
// Each task has the state and the times that the test gave it, in Go and in SQL, and nothing
// is said twice. Of the nodes each change is told, once.
func TestTwoHundredLives(t *testing.T) {
	b := newBench(t)
	b.nodes(nodesOfTest)
	must(b.typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "work"}}, metav1.CreateOptions{}))(b)
	first := b.watcher()
	b.until("the first watcher leads", func() bool { return first.said("this watcher leads") })
	second := b.watcher()

	l := &lives{bench: b, want: map[string]wanted{}, uid: map[string]string{}}
	l.makeJobs()
	l.makePods()
	l.awaitBound()
	l.base = time.Now().Truncate(time.Second).Add(time.Second)
	l.startAll(0, podsOfTest/2)
	b.until("events of the first half", func() bool { return len(b.events()) > podsOfTest })
	first.kill()
	for i := range podsOfTest {
		if i%fates == deletedUnseen {
			l.remove(i)
		}
	}
	l.startAll(podsOfTest/2, podsOfTest)
	l.endHalf(0)
	l.removeNode(unseen)
	b.until("the second watcher takes over", func() bool { return second.said("this watcher leads") })
	l.cordon(cordoned)
	l.endHalf(1)
	l.endJobs()
	l.removeSeen()
	l.check()
	b.forbidden()

	before := b.events()
	second.kill()
	third := b.watcher()
	b.until("the third watcher leads", func() bool { return third.said("this watcher leads") })
	must(b.typed.CoreV1().Pods("work").Create(t.Context(), podOf(marker, ""), metav1.CreateOptions{}))(b)
	b.until("the third watcher tells", func() bool {
		return slices.ContainsFunc(b.events(), func(e tasks.Event) bool { return e.Name == fmt.Sprintf("p%d", marker) })
	})
	saidOnce(t, before, b.events())
	l.check()
	l.checkNodes()
	db := b.stored()
	l.checkSQL(db)
	l.checkNodesSQL(db)
}

// saidOnce checks that of the old tasks nothing new was said, and that an event that came
// again is the same.
func saidOnce(t *testing.T, before, after []tasks.Event) {
	t.Helper()
	content := map[string]tasks.Event{}
	for _, e := range before {
		if old, ok := content[e.ID]; ok && !reflect.DeepEqual(old, e) {
			t.Errorf("%s is said in two ways:\n%+v\n%+v", e.ID, old, e)
		}
		content[e.ID] = e
	}
	for _, e := range after {
		if old, ok := content[e.ID]; ok && !reflect.DeepEqual(old, e) {
			t.Errorf("%s is said in two ways:\n%+v\n%+v", e.ID, old, e)
		} else if !ok && !isMarker(after, e.Task) {
			t.Errorf("said anew: %+v", e)
		}
	}
}

func isMarker(all []tasks.Event, task string) bool {
	return slices.ContainsFunc(all, func(e tasks.Event) bool { return e.Task == task && e.Name == fmt.Sprintf("p%d", marker) })
}

// wanted is what the events of a task must come to. A time that only the control plane
// knows is read from the object.
type wanted struct {
	state tasks.State
	times map[tasks.State]int64 // of those that are known to the second
	node  string
}

type lives struct {
	*bench
	want map[string]wanted // by name
	uid  map[string]string
	base time.Time
}

func podOf(i int, jobUID string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%03d", i), Namespace: "work",
		Annotations: map[string]string{AnnotationType: "training", AnnotationQueued: "10m"}, Labels: map[string]string{labelPodGroup: "gang"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i",
			Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "100m", "memory", "64Mi")}}}}}
	if i%fates == held {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "test/held"}}
	}
	if jobUID != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j00", UID: typesUID(jobUID), Controller: new(true)}}
	}
	return p
}

func (l *lives) makeJobs() {
	for i := range jobsOfTest {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("j%02d", i), Namespace: "work"},
			Spec: batchv1.JobSpec{Parallelism: new(int32(4)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "2")}}}}}}}
		if i > 0 {
			j.Annotations = map[string]string{AnnotationBefore: fmt.Sprintf("j%02d", i-1)}
		}
		j = must(l.typed.BatchV1().Jobs("work").Create(l.Context(), j, metav1.CreateOptions{}))(l.bench)
		l.uid[j.Name] = string(j.UID)
		at := j.CreationTimestamp.UnixMilli()
		l.want[j.Name] = wanted{state: tasks.Queued, times: map[tasks.State]int64{tasks.Submitted: at, tasks.Queued: at}}
	}
}

func (l *lives) makePods() {
	for i := range podsOfTest {
		p := must(l.typed.CoreV1().Pods("work").Create(l.Context(), podOf(i, l.uid["j00"]), metav1.CreateOptions{}))(l.bench)
		l.uid[p.Name] = string(p.UID)
		at := p.CreationTimestamp.UnixMilli()
		w := wanted{state: tasks.Queued, times: map[tasks.State]int64{tasks.Submitted: at, tasks.Queued: at}}
		if i%fates == held {
			w.state = tasks.Submitted
			delete(w.times, tasks.Queued)
		}
		l.want[p.Name] = w
	}
}

// awaitBound waits for the scheduler, and notes when and where it bound.
func (l *lives) awaitBound() {
	l.until("all pods are bound", func() bool {
		list := must(l.typed.CoreV1().Pods("work").List(l.Context(), metav1.ListOptions{}))(l.bench)
		left := 0
		for i := range list.Items {
			p := &list.Items[i]
			c := condition(p, corev1.PodScheduled)
			if p.Spec.NodeName == "" || c == nil || c.Status != corev1.ConditionTrue {
				left++
				continue
			}
			w := l.want[p.Name]
			w.state, w.node, w.times[tasks.Scheduled] = tasks.Scheduled, p.Spec.NodeName, c.LastTransitionTime.UnixMilli()
			l.want[p.Name] = w
		}
		return left == podsOfTest/fates
	})
}

func startsAfter(i int) int { return 1 + i%30 }

// clock is a time of the kubelet some seconds after all were bound, whole as Kubernetes keeps
// them. An event may be 5 minutes ahead.
func (l *lives) clock(after int) (ms int64, text string) {
	at := l.base.Add(time.Duration(after) * time.Second).UTC()
	return at.UnixMilli(), at.Format(time.RFC3339)
}

func (l *lives) note(name string, state tasks.State, at int64) {
	w := l.want[name]
	w.state = state
	if at != 0 {
		w.times[state] = at
	}
	l.want[name] = w
}

func (l *lives) startAll(from, to int) {
	for i := from; i < to; i++ {
		name := fmt.Sprintf("p%03d", i)
		if i%fates == held || l.want[name].state == tasks.Cancelled {
			continue
		}
		at, text := l.clock(startsAfter(i))
		l.patch(name, `{"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"state":{"running":{"startedAt":"`+text+`"}}}]}`)
		l.note(name, tasks.Started, at)
	}
}

// remove deletes a pod at once, as a kubelet that is done with it.
func (l *lives) remove(i int) {
	name := fmt.Sprintf("p%03d", i)
	if err := l.typed.CoreV1().Pods("work").Delete(l.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		l.Fatal(err)
	}
	l.note(name, tasks.Cancelled, 0)
}

func (l *lives) endHalf(half int) {
	for i := range podsOfTest {
		if i%2 != half {
			continue
		}
		name := fmt.Sprintf("p%03d", i)
		at, text := l.clock(60 + i%60)
		ended := func(phase, reason string, code int) string {
			_, started := l.clock(startsAfter(i))
			return fmt.Sprintf(`{"phase":%q,"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"running":null,"terminated":{"exitCode":%d,"reason":%q,"startedAt":%q,"finishedAt":%q}}}]}`,
				phase, code, reason, started, text)
		}
		switch i % fates {
		case finishes:
			l.patch(name, ended("Succeeded", "Completed", 0))
			l.note(name, tasks.Finished, at)
		case fails:
			l.patch(name, ended("Failed", "OOMKilled", 137))
			l.note(name, tasks.Failed, at)
		case preempted:
			l.patch(name, `{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"made room","lastTransitionTime":"`+text+`"}]}`)
			l.note(name, tasks.Evicted, at)
		}
	}
}

// removeSeen deletes what was preempted, and pods that run, after a watcher has told so: of
// what began and ended while nobody watched nothing is known.
func (l *lives) removeSeen() {
	l.check()
	for i := range podsOfTest {
		if i%fates == preempted || i%fates == deletedRunning {
			l.remove(i)
		}
	}
}

func (l *lives) endJobs() {
	for i := range jobsOfTest {
		name := fmt.Sprintf("j%02d", i)
		at, text := l.clock(130 + i)
		_, began := l.clock(0)
		status := `{"status":{"startTime":"` + began + `","succeeded":4,"completionTime":"` + text + `","uncountedTerminatedPods":{},"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True","lastTransitionTime":"` + text + `"}]}}`
		if _, err := l.typed.BatchV1().Jobs("work").Patch(l.Context(), name, mergePatch, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
			l.Fatal(err)
		}
		l.note(name, tasks.Finished, at)
	}
}

func (l *lives) removeNode(i int) {
	if err := l.typed.CoreV1().Nodes().Delete(l.Context(), fmt.Sprintf("n%d", i), metav1.DeleteOptions{}); err != nil {
		l.Fatal(err)
	}
}

func (l *lives) cordon(i int) {
	_, err := l.typed.CoreV1().Nodes().Patch(l.Context(), fmt.Sprintf("n%d", i), mergePatch, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil {
		l.Fatal(err)
	}
}

// checkNodes waits until the topic has each turn of each node once, whoever led.
func (l *lives) checkNodes() {
	l.Helper()
	want := map[string]string{}
	for i := range nodesOfTest {
		want[fmt.Sprintf("n%d", i)] = "made"
	}
	want[fmt.Sprintf("n%d", cordoned)] += " cordoned"
	want[fmt.Sprintf("n%d", unseen)] += " deleted"
	l.until("the nodes are told", func() bool {
		got := map[string]string{}
		for _, r := range rowsOf(l.bench, topics.Nodes, pipenodes.Decode) {
			turn := "made"
			switch {
			case r.Document == nil:
				turn = "deleted"
			case r.Document.Unschedulable:
				turn = "cordoned"
			}
			got[r.Node] = strings.TrimSpace(got[r.Node] + " " + turn)
		}
		return maps.Equal(got, want)
	})
}

// check waits until each task is what it must be, and says what is not.
func (l *lives) check() {
	l.Helper()
	var wrong []string
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		if wrong = l.wrong(); len(wrong) == 0 {
			return
		}
		if time.Now().After(deadline) {
			l.Fatalf("%d of %d tasks are wrong:\n%s", len(wrong), len(l.want), strings.Join(wrong[:min(len(wrong), 20)], "\n"))
		}
	}
}

func (l *lives) wrong() (out []string) {
	by := map[string][]tasks.Event{}
	ids := map[string]bool{}
	for _, e := range l.events() {
		if !ids[e.ID] {
			by[e.Task] = append(by[e.Task], e)
		}
		ids[e.ID] = true
	}
	for _, name := range slices.Sorted(maps.Keys(l.want)) {
		w, events := l.want[name], by[l.uid[name]]
		state, times, _ := fold(events)
		facts := factsOf(events)
		for s, at := range w.times {
			if times[s] != at {
				out = append(out, fmt.Sprintf("%s: %s at %d, want %d", name, s, times[s], at))
			}
		}
		if state != w.state {
			out = append(out, fmt.Sprintf("%s: is %s, want %s", name, state, w.state))
		}
		if facts.Node != w.node || facts.Name != name || facts.Namespace != "work" || facts.Requests[tasks.CPU] == 0 {
			out = append(out, fmt.Sprintf("%s: facts %+v, want node %s", name, facts, w.node))
		}
		if isPod := name[0] == 'p'; isPod && (facts.Type != "training" || facts.SLO.MaxQueue != 600 || facts.Group != "work/gang" ||
			len(facts.Owners) != 1 || facts.Owners[0].ID != l.uid["j00"]) {
			out = append(out, fmt.Sprintf("%s: facts %+v", name, facts))
		} else if before := "j" + fmt.Sprintf("%02d", number(name)-1); !isPod && name != "j00" && !slices.Equal(facts.Dependencies, []string{l.uid[before]}) {
			out = append(out, fmt.Sprintf("%s: depends on %v, want %s", name, facts.Dependencies, l.uid[before]))
		}
	}
	return out
}

// factsOf is what the events say that the task is: of each fact the last.
func factsOf(events []tasks.Event) (f tasks.Event) {
	slices.SortStableFunc(events, func(a, b tasks.Event) int {
		if a.Time != b.Time {
			return int(a.Time - b.Time)
		}
		return int(int64(a.Sequence) - int64(b.Sequence))
	})
	for _, e := range events {
		if e.Name != "" {
			node := f.Node
			f = e
			if f.Node == "" {
				f.Node = node
			}
		}
		if e.Node != "" {
			f.Node = e.Node
		}
	}
	return f
}

func number(name string) (n int) {
	_, _ = fmt.Sscanf(name[1:], "%d", &n)
	return n
}
