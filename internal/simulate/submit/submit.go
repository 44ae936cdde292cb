// Package submit tells the task events of a simulated cluster's jobs, as a scheduler would: a
// task for each node that a job is placed on, with a tenant, a queue and promises, some of
// which are broken. All of them say that they are simulated.
package submit

import (
	"fmt"
	"math"
	"strconv"

	"sextant/internal/simulate"
	"sextant/schema/tasks"
)

// Source is the source of the events.
const Source = "simulation"

// Teller turns what happens to jobs into task events. It is not safe for concurrent use.
type Teller struct {
	run   string         // tells the tasks of one run from those of another
	ranks map[string]int // by job: tasks that were submitted
	live  map[string]tasks.Event
}

// NewTeller returns the teller of a run. Two runs with one name would tell of one task twice.
func NewTeller(run string) *Teller {
	return &Teller{run: run, ranks: map[string]int{}, live: map[string]tasks.Event{}}
}

// Events are what h means for the tasks of its job.
func (t *Teller) Events(h simulate.Happening) []tasks.Event {
	switch h.Step {
	case simulate.Arrived:
		return t.submit(h, h.Ranks)
	case simulate.Placed:
		return t.place(h)
	case simulate.Evicted:
		return t.each(h, func(e *tasks.Event) { e.State, e.Reason = evicted(h.Job), h.Reason })
	}
	return t.each(h, func(e *tasks.Event) { outcome(e, h.Job) })
}

// evicted is the state of a job that was taken off its nodes. One of a trace does not come again.
func evicted(j *simulate.Job) tasks.State {
	if j.Kind == simulate.Traced {
		return tasks.Failed
	}
	return tasks.Evicted
}

// Live are the tasks that have not ended, each with its last event.
func (t *Teller) Live() map[string]tasks.Event { return t.live }

// Stop ends every task that lives, at the time at, unix ms.
func Stop(live map[string]tasks.Event, at int64) []tasks.Event {
	var out []tasks.Event
	for _, last := range live {
		e := tasks.Event{Task: last.Task, Cluster: last.Cluster, State: tasks.Cancelled, Time: max(at, last.Time), Source: Source,
			Simulated: true, Reason: "the simulation stopped"}
		e.ID = e.Task + "/stopped"
		out = append(out, e)
	}
	return out
}

func key(h simulate.Happening) string { return h.Group.Name + "-" + h.Job.Name }

func (t *Teller) task(h simulate.Happening, rank int) string {
	return fmt.Sprintf("sim-%s-%s-%d", t.run, key(h), rank)
}

// submit tells of a job's tasks up to so many ranks.
func (t *Teller) submit(h simulate.Happening, ranks int) []tasks.Event {
	var out []tasks.Event
	for rank := t.ranks[key(h)]; rank < ranks; rank++ {
		out = append(out, t.note(submission(h, t.task(h, rank), rank, ranks)))
	}
	t.ranks[key(h)] = max(t.ranks[key(h)], ranks)
	return out
}

// place binds the ranks to their nodes. A gang may need fewer or more nodes than was thought.
func (t *Teller) place(h simulate.Happening) []tasks.Event {
	out := t.submit(h, len(h.Parts))
	for rank := range t.ranks[key(h)] {
		e := t.event(h, rank)
		if rank >= len(h.Parts) {
			e.State, e.Reason = tasks.Cancelled, "the gang fits on fewer nodes"
			out = append(out, t.note(e))
			continue
		}
		bind(&e, h.Parts[rank])
		out = append(out, t.note(e))
		begun := t.event(h, rank)
		begun.State = tasks.Started
		out = append(out, t.note(begun))
	}
	t.ranks[key(h)] = len(h.Parts)
	return out
}

// each tells one thing of all tasks of a job.
func (t *Teller) each(h simulate.Happening, what func(*tasks.Event)) []tasks.Event {
	var out []tasks.Event
	for rank := range t.ranks[key(h)] {
		e := t.event(h, rank)
		what(&e)
		out = append(out, t.note(e))
	}
	if len(out) > 0 && out[0].State.Ends() {
		delete(t.ranks, key(h))
	}
	return out
}

func (t *Teller) event(h simulate.Happening, rank int) tasks.Event {
	return tasks.Event{Task: t.task(h, rank), Time: h.At, Source: Source, Simulated: true}
}

// note gives the event its id and keeps it as the last of its task.
func (t *Teller) note(e tasks.Event) tasks.Event {
	e.ID = fmt.Sprintf("%s/%s/%s", e.Task, strconv.FormatInt(e.Time, 36), e.State)
	if e.State.Ends() {
		delete(t.live, e.Task)
	} else {
		t.live[e.Task] = tasks.Event{Task: e.Task, Cluster: e.Cluster, Time: e.Time}
	}
	return e
}

// luck is a number of 0 to 1 that a job keeps.
func luck(j *simulate.Job, what string) float64 {
	h := uint64(14695981039346656037)
	for _, c := range j.Namespace + "/" + j.Name + "/" + what {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return float64(mix(h)>>11) / (1 << 53)
}

// mix spreads the last characters over all bits (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// outcome is how a job ends: most finish, people close their notebooks.
func outcome(e *tasks.Event, j *simulate.Job) {
	code := int32(0)
	switch x := luck(j, "outcome"); {
	case j.Kind == simulate.Notebook:
		e.State, e.Reason = tasks.Cancelled, "closed by its user"
		return
	case x < 0.03:
		e.State, e.Reason, code = tasks.Failed, "OOMKilled", 137
	case x < 0.06 && j.Kind != simulate.Inference:
		e.State, e.Reason, code = tasks.Failed, "Error", 1
	default:
		e.State = tasks.Finished
	}
	e.ExitCode = &code
}

// class is what a kind of job asks of a scheduler.
type class struct {
	queue    string
	priority int64
	maxQueue float64 // s
}

var classes = map[string]class{
	simulate.Training:  {"research", 50, 120},
	simulate.Inference: {"serving", 100, 15},
	simulate.Batch:     {"batch", 10, 0},
	simulate.Notebook:  {"interactive", 80, 30},
	simulate.Traced:    {"serving", 100, 60},
}

// promises of a job: some deadlines are shorter than the job, and cannot be kept.
func promises(j *simulate.Job, at int64) tasks.SLO {
	slo := tasks.SLO{MaxQueue: classes[j.Kind].maxQueue}
	if j.Kind == simulate.Batch || j.Kind == simulate.Training && luck(j, "promised") < 0.5 {
		slo.Deadline = at + int64(1000*j.Length*(0.85+0.9*luck(j, "deadline")))
	}
	return slo
}

func submission(h simulate.Happening, task string, rank, ranks int) tasks.Event {
	j, c := h.Job, classes[h.Job.Kind]
	e := tasks.Event{Task: task, State: tasks.Submitted, Time: h.At, Source: Source, Kind: "pod", Name: fmt.Sprintf("%s-worker-%d", j.Name, rank),
		Namespace: j.Namespace, Tenant: j.Namespace, Queue: c.queue, Type: j.Kind, Priority: &c.priority, Owners: []tasks.Owner{{Kind: "Job", Name: j.Name}},
		SLO: promises(j, h.At), Simulated: true}
	if ranks > 1 {
		e.Group, e.GroupSize = task[:len(task)-2], ranks
	}
	units := math.Ceil(float64(j.Units) / float64(max(ranks, 1)))
	e.Requests = hostShare(h.Group, units)
	if maker := makerOf(h.Group); maker != "" {
		e.Requests[tasks.Accelerators+maker] = units
	}
	return e
}
