package kube

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"sextant/pipeline/kafka"
	"sextant/schema/tasks"
)

// desk is a watcher of pods whose informer does not run: the test does what an informer
// does, one step at a time.
type desk struct {
	*testing.T
	*watcher
	pods    *source
	handler cache.ResourceEventHandler
	kafka   kafka.Config
}

func newDesk(t *testing.T) *desk {
	cfg := startBroker(t)
	p, err := kafka.NewProducer(cfg, kafka.ProducerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	m, err := NewMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, watcher: newWatcher("c", p, Options{Metrics: m, Log: slog.New(slog.DiscardHandler)}), kafka: cfg}
	d.pods = &source{resource: "pods", kinds: []string{"pod"}, present: map[string]bool{}, told: func() bool { return true },
		see:      func(o any, first bool) seen { return seePod(o.(*corev1.Pod), first) },
		informer: idle(&corev1.Pod{}, &corev1.PodList{})}
	d.sources["pods"] = d.pods
	d.handler = d.handle(d.pods)
	return d
}

// idle is an informer that is never run.
func idle(of, list runtime.Object) cache.SharedIndexInformer {
	return informer(of, func(context.Context, metav1.ListOptions) (runtime.Object, error) { return list, nil },
		func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil })
}

// add and remove are what an informer does first: it changes its index.
func (d *desk) add(p *corev1.Pod) {
	d.Helper()
	if err := d.pods.informer.GetIndexer().Add(p); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) remove(p *corev1.Pod) {
	d.Helper()
	if err := d.pods.informer.GetIndexer().Delete(p); err != nil {
		d.Fatal(err)
	}
}

// drain looks at all that is queued.
func (d *desk) drain() {
	d.Helper()
	for d.queue.Len() > 0 {
		keys, _ := d.take()
		if err := d.look(d.Context(), keys); err != nil {
			d.Fatal(err)
		}
		for _, k := range keys {
			d.queue.Done(k)
		}
	}
}

func (d *desk) wants(what string, want ...string) {
	d.Helper()
	var got []string
	for _, e := range eventsIn(d.T, d.kafka) {
		got = append(got, fmt.Sprintf("%s %d", e.State, e.Sequence))
	}
	if !slices.Equal(got, want) {
		d.Fatalf("%s: said %q, want %q", what, got, want)
	}
}

// TestDeletedBetweenIndexAndHandler: the index has forgotten a pod, and a look that an
// earlier change asked for comes before the handler hears of the end. The task is not over
// until then, ends as the pod did, and nothing is said twice.
func TestDeletedBetweenIndexAndHandler(t *testing.T) {
	d := newDesk(t)
	was := pod(running)
	d.add(was)
	d.handler.OnAdd(was, true)
	d.queue.Add(key{resource: "pods"})
	d.drain()
	told := []string{"submitted 1", "queued 2", "scheduled 3", "started 4"}
	d.wants("it runs", told...)

	last := pod(stopped(0, 50), version("1058", 50))
	d.add(last)
	d.handler.OnUpdate(was, last)
	d.remove(last)
	d.drain()
	d.wants("the index has forgotten it", told...)
	d.handler.OnDelete(last)
	d.drain()
	told = append(told, "finished 5")
	d.wants("the handler knows", told...)

	d.queue.Add(key{resource: "pods"})
	d.queue.Add(key{"pods", string(last.UID)})
	d.drain()
	d.wants("looked at again", told...)
}

// TestDeletedWhileNobodyWatched: what a predecessor knew and the first list does not have
// has ended; what was told of before the list was whole has not.
func TestDeletedWhileNobodyWatched(t *testing.T) {
	d := newDesk(t)
	for _, uid := range []string{"gone", "stays"} {
		rec, _ := look(nil, pod(running, func(p *corev1.Pod) { p.Name, p.UID = uid, typesUID(uid) }))
		d.known[uid] = rec
	}
	whole := false
	d.pods.told = func() bool { return whole }
	d.queue.Add(key{"pods", "gone"}) // such as one that waited for its owner
	d.queue.Add(key{resource: "pods"})
	d.drain()
	d.wants("the list is not whole")

	p := pod(running, func(p *corev1.Pod) { p.Name, p.UID = "stays", "stays" })
	d.add(p)
	d.handler.OnAdd(p, true)
	whole = true
	d.queue.Add(key{resource: "pods"})
	d.drain()
	d.wants("the list is whole", "cancelled 5")
	if events := eventsIn(t, d.kafka); events[0].Task != "gone" || events[0].State != tasks.Cancelled || events[0].Reason != "deleted while nobody watched" {
		t.Errorf("%+v", events[0])
	}
}

// TestToldAnew: whoever has no record of a task tells it as it was told: the same events,
// whatever version of the object shows them.
func TestToldAnew(t *testing.T) {
	var rec *record
	first := map[string]tasks.Event{}
	for _, p := range life {
		var events []tasks.Event
		rec, events = look(rec, p)
		for _, e := range events {
			first[e.ID] = e
		}
	}
	_, again := look(nil, pod(stopped(0, 50), version("1058", 50)))
	if len(again) != 5 {
		t.Fatalf("%+v", again)
	}
	for _, e := range again {
		old := first[e.ID]
		if e.Sequence != old.Sequence || e.Time != old.Time || e.Node != old.Node || e.Name != old.Name {
			t.Errorf("%+v\nwas %+v", e, old)
		}
	}
}
