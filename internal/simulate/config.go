package simulate

import (
	"path"
	"slices"
	"strconv"
	"time"

	"sextant/internal/config"
)

// Config describes a cluster, the work on it and its faults. It is what a cluster file
// holds; Parse reads one.
type Config struct {
	Name     string   `yaml:"name"`
	Seed     uint64   `yaml:"seed"`
	Groups   []Group  `yaml:"groups"`
	Workload Workload `yaml:"workload"`
	Faults   []Fault  `yaml:"faults"`
}

// Group is a number of like nodes, called sim-<name>-<number>.
type Group struct {
	Name    string                     `yaml:"name"`
	Nodes   int                        `yaml:"nodes"`
	Host    Host                       `yaml:"host"`
	Devices []Devices                  `yaml:"devices"`
	Periods map[string]config.Duration `yaml:"periods"` // by exporter: how often it samples its devices
	Intel   string                     `yaml:"intel"`   // exporter of Intel devices: xpumd or xpum
}

// Host is what a node is made of beside its devices.
type Host struct {
	CPUs    int          `yaml:"cpus"`
	Sockets int          `yaml:"sockets"`
	Memory  config.Bytes `yaml:"memory"`
	Network config.Bytes `yaml:"network"` // of eth0, per second
	Disk    config.Bytes `yaml:"disk"`    // size of the root file system
	Model   string       `yaml:"model"`   // of the CPU
	Arch    string       `yaml:"arch"`    // as uname -m prints it
}

// Devices are like devices of a node.
type Devices struct {
	Vendor Vendor   `yaml:"vendor"`
	Model  string   `yaml:"model"`
	Count  int      `yaml:"count"`
	Layout []string `yaml:"layout"` // MIG profiles, vNPU templates, or one AMD partitioning
}

// Sources of work.
const (
	Synthetic = "synthetic"
	FromTrace = "trace"
)

// Workload says what the devices do.
type Workload struct {
	Source string             `yaml:"source"` // synthetic or trace
	Load   float64            `yaml:"load"`   // share of the devices that is given out, on average
	Mix    map[string]float64 `yaml:"mix"`    // weight by kind of job
	Trace  TraceConfig        `yaml:"trace"`
}

// TraceConfig names the files of a duty-cycle trace.
type TraceConfig struct {
	Duty   string  `yaml:"duty"`   // percent of time that a container's GPU was busy
	Memory string  `yaml:"memory"` // bytes of device memory that it held; may be empty
	Speed  float64 `yaml:"speed"`  // trace seconds per second
}

// Fault is something that goes wrong, once or again and again.
type Fault struct {
	Kind        FaultKind       `yaml:"kind"`
	At          config.Duration `yaml:"at"`          // after the start, once
	Every       config.Duration `yaml:"every"`       // or at each multiple of this,
	Probability float64         `yaml:"probability"` // with this probability on each node
	For         config.Duration `yaml:"for"`
	Nodes       string          `yaml:"nodes"`  // glob of node names; default all that can have it
	Device      *int            `yaml:"device"` // index on its node; default: drawn

	Code     int             `yaml:"code"`     // xid, error_code: the code
	Class    string          `yaml:"class"`    // ecc: single or double
	Count    int             `yaml:"count"`    // ecc: errors
	Celsius  float64         `yaml:"celsius"`  // thermal: how much warmer the air gets
	Watts    float64         `yaml:"watts"`    // power: the new cap
	Exporter string          `yaml:"exporter"` // freeze: which one
	Layout   []string        `yaml:"layout"`   // layout: the new one
	Skew     config.Duration `yaml:"skew"`     // clock_skew: how far ahead
	Behind   bool            `yaml:"behind"`   // clock_skew: behind, not ahead
	Metric   string          `yaml:"metric"`   // blank: which one
}

// FaultKind names what goes wrong.
type FaultKind string

// The faults.
const (
	FaultXID       FaultKind = "xid"             // an NVIDIA device reports an XID; it stays until the next
	FaultError     FaultKind = "error_code"      // an Ascend device reports an error code
	FaultECC       FaultKind = "ecc"             // memory errors are counted
	FaultThermal   FaultKind = "thermal"         // the air gets warmer: a fan fails
	FaultPower     FaultKind = "power"           // the power cap is lowered
	FaultFreeze    FaultKind = "freeze"          // an exporter repeats one body
	FaultLayout    FaultKind = "layout"          // a device is sliced in another way; its work is gone
	FaultNodeLoss  FaultKind = "node_loss"       // a node does not answer, and comes back rebooted
	FaultClockSkew FaultKind = "clock_skew"      // a node's clock is wrong
	FaultUnescaped FaultKind = "unescaped_label" // a quote in a label of dcgm-exporter
	FaultLinkDown  FaultKind = "link_down"       // a port of a network adapter is down, and its series are gone
	FaultBlank     FaultKind = "blank"           // a reading has no value, and the exporter prints its sentinel
)

// Defaults of what a file may leave out.
var (
	defaultHost = Host{CPUs: 32, Sockets: 2, Memory: 256 << 30, Network: 12_500_000_000, Disk: 1 << 40,
		Model: "Simulated CPU", Arch: "x86_64"}
	defaultMix = map[string]float64{Training: 4, Inference: 3, Batch: 2, Notebook: 1}
)

// Limits, so that a slip of a key is an error and not a machine without memory.
const (
	maxNodes         = 2000
	maxDevicesOfNode = 64
	maxUnits         = 100_000
)

func (c *Config) setDefaults() {
	def(&c.Name, "simulated")
	def(&c.Workload.Source, Synthetic)
	def(&c.Workload.Load, 0.7)
	def(&c.Workload.Trace.Speed, 1)
	if c.Workload.Mix == nil {
		c.Workload.Mix = defaultMix
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		def(&g.Nodes, 1)
		def(&g.Intel, XPUMD)
		h, d := &g.Host, defaultHost
		def(&h.CPUs, d.CPUs)
		def(&h.Sockets, min(d.Sockets, h.CPUs))
		def(&h.Memory, d.Memory)
		def(&h.Network, d.Network)
		def(&h.Disk, d.Disk)
		def(&h.Model, d.Model)
		def(&h.Arch, d.Arch)
		for j := range g.Devices {
			def(&g.Devices[j].Count, 1)
		}
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		def(&f.Probability, 1)
		def(&f.Nodes, "*")
		def(&f.For, config.Duration(time.Minute))
		switch f.Kind {
		case FaultXID:
			def(&f.Code, 79)
		case FaultError:
			def(&f.Code, 0x80CB8009)
		case FaultECC:
			def(&f.Class, "single")
			def(&f.Count, 1)
		case FaultThermal:
			def(&f.Celsius, 35)
		}
	}
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Exporters, by the name that they go by. They are the jobs of the scrape configuration.
const (
	NodeExporter = "node-exporter"
	CAdvisor     = "cadvisor"
	DCGM         = "dcgm-exporter"
	NPU          = "npu-exporter"
	AMDExporter  = "amd-device-metrics-exporter"
	XPUMD        = "xpumd"
	XPUM         = "xpum"
	GaudiMetrics = "gaudi-exporter"
	DTS          = "doca-telemetry"
)

// Exporters lists all of them.
func Exporters() []string {
	return []string{NodeExporter, CAdvisor, DCGM, NPU, AMDExporter, XPUMD, XPUM, GaudiMetrics, DTS}
}

// exporterOf names the exporter of a vendor's devices in a group.
func (g *Group) exporterOf(v Vendor) string {
	switch v {
	case NVIDIA:
		return DCGM
	case Ascend:
		return NPU
	case AMD:
		return AMDExporter
	case Intel:
		return g.Intel
	case Gaudi:
		return GaudiMetrics
	default:
		return DTS
	}
}

// exporters lists what runs on each node of the group.
func (g *Group) exporters() []string {
	out := []string{NodeExporter, CAdvisor}
	for _, d := range g.Devices {
		if e := g.exporterOf(d.Vendor); !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// periods are how often exporters look at their devices, in seconds, where that is not at
// each scrape. npu-exporter, the Gaudi exporter and cAdvisor have these by default,
// dcgm-exporter when it is started with -c 10000 for a scrape every 10 s (it ships with
// 30 s).
var periods = map[string]int{DCGM: 10, NPU: 5, GaudiMetrics: 30, CAdvisor: 10}

func (g *Group) period(exporter string) int {
	if p, ok := g.Periods[exporter]; ok {
		return int(p.D() / time.Second)
	}
	return max(periods[exporter], 1)
}

// nodeName is the name of a group's node, counted from 0.
func (g *Group) nodeName(i int) string {
	n := strconv.Itoa(i)
	for len(n) < len(strconv.Itoa(g.Nodes-1)) || len(n) < 2 {
		n = "0" + n
	}
	return "sim-" + g.Name + "-" + n
}

func (f *Fault) matches(node string) bool {
	ok, _ := path.Match(f.Nodes, node)
	return ok
}
