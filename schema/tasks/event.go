// Package tasks is the contract of the business tier: one event for each thing that
// happens to a pod, a job or what else is placed. An event is a JSON object. Whoever
// knows of tasks sends events: a watcher of Kubernetes, Slurm, a home-grown scheduler.
//
// An event says what its sender knows, and may leave out what an earlier one said. Events
// may come late, twice and in any order: what a task is follows from the set of its
// events, ordered by time, sequence, state and id, and not from the order of arrival.
//
// Points in time are RFC 3339 with a zone, kept to the millisecond; durations are
// seconds, memory is bytes, CPU is cores.
package tasks

import "slices"

// Version is the version of the event that this package reads and writes.
const Version = 1

// State is what happened to a task.
type State string

// The states, in the order in which events of one time and sequence count.
const (
	Updated   State = "updated" // more is known; the state stays
	Submitted State = "submitted"
	Queued    State = "queued"
	Scheduled State = "scheduled" // bound to a node
	Started   State = "started"
	Evicted   State = "evicted" // preempted or lost with its node; it may be queued again
	Cancelled State = "cancelled"
	Failed    State = "failed"
	Finished  State = "finished" // with success
)

// States lists all states in their order.
var States = []State{Updated, Submitted, Queued, Scheduled, Started, Evicted, Cancelled, Failed, Finished}

// Rank is the place of s in States, or -1.
func (s State) Rank() int { return slices.Index(States, s) }

// Ends reports whether nothing can follow s.
func (s State) Ends() bool { return s == Cancelled || s == Failed || s == Finished }

// Kinds of tasks. A workload is what a queue admits, such as Kueue's.
var Kinds = []string{"pod", "job", "podgroup", "workload", "slurm", "custom"}

// Event is one event. Event id, task, state, time and source are always there.
type Event struct {
	ID       string // the same event sent twice has the same id
	Task     string // uid, unique within the cluster
	Cluster  string
	State    State
	Time     int64  // when it happened, unix ms
	Sequence uint64 // orders events of one time; 0: the sender does not count
	Source   string // who says so, such as slurm-controller

	Kind          string // one of Kinds
	Name          string
	Namespace     string
	Tenant        string // who pays; often the namespace
	Queue         string
	Type          string // such as training or inference
	PriorityClass string
	Priority      *int64
	QoS           string
	Owners        []Owner  // from the nearest up: a pod's job, the job's workflow
	Group         string   // id of the gang that is placed together
	GroupSize     int      // tasks in the gang
	Dependencies  []string // tasks that must finish before
	Node          string   // where it is bound
	Devices       []string // uids, on Node
	Requests      map[string]float64
	Limits        map[string]float64
	SLO           SLO
	Labels        map[string]string
	Simulated     bool

	Reason   string // why, in words
	ExitCode *int32
}

// Owner is an object that the task belongs to.
type Owner struct{ Kind, Name, ID string }

// SLO is what was promised. A field that is 0 was not.
type SLO struct {
	Deadline      int64   // unix ms
	MaxQueue      float64 // s from queued, or submitted, to scheduled
	LatencyTarget float64 // s, of a request to a serving task
}

// Key is the key of the task's records: all its events are in one partition, in order.
func (e *Event) Key() []byte { return []byte(e.Cluster + "/" + e.Task) }
