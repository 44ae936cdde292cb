package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Kinds of jobs.
const (
	Training  = "training"  // a gang that is busy, and stops for checkpoints
	Inference = "inference" // follows its users, in waves
	Batch     = "batch"     // short, on and off
	Notebook  = "notebook"  // holds a device and hardly uses it
	Traced    = "trace"     // does what a trace says
)

var jobKinds = []string{Training, Inference, Batch, Notebook}

// Job is work on some units, of one node or several. It does not change once it runs.
type Job struct {
	ID        int
	Kind      string
	Name      string // its pods are Name-worker-0 and on
	Namespace string
	Container string
	Units     int
	Arrived   float64 // virtual seconds: when it began to wait
	Start     float64 // virtual seconds; before 0 if it ran when the simulation began
	Length    float64 // seconds that it runs from Start

	level, period, phase, memory float64 // what makes this job differ from others of its kind
	series                       *Series // of a traced job
	speed                        float64

	nodes []*Node // by rank
}

func (j *Job) end() float64 { return j.Start + j.Length }

// Pod is the name of the job's pod on a node.
func (j *Job) Pod(n *Node) string {
	for i, on := range j.nodes {
		if on.Name == n.Name {
			return fmt.Sprintf("%s-worker-%d", j.Name, i)
		}
	}
	return j.Name + "-worker-0"
}

var containers = map[string]string{Training: "train", Inference: "infer", Batch: "batch", Notebook: "notebook", Traced: "serve"}

// kindOf describes the lengths of a kind of job, in minutes.
var lengths = map[string][2]float64{Training: {20, 120}, Inference: {30, 240}, Batch: {2, 15}, Notebook: {10, 90}}

// draw makes a job of a random kind for nodes that have per units each.
func (w *Workload) draw(id int, per, nodes int, r *rand.Rand) *Job {
	kind := w.pick(r)
	j := &Job{ID: id, Kind: kind, Namespace: fmt.Sprintf("team-%c", 'a'+r.IntN(5)), Container: containers[kind], Units: 1}
	j.Name = fmt.Sprintf("%s-%05d", j.Container, id)
	span := lengths[kind]
	j.Length = 60 * (span[0] + (span[1]-span[0])*r.Float64())
	j.phase = r.Float64()
	j.level = r.Float64()
	j.memory = r.Float64()
	j.period = r.Float64()
	switch kind {
	case Training:
		j.Units = []int{1, 2, 4, 8, 8, 16}[r.IntN(6)]
	case Inference:
		j.Units = []int{1, 1, 1, 2}[r.IntN(4)]
	}
	// More than a node holds is a whole number of nodes.
	switch per = max(per, 1); {
	case j.Units > per && nodes > 1:
		j.Units = 2 * per
	case j.Units > per:
		j.Units = per
	}
	return j
}

func (w *Workload) pick(r *rand.Rand) string {
	sum := 0.0
	for _, k := range jobKinds {
		sum += w.Mix[k]
	}
	x := r.Float64() * sum
	for _, k := range jobKinds {
		if x < w.Mix[k] {
			return k
		}
		x -= w.Mix[k]
	}
	return Batch
}

// demand is what a job asks of one unit and of the host beside it.
type demand struct {
	busy, tensor, stream float64 // 0 to 1, of the unit
	memory               float64 // share of the unit's memory
	bytes                float64 // or so many bytes, if the unit has them
	pcieRx, pcieTx, link float64 // share of the device's

	cpus             float64 // cores
	hostMemory       float64 // bytes
	rx, tx           float64 // bytes per second on eth0
	fabric           float64 // bytes per second and direction between nodes
	diskRead, diskWr float64 // bytes per second
}

// at is the job's demand on each of its units, age seconds after its start.
func (j *Job) at(age float64) demand {
	switch j.Kind {
	case Training:
		return j.training(age)
	case Inference:
		return j.inference(age)
	case Batch:
		return j.batch(age)
	case Traced:
		return j.traced(age)
	default:
		return j.notebook(age)
	}
}

// training loads for a minute, then computes, and every few minutes writes a checkpoint
// for 15 s, in which the devices wait.
func (j *Job) training(age float64) demand {
	d := demand{busy: 0.86 + 0.12*j.level, tensor: 0.45 + 0.35*j.level, stream: 0.35 + 0.2*j.memory, memory: 0.6 + 0.35*j.memory,
		pcieRx: 0.05, pcieTx: 0.02, cpus: 1.5 + j.level, hostMemory: 10 * gib, rx: 40e6, tx: 2e6, diskRead: 30e6}
	if j.Units > 1 {
		d.link = 0.35 + 0.2*j.level
	}
	if len(j.nodes) > 1 {
		d.fabric = 4e9 * (0.7 + 0.3*j.level)
	}
	every := 240 + 360*j.period
	switch into := math.Mod(age+j.phase*every, every); {
	case age < 60:
		d.busy, d.tensor, d.stream, d.link, d.fabric = 0.15, 0, 0.05, 0, 0
		d.memory *= age / 60
		d.diskRead, d.cpus = 400e6, 3
	case into > every-15:
		d.busy, d.tensor, d.stream, d.link, d.fabric = 0.02, 0, 0.02, 0, 0
		d.pcieTx, d.diskWr, d.tx = 0.3, 500e6, 60e6
	}
	return d
}

// inference rises and falls with its users: a wave of 10 to 30 minutes.
func (j *Job) inference(age float64) demand {
	wave := 0.5 + 0.5*math.Sin(2*math.Pi*(age/(600+1200*j.period)+j.phase))
	busy := (0.1 + 0.8*wave) * (0.4 + 0.6*j.level)
	return demand{busy: busy, tensor: 0.35 * busy, stream: 0.75 * busy, memory: 0.5 + 0.4*j.memory, pcieRx: 0.02 * busy, pcieTx: 0.02 * busy,
		link: 0.05 * busy, cpus: 0.3 + 2*busy, hostMemory: 6 * gib, rx: 30e6 * busy, tx: 60e6 * busy}
}

// batch computes for a while and reads its next piece for a while.
func (j *Job) batch(age float64) demand {
	on, off := 60+120*j.period, 10+20*j.phase
	d := demand{busy: 0.55 + 0.4*j.level, tensor: 0.2 * j.level, stream: 0.4, memory: 0.2 + 0.3*j.memory, pcieRx: 0.1, pcieTx: 0.05,
		cpus: 2, hostMemory: 4 * gib, diskRead: 10e6, diskWr: 5e6}
	if math.Mod(age, on+off) > on {
		d.busy, d.tensor, d.stream, d.pcieRx = 0.03, 0, 0.02, 0.25
		d.diskRead, d.rx, d.cpus = 300e6, 80e6, 1
	}
	return d
}

// notebook is a person: a cell runs for 5 s every two minutes.
func (j *Job) notebook(age float64) demand {
	d := demand{memory: 0.05 + 0.15*j.memory, cpus: 0.05, hostMemory: 2 * gib, rx: 1e3, tx: 1e3}
	if math.Mod(age+120*j.phase, 120) < 5 {
		d.busy, d.tensor, d.stream, d.cpus = 0.3+0.3*j.level, 0.1, 0.2, 1
	}
	return d
}

// traced does what the trace says, over and over.
func (j *Job) traced(age float64) demand {
	busy, bytes := j.series.at(j.phase + age*j.speed)
	return demand{busy: busy, tensor: 0.4 * busy, stream: 0.6 * busy, memory: 0.6, bytes: bytes, pcieRx: 0.02 * busy, pcieTx: 0.02 * busy,
		cpus: 0.2 + 2*busy, hostMemory: 6 * gib, rx: 30e6 * busy, tx: 60e6 * busy}
}
