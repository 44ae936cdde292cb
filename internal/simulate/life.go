package simulate

// Step is a step in the life of a job.
type Step string

// The steps. A job that was evicted waits again, with the same id.
const (
	Arrived Step = "arrived"
	Placed  Step = "placed"
	Ended   Step = "ended"
	Evicted Step = "evicted"
)

// Happening is a step of one job, as it is taken.
type Happening struct {
	Step   Step
	At     int64 // unix ms
	Job    *Job
	Group  *Group // that it was submitted to
	Reason string // of an eviction
	Ranks  int    // nodes that a job which arrives will need, as far as is known
	Parts  []Part // where it was placed
}

// Part is what a job has on one node.
type Part struct {
	Node  *Node
	Units []Place
}

// Place is a device or a slice of it; of a node without accelerators, a share of its CPUs.
type Place struct {
	UID    string // of the device; empty: a share of the CPUs
	Vendor Vendor
	Model  string
	Slice  *Slice // nil: the whole device
}

// Follow tells f each step of each job from now on, in order, and first how the jobs that wait
// or run came there. f is called while the cluster moves and must not use it.
func (c *Cluster) Follow(f func(Happening)) {
	now := float64(c.ticks) * Tick.Seconds()
	for _, q := range c.groups {
		q.tell, q.now, q.at = f, now, c.start+c.ticks*Tick.Milliseconds()
		for _, j := range q.running {
			q.happenAt(Arrived, j, "", q.unix(j.Arrived))
			q.happenAt(Placed, j, "", q.unix(j.Start))
		}
		for _, j := range q.waiting {
			q.happenAt(Arrived, j, "", q.unix(j.Arrived))
		}
	}
}

// unix is a virtual second as unix ms.
func (q *queue) unix(second float64) int64 { return q.at - int64((q.now-second)*1000) }

func (q *queue) happen(s Step, j *Job, reason string) { q.happenAt(s, j, reason, q.at) }

func (q *queue) happenAt(s Step, j *Job, reason string, at int64) {
	if q.tell == nil {
		return
	}
	h := Happening{Step: s, At: at, Job: j, Group: q.group, Reason: reason}
	switch s {
	case Arrived:
		per := max(len(usable(q.nodes[0], j.Kind)), 1)
		h.Ranks = max((j.Units+per-1)/per, 1)
	case Placed:
		h.Parts = j.parts()
	}
	q.tell(h)
}

// parts are the job's units by node, in the order of its ranks.
func (j *Job) parts() []Part {
	var out []Part
	for _, n := range j.nodes {
		p := Part{Node: n}
		n.each(func(d *Device, u *Unit) {
			switch {
			case u.Job != j:
			case d == nil:
				p.Units = append(p.Units, Place{})
			default:
				p.Units = append(p.Units, Place{d.UID, d.Vendor, d.Name, u.Slice})
			}
		})
		out = append(out, p)
	}
	return out
}
