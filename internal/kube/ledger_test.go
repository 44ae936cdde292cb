package kube

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sextant/schema/tasks"
)

// life is a pod from its making to its end, as the API server shows it bit by bit.
var life = []*corev1.Pod{
	pod(),
	pod(bound, version("8", 5)),
	pod(bound, version("9", 6), deadline),
	pod(running, version("10", 9), deadline),
	pod(restarted, version("11", 40), deadline),
	pod(stopped(0, 50), version("12", 50), deadline),
}

func version(v string, at int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.ResourceVersion = v
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(second(at))}}
	}
}

func deadline(p *corev1.Pod) {
	p.Annotations = map[string]string{AnnotationEnd: "2026-03-02T00:00:00Z"}
}

// look is what the watcher does with a pod, without the cluster around it.
func look(old *record, p *corev1.Pod) (*record, []tasks.Event) {
	s := seePod(p, old == nil)
	s.annotate(func(k string) string { return p.Annotations[k] })
	return teller{cluster: "c", now: ms(1000)}.tell(old, s)
}

// fold is what the events say in the end: the naive way, an event after another.
func fold(events []tasks.Event) (state tasks.State, times map[tasks.State]int64, last tasks.Event) {
	times = map[tasks.State]int64{}
	for _, e := range events {
		if e.State == tasks.Updated {
			if e.SLO.Deadline != 0 {
				last.SLO = e.SLO
			}
			continue
		}
		times[e.State] = e.Time
		if state == "" || e.Time > last.Time || e.Time == last.Time && e.State.Rank() >= last.State.Rank() {
			slo := last.SLO
			if e.SLO.Deadline != 0 {
				slo = e.SLO
			}
			state, last = e.State, e
			last.SLO = slo
		}
	}
	return state, times, last
}

// TestAnyPartOfALifeTellsTheSame: whichever states of the object the watcher got to see,
// the events end in the same state with the same times, and none is said twice.
func TestAnyPartOfALifeTellsTheSame(t *testing.T) {
	want := map[tasks.State]int64{tasks.Submitted: ms(0), tasks.Queued: ms(0), tasks.Scheduled: ms(5), tasks.Started: ms(9), tasks.Finished: ms(50)}
	for seen := range 1 << (len(life) - 1) {
		var rec *record
		var all []tasks.Event
		for i, p := range life {
			if i < len(life)-1 && seen>>i&1 == 0 {
				continue
			}
			for range 2 { // a relist shows it again
				var events []tasks.Event
				rec, events = look(rec, p)
				all = append(all, events...)
			}
		}
		ids := map[string]bool{}
		for i := range all {
			if ids[all[i].ID] {
				t.Errorf("%b: %s is said twice", seen, all[i].ID)
			}
			ids[all[i].ID] = true
			if _, err := all[i].Encode(ms(1000)); err != nil {
				t.Error(err)
			}
		}
		state, times, last := fold(all)
		if first := life[0]; seen&1 == 0 && first.Spec.SchedulingGates == nil {
			delete(times, tasks.Queued) // when it was queued is known only to who saw it made
			times[tasks.Queued] = ms(0)
		}
		if state != tasks.Finished || !reflect.DeepEqual(times, want) || last.SLO.Deadline == 0 {
			t.Errorf("%b: %s %v, deadline %d, want %v", seen, state, times, last.SLO.Deadline, want)
		}
	}
}

// TestWhoTakesOver: the record goes through its JSON between any two looks, and its last
// events are those that were said.
func TestWhoTakesOver(t *testing.T) {
	var rec, again *record
	for _, p := range life {
		r1, e1 := look(rec, p)
		r2, e2 := look(again, p)
		if !reflect.DeepEqual(e1, e2) {
			t.Fatalf("%v, want %v", e2, e1)
		}
		var said [][]byte
		for i := range e2 {
			b, err := e2[i].Encode(ms(1000))
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, b)
		}
		b, err := encodeRecord(r2, said)
		if err != nil {
			t.Fatal(err)
		}
		if again, err = decodeRecord(b); err != nil {
			t.Fatal(err)
		}
		if len(again.Last) != len(said) || len(said) > 0 && string(again.Last[0]) != string(said[0]) {
			t.Errorf("last events %s, want %s", again.Last, said)
		}
		again.Last, rec = nil, r1
	}
}

func TestGone(t *testing.T) {
	rec, _ := look(nil, life[3])
	r, events := teller{cluster: "c", now: ms(100)}.gone(rec, ms(100), "deleted")
	if len(events) != 1 || events[0].State != tasks.Cancelled || events[0].Time != ms(100) || !r.ended() {
		t.Errorf("%+v", events)
	}
	// The clock of the node was ahead: the end is the last all the same.
	if _, events := (teller{}).gone(rec, ms(1), "deleted"); events[0].Time != ms(9) {
		t.Errorf("%+v", events)
	}
	rec, _ = look(rec, life[5])
	if _, events := (teller{}).gone(rec, ms(100), "deleted"); len(events) != 0 {
		t.Errorf("a finished task is not cancelled: %+v", events)
	}
}

// TestFactsThatGoBack: a fact that changes and changes back is said three times, each
// later than the one before, whatever the object's own dates.
func TestFactsThatGoBack(t *testing.T) {
	rec, _ := look(nil, life[0])
	var said []int64
	for _, p := range []*corev1.Pod{pod(version("8", 2), deadline), pod(version("8", 2)), pod(version("9", 2), deadline), pod(version("10", 3), deadline)} {
		var events []tasks.Event
		rec, events = look(rec, p)
		for _, e := range events {
			said = append(said, e.Time)
		}
	}
	if want := []int64{ms(2), ms(2) + 1, ms(2) + 2}; !slices.Equal(said, want) {
		t.Errorf("%v, want %v", said, want)
	}
}

func TestAnnotations(t *testing.T) {
	values := map[string]string{AnnotationType: "training", AnnotationTenant: "acme", AnnotationQueue: "gold",
		AnnotationEnd: "2026-03-02T00:00:00+01:00", AnnotationQueued: "10m", AnnotationLatency: "0.25"}
	s := seePod(pod(), true)
	if faults := s.annotate(func(k string) string { return values[k] }); faults != nil {
		t.Error(faults)
	}
	f := s.facts
	if f.Type != "training" || f.Tenant != "acme" || f.Queue != "gold" || f.SLO.MaxQueue != 600 || f.SLO.LatencyTarget != 0.25 ||
		f.SLO.Deadline != time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC).UnixMilli() {
		t.Errorf("%+v", f)
	}
	for key, bad := range map[string]string{AnnotationType: "a\nb", AnnotationTenant: strings.Repeat("x", 300), AnnotationEnd: "tomorrow",
		AnnotationQueued: "-1", AnnotationLatency: "NaN"} {
		s := seePod(pod(), true)
		before := hash(&s.facts)
		faults := s.annotate(func(k string) string {
			if k == key {
				return bad
			}
			return ""
		})
		if len(faults) != 1 || !strings.HasPrefix(faults[0], key) || hash(&s.facts) != before {
			t.Errorf("%s: %v", key, faults)
		}
	}
}

func FuzzRecord(f *testing.F) {
	rec, events := look(nil, life[0])
	b, err := events[0].Encode(ms(1000))
	if err != nil {
		f.Fatal(err)
	}
	seed, err := encodeRecord(rec, [][]byte{b})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		look(r, life[len(life)-1])
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

// TestClockOfANodeIsAhead: what is dated hours from now is told as of now, once.
func TestClockOfANodeIsAhead(t *testing.T) {
	rec, _ := look(nil, pod(bound, version("8", 5)))
	late := pod(stopped(0, 90_000), version("12", 50))
	rec, events := look(rec, late)
	if state, times, _ := fold(events); state != tasks.Finished || times[tasks.Finished] != ms(1000) {
		t.Errorf("%s at %v", state, times)
	}
	for _, e := range events {
		if _, err := e.Encode(ms(1000)); err != nil {
			t.Error(err)
		}
	}
	if _, again := look(rec, late); len(again) != 0 {
		t.Errorf("said again: %+v", again)
	}
}
