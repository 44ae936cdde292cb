// Package inventory is the contract of the static tier: one document for each node that
// says what the node is made of, what each part of it is and how the parts hang together.
// It is JSON, so that a person can read it off the topic, and versioned: a reader ignores
// keys that it does not know and refuses a version that it does not know.
//
// Sizes are bytes, rates bytes per second in one direction, times seconds, points in time
// Unix milliseconds. What is unknown is left out and never 0 in its place; a NUMA node
// that is unknown is -1, as in the kernel.
package inventory

// Version is the version of the document that this package writes.
const Version = 1

// Document is the inventory of one node.
type Document struct {
	Version   int    `json:"version"`
	Node      string `json:"node"`
	Collected int64  `json:"collected_ms"` // when the node was read
	Since     int64  `json:"since_ms"`     // first read with this content by this run of the agent
	Hash      string `json:"hash"`         // of the content: all but collected_ms, since_ms and itself
	Simulated bool   `json:"simulated,omitempty"`

	Host       Host              `json:"host"`
	CPU        CPU               `json:"cpu"`
	Memory     Memory            `json:"memory"`
	NUMA       []NUMANode        `json:"numa,omitempty"`
	Devices    []Device          `json:"devices,omitempty"`
	NICs       []NIC             `json:"nics,omitempty"`
	Disks      []Disk            `json:"disks,omitempty"`
	PCI        []PCIFunction     `json:"pci,omitempty"`
	Links      []Link            `json:"links,omitempty"`
	Place      Place             `json:"place"`
	Kubernetes *Kubernetes       `json:"kubernetes,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"` // free, from the agent's configuration

	// Faults is what could not be read, in words. The rest of the document is still right.
	Faults []string `json:"faults,omitempty"`
}

// Host is the machine and its system.
type Host struct {
	Hostname   string `json:"hostname,omitempty"`
	Arch       string `json:"arch,omitempty"`       // as uname -m
	Kernel     string `json:"kernel,omitempty"`     // release
	OS         string `json:"os,omitempty"`         // ID of os-release
	OSVersion  string `json:"os_version,omitempty"` // VERSION_ID
	OSName     string `json:"os_name,omitempty"`    // PRETTY_NAME
	BootID     string `json:"boot_id,omitempty"`    // a new one after each start
	Vendor     string `json:"vendor,omitempty"`     // DMI: maker of the system
	Product    string `json:"product,omitempty"`    // DMI: its product name
	BIOS       string `json:"bios,omitempty"`       // DMI: BIOS version
	Hypervisor string `json:"hypervisor,omitempty"` // "" on bare metal, "yes" when only the CPU tells
}

// CPU is all processors of the node; they are of one model.
type CPU struct {
	Model     string   `json:"model,omitempty"`
	Vendor    string   `json:"vendor,omitempty"`
	Family    string   `json:"family,omitempty"`
	Stepping  string   `json:"stepping,omitempty"`
	Microcode string   `json:"microcode,omitempty"`
	Sockets   int      `json:"sockets,omitempty"`
	Cores     int      `json:"cores,omitempty"`      // physical, online
	Threads   int      `json:"threads,omitempty"`    // online
	BaseHertz float64  `json:"base_hertz,omitempty"` // that all cores hold at once, where the kernel tells
	MaxHertz  float64  `json:"max_hertz,omitempty"`
	Isolated  string   `json:"isolated,omitempty"` // CPUs outside the kernel's scheduler, as 2-5,8
	Features  []string `json:"features,omitempty"` // the instruction sets that matter for placement
}

// Memory is the node's memory. What is in use at the moment is telemetry, not inventory.
type Memory struct {
	Total     uint64      `json:"total_bytes,omitempty"`
	Swap      uint64      `json:"swap_bytes,omitempty"`
	HugePages []HugePages `json:"huge_pages,omitempty"`
}

// HugePages is the pool of one page size.
type HugePages struct {
	Size  uint64 `json:"size_bytes"`
	Count uint64 `json:"count"`
}

// NUMANode is one NUMA node.
type NUMANode struct {
	ID        int         `json:"id"`
	CPUs      string      `json:"cpus,omitempty"` // as 0-31,64-95; empty for memory without CPUs
	Memory    uint64      `json:"memory_bytes,omitempty"`
	Distances []int       `json:"distances,omitempty"` // ACPI SLIT, in the order of the document's nodes; 10 is local
	HugePages []HugePages `json:"huge_pages,omitempty"`
	Latency   float64     `json:"read_latency_seconds,omitempty"` // of the nearest CPUs, where firmware tells (HMAT)
	Bandwidth float64     `json:"read_bandwidth,omitempty"`       // bytes/s, likewise
}

// Device is an accelerator.
type Device struct {
	ID         string `json:"id"`            // UID, or the PCI address where no source gives a UID
	UID        string `json:"uid,omitempty"` // the vendor's
	Vendor     string `json:"vendor"`        // nvidia, amd, intel, huawei, habana
	Kind       string `json:"kind"`          // gpu, npu, hpu, accelerator
	Model      string `json:"model,omitempty"`
	Generation string `json:"generation,omitempty"` // of the chip, such as Hopper or CDNA3
	Capability string `json:"compute_capability,omitempty"`
	Memory     uint64 `json:"memory_bytes,omitempty"`
	Firmware   string `json:"firmware,omitempty"`
	Partition  string `json:"partition,omitempty"` // of the whole device, such as CPX/NPS4

	PowerLimit  float64 `json:"power_limit_watts,omitempty"` // the vendor's, not the one that somebody set
	MaxHertz    float64 `json:"max_hertz,omitempty"`         // highest clock of the compute units
	MemoryHertz float64 `json:"memory_max_hertz,omitempty"`  // highest clock of the memory
	MIG         string  `json:"mig,omitempty"`               // enabled or disabled; empty: it cannot be sliced so, or nobody said
	Sharing     string  `json:"sharing,omitempty"`           // how whole devices are shared: time-slicing, mps, hami
	Replicas    int     `json:"replicas,omitempty"`          // pods that may share the device so
	PCIPlace
	Slices []Slice `json:"slices,omitempty"`
}

// Slice is a part of a device that can be given away alone.
type Slice struct {
	ID      string  `json:"id"`            // the vendor's uid, or its number within the device
	UID     string  `json:"uid,omitempty"` // the vendor's, where the id is a number: a MIG device's uuid
	Kind    string  `json:"kind"`          // mig_gpu, mig_compute, vnpu, partition
	Parent  string  `json:"parent,omitempty"`
	Profile string  `json:"profile,omitempty"` // such as 1g.10gb or vir04
	Memory  uint64  `json:"memory_bytes,omitempty"`
	Cores   float64 `json:"cores,omitempty"` // compute slices or AI cores
}

// PCIPlace is where a part sits on PCI.
type PCIPlace struct {
	PCI           string   `json:"pci,omitempty"`       // address, such as 0000:17:00.0
	PCIID         string   `json:"pci_id,omitempty"`    // vendor:device, such as 10de:2330
	Subsystem     string   `json:"subsystem,omitempty"` // likewise
	NUMA          int      `json:"numa"`
	Driver        string   `json:"driver,omitempty"`
	DriverVersion string   `json:"driver_version,omitempty"`
	Link          *PCILink `json:"link,omitempty"`
}

// PCILink is the PCIe link above a part. Its speed is what both ends can do: the speed of
// the moment falls when a device idles and is no inventory.
type PCILink struct {
	Speed     float64 `json:"gigatransfers"` // GT/s
	Width     int     `json:"width"`         // lanes in use
	MaxWidth  int     `json:"max_width"`     // lanes that both ends have
	Bandwidth float64 `json:"bandwidth"`     // bytes/s after line coding
}

// Degraded says that lanes are missing.
func (l *PCILink) Degraded() bool { return l != nil && l.Width < l.MaxWidth }

// NIC is a network port. A DPU's ports have its name in DPU.
type NIC struct {
	ID       string  `json:"id"`             // PCI address, and the port behind it where there are several
	Name     string  `json:"name,omitempty"` // of the network device; empty for RDMA without one
	MAC      string  `json:"mac,omitempty"`
	Type     string  `json:"type"` // ethernet, infiniband
	Speed    float64 `json:"speed,omitempty"`
	Up       bool    `json:"up"`
	MTU      int     `json:"mtu,omitempty"`
	Model    string  `json:"model,omitempty"`
	RDMA     string  `json:"rdma,omitempty"` // RDMA device
	DPU      string  `json:"dpu,omitempty"`  // BlueField-2, BlueField-3
	Firmware string  `json:"firmware,omitempty"`
	VFs      int     `json:"vfs,omitempty"` // virtual functions in use
	PCIPlace
}

// Disk is a block device.
type Disk struct {
	ID         string `json:"id"` // WWN or serial, else PCI address and name
	Name       string `json:"name"`
	Model      string `json:"model,omitempty"`
	Size       uint64 `json:"size_bytes"`
	Rotational bool   `json:"rotational"`
	PCIPlace
}

// PCIFunction is a node of the PCI tree: a bridge, or a part that the document names.
type PCIFunction struct {
	Address string   `json:"address"`
	Parent  string   `json:"parent"` // address of the bridge above, or the root such as pci0000:00
	Class   string   `json:"class"`  // six hexadecimal digits
	ID      string   `json:"id"`     // vendor:device
	NUMA    int      `json:"numa"`
	Driver  string   `json:"driver,omitempty"`
	Link    *PCILink `json:"link,omitempty"`
}

// Place is where the node stands, as far as it was told.
type Place struct {
	Region string `json:"region,omitempty"`
	Zone   string `json:"zone,omitempty"`
	Rack   string `json:"rack,omitempty"`
	Switch string `json:"switch,omitempty"` // the network switch that the node hangs on
}

// Kubernetes is the node object.
type Kubernetes struct {
	Name        string            `json:"name,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Taints      []Taint           `json:"taints,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"` // quantities as Kubernetes writes them
	Capacity    map[string]string `json:"capacity,omitempty"`
	Cordoned    bool              `json:"cordoned,omitempty"` // spec.unschedulable
}

// Taint is a taint of the node object.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}
