package console

import (
	"errors"
	"time"
)

// ErrUnknown says that nobody told of the node.
var ErrUnknown = errors.New("no such node")

// Node is a node as the map shows it, by its newest inventory.
type Node struct {
	Node         string  `json:"node"`
	Simulated    bool    `json:"simulated"`
	Cordoned     bool    `json:"cordoned"`
	Region       string  `json:"region"`
	Zone         string  `json:"zone"`
	Rack         string  `json:"rack"`
	Switch       string  `json:"switch"`
	Group        string  `json:"group"`  // label node_group, or the name without its number
	Vendor       string  `json:"vendor"` // of most of its accelerators, as Model; empty: it has none
	Model        string  `json:"model"`
	Accelerators uint16  `json:"accelerators"`
	Threads      *uint32 `json:"threads"`
	MemoryBytes  *uint64 `json:"memory_bytes"`
	Seen         int64   `json:"seen"` // unix ms, newest tick of its features in memory; 0: none
}

// NodeDetail is all that is known of one node.
type NodeDetail struct {
	Node
	Arch       string            `json:"arch"`
	Kernel     string            `json:"kernel"`
	OS         string            `json:"os"`
	Maker      string            `json:"maker"`
	Product    string            `json:"product"`
	Hypervisor string            `json:"hypervisor"`
	CPUModel   string            `json:"cpu_model"`
	Sockets    *uint16           `json:"sockets"`
	Cores      *uint32           `json:"cores"`
	NUMANodes  uint16            `json:"numa_nodes"`
	Taints     []string          `json:"taints"`
	Labels     map[string]string `json:"labels"`
	Unread     []string          `json:"unread"`    // what the agent could not read
	Collected  *time.Time        `json:"collected"` // of the inventory; null: there is none
	Facts      map[string]string `json:"facts"`
	Devices    []Device          `json:"devices"`
	Ports      []Port            `json:"ports"`
	Targets    []Target          `json:"targets"`
	Flags      []Flag            `json:"flags"`
	Faults     []Fault           `json:"faults"`
	Changes    []Change          `json:"changes"`
}

// Device is an accelerator, by the inventory. UID names its features.
type Device struct {
	UID         string   `json:"uid"`
	ID          string   `json:"id"`
	Vendor      string   `json:"vendor"`
	Kind        string   `json:"kind"`
	Model       string   `json:"model"`
	Generation  string   `json:"generation"`
	Firmware    string   `json:"firmware"`
	Driver      string   `json:"driver"`
	PCI         string   `json:"pci"`
	NUMA        *int16   `json:"numa"`
	MemoryBytes *uint64  `json:"memory_bytes"`
	PowerLimit  *float32 `json:"power_limit_watts"`
	LinkWidth   *uint8   `json:"link_width"`
	LinkMax     *uint8   `json:"link_max_width"`
	Partition   string   `json:"partition"`
	MIG         string   `json:"mig"`
	Sharing     string   `json:"sharing"`
	Slices      []string `json:"slices"` // profiles
	Simulated   bool     `json:"simulated"`
}

// Port is a network port.
type Port struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Model string   `json:"model"`
	DPU   string   `json:"dpu"`
	Speed *float64 `json:"bytes_per_second"`
	Up    *uint8   `json:"up"`
}

// Target is something that the node's agent scrapes.
type Target struct {
	Target  string    `json:"target"`
	Last    time.Time `json:"last"`
	Samples uint32    `json:"samples"` // of the last scrape
	State   string    `json:"state"`   // of the last scrape
	Records uint64    `json:"records"` // over the last 10 minutes, as the two below
	Failed  uint64    `json:"failed"`
	Late    uint64    `json:"late"` // samples
}

// Flag is something that was wrong with values of the last day: docs/quality.md.
type Flag struct {
	Flag    string    `json:"flag"`
	UID     string    `json:"uid"`
	Metric  string    `json:"metric"`
	Target  string    `json:"target"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Scrapes uint64    `json:"scrapes"`
	InForce bool      `json:"in_force"`
}

// Fault is an event of a device, such as an XID, of the last day.
type Fault struct {
	Time   time.Time `json:"time"`
	Device string    `json:"device"`
	Kind   string    `json:"kind"` // fault or clock
	Code   string    `json:"code"`
	Count  float64   `json:"count"`
}

// Change is a fact of the inventory that became another.
type Change struct {
	Time   time.Time `json:"time"`
	Fact   string    `json:"fact"`
	Before string    `json:"before"`
	After  string    `json:"after"`
}

// TaskQuery says which tasks. An empty text is any.
type TaskQuery struct {
	From, To             time.Time
	State, Tenant, Queue string
	Node                 string
	Limit                int
}

// Task is a task with the times of its bar and the promises that it broke.
type Task struct {
	Cluster      string     `json:"cluster"`
	Task         string     `json:"task"`
	Name         string     `json:"name"`
	Kind         string     `json:"kind"`
	Type         string     `json:"type"`
	State        string     `json:"state"`
	Tenant       string     `json:"tenant"`
	Queue        string     `json:"queue"`
	Node         string     `json:"node"`
	Devices      []string   `json:"devices"`
	Priority     *int64     `json:"priority"`
	Accelerators float64    `json:"accelerators"` // asked for
	CPUCores     float64    `json:"cpu_cores"`
	MemoryBytes  float64    `json:"memory_bytes"`
	Begun        time.Time  `json:"begun"` // first that is known of it
	WaitingFrom  *time.Time `json:"waiting_from"`
	Scheduled    *time.Time `json:"scheduled"`
	Started      *time.Time `json:"started"`
	Evicted      *time.Time `json:"evicted"`
	Changed      time.Time  `json:"changed"` // when State began
	Ended        bool       `json:"ended"`
	Deadline     *time.Time `json:"deadline"`
	MaxQueue     *float64   `json:"max_queue_seconds"`
	Evictions    uint64     `json:"evictions"`
	Reason       string     `json:"reason"`
	Simulated    bool       `json:"simulated"`
	Breaks       []Break    `json:"breaks"`
}

// Break is a promise that was broken.
type Break struct {
	Kind     string    `json:"kind"` // queue_time, deadline or latency
	Time     time.Time `json:"time"`
	Promised float64   `json:"promised_seconds"`
	Measured float64   `json:"measured_seconds"`
}

// Window is the time that a Line tells of.
const Window = 15 * time.Minute

// Line is how records flowed through each step.
type Line struct {
	At         time.Time   `json:"at"`
	Window     float64     `json:"window_seconds"`
	Flow       []Flow      `json:"flow"` // by 10 s of the scrape, the oldest first
	Collectors Collectors  `json:"collectors"`
	Partitions []Partition `json:"partitions"`
	Dead       []Dead      `json:"dead"` // records that could never be read, over a day
	Tables     []Table     `json:"tables"`
}

// Flow is 10 seconds of records. Transport is from scrape to Kafka, storage from Kafka to
// ClickHouse, in seconds.
type Flow struct {
	Time         int64   `json:"time"` // unix ms
	Records      uint64  `json:"records"`
	Samples      uint64  `json:"samples"`
	Late         uint64  `json:"late"`
	Repeated     uint64  `json:"repeated"` // samples of a series and time that were there already
	TransportP50 float64 `json:"transport_p50"`
	TransportP99 float64 `json:"transport_p99"`
	StorageP50   float64 `json:"storage_p50"`
	StorageP99   float64 `json:"storage_p99"`
}

// Collectors is who reported over the window.
type Collectors struct {
	Nodes   uint64     `json:"nodes"`
	Agents  uint64     `json:"agents"`
	Targets uint64     `json:"targets"`
	Records uint64     `json:"records"`
	Partial uint64     `json:"partial"` // scrapes
	Failed  uint64     `json:"failed"`
	Newest  *time.Time `json:"newest_scrape"`
	Stored  *time.Time `json:"newest_stored"`
}

// Partition is one of Kafka's, as far as it is stored.
type Partition struct {
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Records   uint64    `json:"records"` // over the window
	Appended  time.Time `json:"appended"`
	Lag       float64   `json:"lag_seconds"` // of its newest record, from Kafka to ClickHouse
}

// Dead is how many records of a topic were set aside.
type Dead struct {
	Topic   string    `json:"topic"`
	Reason  string    `json:"reason"`
	Records uint64    `json:"records"`
	Last    time.Time `json:"last"`
}

// Table is what a table holds.
type Table struct {
	Table string `json:"table"`
	Rows  uint64 `json:"rows"`
	Bytes uint64 `json:"bytes"` // on disk
}

// Ledger is the balance: lost, missing and duplicate must be 0. Expected is what the ledger
// claimed when the visible samples were counted; some of them may be ahead of it.
type Ledger struct {
	At        time.Time `json:"at"`
	Agents    uint64    `json:"agents"`
	Received  uint64    `json:"received"`
	Lost      uint64    `json:"lost"`
	Dropped   uint64    `json:"dropped"`
	Pending   uint64    `json:"pending"`
	Resent    uint64    `json:"resent"`
	Expected  uint64    `json:"expected"`
	Visible   uint64    `json:"visible"`
	Missing   uint64    `json:"missing"`
	Duplicate uint64    `json:"duplicate"`
}
