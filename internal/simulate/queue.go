package simulate

import (
	"math/rand/v2"
	"strconv"
)

// queue places jobs on the nodes of a group: in the order in which they came, on the
// first nodes that have room, from a random one on.
type queue struct {
	group   *Group
	nodes   []*Node
	work    *Workload
	rand    *rand.Rand
	waiting []*Job
	running []*Job
	ids     int
	next    *int // series of the trace that is given out next
	trace   *Trace

	rate float64 // arrivals per second

	now  float64         // virtual seconds
	at   int64           // likewise, unix ms
	tell func(Happening) // nil: nobody follows
}

// warmWait is for how many seconds the jobs waited that run when the simulation begins.
const warmWait = 5

// maxWaiting bounds a queue whose load is more than the group can bear.
const maxWaiting = 100

// usable are the units of a node that a kind of job is given: long gangs get whole
// devices, the rest gets slices where there are some.
func usable(n *Node, kind string) []*Unit {
	var whole, parts []*Unit
	n.each(func(d *Device, u *Unit) {
		if u.Slice != nil && d.Vendor != AMD {
			parts = append(parts, u)
		} else {
			whole = append(whole, u)
		}
	})
	light := kind == Inference || kind == Notebook
	if len(whole) == 0 || light && len(parts) > 0 {
		return parts
	}
	return whole
}

func (q *queue) draw() *Job {
	q.ids++
	per := len(usable(q.nodes[0], Training))
	return q.work.draw(q.ids, per, len(q.nodes), q.rand)
}

// warm sets the rate of arrivals and fills the group to its load, with jobs that are
// somewhere in their lives.
func (q *queue) warm() {
	units := 0
	for _, n := range q.nodes {
		n.each(func(*Device, *Unit) { units++ })
	}
	const samples = 1000
	work := 0.0
	for range samples {
		j := q.draw()
		work += float64(j.Units) * j.Length
	}
	want := q.work.Load * float64(units)
	q.rate = want / (work / samples)
	q.ids = 0
	for used, tries := 0, 0; float64(used) < want && tries < 4*units; tries++ {
		j := q.draw()
		j.Start = -j.Length * q.rand.Float64()
		j.Arrived = j.Start - warmWait
		if q.place(j) {
			used += j.Units
		}
	}
}

// step ends jobs, lets new ones come and places what waits. now is in virtual seconds.
func (q *queue) step(now float64) {
	q.now = now
	if q.trace != nil {
		q.assign(now)
		return
	}
	kept := q.running[:0]
	for _, j := range q.running {
		if j.end() <= now {
			q.happen(Ended, j, "")
			j.leave()
		} else {
			kept = append(kept, j)
		}
	}
	q.running = kept
	for t := q.rand.ExpFloat64(); t < q.rate*Tick.Seconds(); t += q.rand.ExpFloat64() {
		if j := q.draw(); len(q.waiting) < maxWaiting {
			j.Arrived = now
			q.waiting = append(q.waiting, j)
			q.happen(Arrived, j, "")
		}
	}
	left := q.waiting[:0]
	for _, j := range q.waiting {
		j.Start = now
		if !q.place(j) {
			left = append(left, j)
		}
	}
	q.waiting = left
}

// assign gives every free unit a container of the trace, for good.
func (q *queue) assign(now float64) {
	for _, n := range q.nodes {
		if n.Lost {
			continue
		}
		n.each(func(d *Device, u *Unit) {
			if u.Job != nil {
				return
			}
			i := *q.next
			*q.next++
			s := &q.trace.Series[i%len(q.trace.Series)]
			span := s.Times[len(s.Times)-1] - s.Times[0]
			// Once all containers are given out, they are again, at another time of their day.
			again := float64(i/len(q.trace.Series)) * 0.381966 * span
			u.Job = &Job{ID: i + 1, Kind: Traced, Name: "serve-" + strconv.Itoa(i+1), Namespace: "serving", Container: containers[Traced],
				Units: 1, Arrived: now, Start: now, Length: 1e18, phase: again, speed: q.work.Trace.Speed, series: s, nodes: []*Node{n}}
			q.running = append(q.running, u.Job)
			q.happen(Arrived, u.Job, "")
			q.happen(Placed, u.Job, "")
		})
	}
}

// place gives the job its units, all or none.
func (q *queue) place(j *Job) bool {
	first := q.rand.IntN(len(q.nodes))
	var got []*Unit
	var nodes []*Node
	for i := range q.nodes {
		n := q.nodes[(first+i)%len(q.nodes)]
		if n.Lost {
			continue
		}
		var free []*Unit
		all := usable(n, j.Kind)
		for _, u := range all {
			if u.Job == nil {
				free = append(free, u)
			}
		}
		need := min(j.Units, len(all))
		if need == 0 || len(free) < need {
			continue
		}
		got, nodes = append(got, free[:min(need, j.Units-len(got))]...), append(nodes, n)
		if len(got) == j.Units {
			break
		}
	}
	if len(got) < j.Units {
		return false
	}
	j.nodes = nodes
	for _, u := range got {
		u.Job = j
	}
	q.running = append(q.running, j)
	q.happen(Placed, j, "")
	return true
}

// evict takes the jobs off their nodes that have a unit on the node for which mine says yes;
// all units of a gang become free. What is left of them waits again, before all others.
func (q *queue) evict(n *Node, reason string, mine func(*Device) bool) {
	gone := map[*Job]bool{}
	n.each(func(d *Device, u *Unit) {
		if u.Job != nil && mine(d) {
			gone[u.Job] = true
		}
	})
	var kept, again []*Job
	for _, j := range q.running {
		if !gone[j] {
			kept = append(kept, j)
			continue
		}
		q.happen(Evicted, j, reason)
		j.leave()
		if q.trace == nil {
			again = append(again, j.rest(q.now))
		}
	}
	q.running, q.waiting = kept, append(again, q.waiting...)
}

// rest is what is left of a job that is taken off its nodes.
func (j *Job) rest(now float64) *Job {
	left := *j
	left.Length = max(j.end()-now, 1)
	left.Arrived, left.nodes = now, nil
	return &left
}

// leave frees the job's units.
func (j *Job) leave() {
	for _, n := range j.nodes {
		n.each(func(_ *Device, u *Unit) {
			if u.Job == j {
				u.Job = nil
			}
		})
	}
}
