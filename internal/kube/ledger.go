package kube

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"sextant/schema/tasks"
)

// record is what the watcher has said of one task. It is written before what it says is
// sent, so whoever takes over knows the task as its predecessor did, and sends again
// what may not have been sent: the same bytes, which count once.
type record struct {
	Version int               `json:"version"`
	Ref     ref               `json:"ref"`
	Facts   string            `json:"facts"`            // hash of the facts that were said
	Known   int64             `json:"known"`            // time of the event that said them, unix ms
	State   tasks.State       `json:"state"`            // the last that was said
	Said    []said            `json:"said"`             // the states that were said
	Count   uint64            `json:"count"`            // how many they are, with those that are no longer kept
	Owners  []tasks.Owner     `json:"owners,omitempty"` // the longest chain that was seen: owners may go first
	Needs   map[string]string `json:"needs,omitempty"`  // uids of the names that its annotation gives
	Last    []json.RawMessage `json:"last,omitempty"`   // events of the last change
}

type said struct {
	State tasks.State `json:"state"`
	Time  int64       `json:"time"`
}

// recordVersion is of the record. maxSaid bounds what is kept of a task that is evicted
// over and over.
const (
	recordVersion = 1
	maxSaid       = 128
)

func decodeRecord(b []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("record of a task: %w", err)
	}
	if r.Version != recordVersion {
		return nil, fmt.Errorf("record of a task: version %d, this program reads %d", r.Version, recordVersion)
	}
	return r, nil
}

// encodeRecord is the record with the events that come after it.
func encodeRecord(r *record, events [][]byte) ([]byte, error) {
	with := *r
	for _, e := range events {
		with.Last = append(with.Last, e)
	}
	b, err := json.Marshal(&with)
	if err != nil {
		return nil, fmt.Errorf("record of task %s: %w", r.Ref.UID, err)
	}
	return b, nil
}

func (r *record) ended() bool { return r.State.Ends() }

// after is the time of an end: the clock of a node may be behind that of the control
// plane, and whatever they say, the end is the last that happens.
func (r *record) after(time int64) int64 {
	for _, s := range r.Said {
		time = max(time, s.Time)
	}
	return time
}

func (r *record) has(state tasks.State) bool {
	return slices.ContainsFunc(r.Said, func(s said) bool { return s.State == state })
}

// new reports whether the step has not been said.
func (r *record) new(st step) bool {
	switch {
	case r.ended():
		return false // an end is the end
	case st.state == tasks.Evicted && !r.has(tasks.Queued):
		return false // nothing was taken from it: it was made suspended
	case st.when == at:
		return !slices.Contains(r.Said, said{st.state, st.time})
	case st.when == turn:
		return r.State != st.state
	}
	return !r.has(st.state)
}

// teller turns what was seen into events.
type teller struct {
	cluster string
	now     int64 // unix ms
}

// tell returns the record after s, and the events that are new, or none. old is nil for a
// task that was not seen before.
func (t teller) tell(old *record, s seen) (*record, []tasks.Event) {
	r := &record{Version: recordVersion, Ref: s.ref}
	if old != nil {
		*r = *old
		r.Said = slices.Clone(old.Said)
	}
	var events []tasks.Event
	if facts := hash(&s.facts); facts != r.Facts && (old == nil || !s.deleting) {
		// Of a task that is new, the event of its making says what it is.
		if old != nil {
			// Facts change with the object, and with its owners, which do not date it: each
			// event is later than the one before.
			r.Known = max(r.Known+1, min(s.changed, t.now))
			e := s.facts
			t.fill(&e, s.ref, tasks.Updated, r.Known, 0)
			events = append(events, e)
		}
		r.Facts = facts
	}
	for _, st := range inOrder(s.steps) {
		st = t.dated(st)
		if !r.new(st) {
			continue
		}
		if st.state.Ends() {
			st.time = r.after(st.time)
		}
		e := tasks.Event{Node: st.node, Reason: st.reason, ExitCode: st.exit}
		if old == nil && st.state == tasks.Submitted {
			e = s.facts
			r.Known = st.time
		}
		t.fill(&e, s.ref, st.state, st.time, r.say(st.state, st.time))
		events = append(events, e)
	}
	return r, events
}

// dated is the step at a time that an event may have. Where the clock of a node is further
// ahead, it happened when it was seen first.
func (t teller) dated(st step) step {
	if st.time > t.now+tasks.MaxFuture.Milliseconds() {
		st.time, st.when = t.now, once
	}
	return st
}

// inOrder is the steps as they happened: by time, then as states follow each other, the
// end last.
func inOrder(steps []step) []step {
	steps = slices.Clone(steps)
	ends := func(s step) int {
		if s.state.Ends() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(ends(a)-ends(b), cmp.Compare(a.time, b.time), a.state.Rank()-b.state.Rank())
	})
	return steps
}

// gone returns the events of a task whose object is no more.
func (t teller) gone(old *record, when int64, reason string) (*record, []tasks.Event) {
	r := *old
	if r.ended() {
		return &r, nil
	}
	r.Said = slices.Clone(r.Said)
	when = r.after(when)
	e := tasks.Event{Reason: reason}
	t.fill(&e, r.Ref, tasks.Cancelled, when, r.say(tasks.Cancelled, when))
	return &r, []tasks.Event{e}
}

// say notes a state, and returns the how-manieth of the task it is. That orders the states
// of one second, and is the same for whoever tells the same story again; the version of
// the object that happened to show it is not.
func (r *record) say(state tasks.State, time int64) (sequence uint64) {
	r.State = state
	r.Said = append(r.Said, said{state, time})
	if len(r.Said) > maxSaid {
		r.Said = slices.Delete(r.Said, 2, 3) // submitted and queued stay
	}
	r.Count++
	return r.Count
}

func (t teller) fill(e *tasks.Event, of ref, state tasks.State, time int64, sequence uint64) {
	e.ID = fmt.Sprintf("%s/%s/%d", of.UID, state, time)
	e.Task, e.Cluster, e.Source = of.UID, t.cluster, Source
	e.State, e.Time, e.Sequence = state, time, sequence
}
