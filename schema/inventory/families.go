package inventory

// Family is a metric of the static tier: what its series are called and what they mean.
type Family struct{ Name, Help string }

// The families, by what they are about. All are gauges. A family named _info has the value
// 1, and its labels are the fact. Sizes are bytes, rates bytes per second in one direction.
// The catalogue has each of them (schema/catalog/inventory.yaml).
var (
	nodeInfo    = family("inventory_node_info", "What a node is and where it stands.")
	nodeLabel   = family("inventory_node_label_info", "A label that the agent's configuration gives the node.")
	cpuSockets  = family("inventory_cpu_sockets", "CPU packages.")
	cpuCores    = family("inventory_cpu_cores", "Physical cores that are online.")
	cpuThreads  = family("inventory_cpu_threads", "Hardware threads that are online.")
	cpuBase     = family("inventory_cpu_base_hertz", "Clock that all cores hold at once.")
	cpuMax      = family("inventory_cpu_max_hertz", "Highest clock of a core.")
	numaNodes   = family("inventory_numa_nodes", "NUMA nodes.")
	numaMemory  = family("inventory_numa_memory_bytes", "Memory of a NUMA node.")
	memoryTotal = family("inventory_memory_bytes", "Memory of the node.")
	swapTotal   = family("inventory_swap_bytes", "Swap space of the node.")
	devices     = family("inventory_devices", "Accelerators of the node, of a vendor and model.")
	nics        = family("inventory_nics", "Network ports of the node.")
	linksLeft   = family("inventory_links_left_out", "Links that are in the document and not in the series, because there are too many.")

	deviceInfo    = family("inventory_device_info", "What an accelerator is.")
	deviceMemory  = family("inventory_device_memory_bytes", "Memory of an accelerator.")
	devicePower   = family("inventory_device_power_limit_watts", "Power limit that the vendor set.")
	deviceClock   = family("inventory_device_clock_max_hertz", "Highest clock of a domain.")
	deviceCC      = family("inventory_device_compute_capability", "Compute capability as a number, 9 for 9.0.")
	devicePCIe    = family("inventory_device_pcie_generation", "PCIe generation of the link above a device, of what both ends can do.")
	deviceLanes   = family("inventory_device_pcie_lanes", "PCIe lanes in use.")
	deviceMaxLane = family("inventory_device_pcie_max_lanes", "PCIe lanes that both ends have.")
	deviceBus     = family("inventory_device_pcie_bytes_per_second", "What the PCIe link above a device can carry.")
	deviceNUMA    = family("inventory_device_numa_node", "NUMA node that a device belongs to.")
	deviceMIG     = family("inventory_device_mig_enabled", "1 if a device is in MIG mode; absent if it has none.")
	deviceSlices  = family("inventory_device_slices", "Slices that a device is cut into; 0 is a whole device.")
	deviceShares  = family("inventory_device_replicas", "Pods that may share a device by turns, where it is shared so.")

	sliceInfo   = family("inventory_slice_info", "What a slice of a device is.")
	sliceMemory = family("inventory_slice_memory_bytes", "Memory of a slice.")
	sliceCores  = family("inventory_slice_cores", "Compute parts of a slice: MIG's compute slices, AI cores.")

	nicInfo  = family("inventory_nic_info", "What a network port is.")
	nicSpeed = family("inventory_nic_bytes_per_second", "Speed of a network port.")
	nicUp    = family("inventory_nic_up", "1 if a network port has a link.")
	nicNUMA  = family("inventory_nic_numa_node", "NUMA node that a network port belongs to.")
	nicBus   = family("inventory_nic_pcie_bytes_per_second", "What the PCIe link above a port can carry.")

	linkInfo      = family("inventory_link_info", "That two parts are linked, in which way, and how it is known.")
	linkBandwidth = family("inventory_link_bytes_per_second", "What a link can carry.")
	linkLatency   = family("inventory_link_latency_seconds", "Time over a link one way, where it was measured or stated.")
	linkDistance  = family("inventory_link_numa_distance", "ACPI distance of the NUMA nodes of a link's ends; 10 is local.")
	linkHops      = family("inventory_link_pcie_hops", "PCIe bridges between the ends of a link.")
	linkCount     = family("inventory_link_lanes", "Physical links side by side, where the source counts them.")
	linkDegraded  = family("inventory_link_degraded", "1 if a PCIe link on the way lacks lanes; absent if none does.")
)

var families []Family

func family(name, help string) int {
	families = append(families, Family{name, help})
	return len(families) - 1
}

// Families are all metrics of the static tier.
func Families() []Family { return families }
