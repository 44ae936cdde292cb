package inventory

// PartKind is what an end of a link is.
type PartKind string

// The kinds of ends.
const (
	PartDevice PartKind = "device"
	PartNIC    PartKind = "nic"
	PartDisk   PartKind = "disk"
	PartNUMA   PartKind = "numa"
	PartNode   PartKind = "node"
	PartPlace  PartKind = "place" // a rack, zone or switch, by name
)

// Part names one end of a link. Devices, NICs and disks go by ID, NUMA nodes by number,
// nodes and places by name.
type Part struct {
	Kind PartKind `json:"kind"`
	ID   string   `json:"id"`
}

// LinkKind is the way that a link takes.
type LinkKind string

// The kinds of links. Those of PCIe are told apart as topology tools do: PIX and PXB are
// LinkPCIeSwitch, PHB is LinkPCIeHost, NODE is LinkPCIeNode, SYS is LinkPCIeSocket.
const (
	LinkLocal      LinkKind = "local"       // a part and the NUMA node that it belongs to
	LinkNUMA       LinkKind = "numa"        // two NUMA nodes
	LinkPCIeSwitch LinkKind = "pcie_switch" // only PCIe bridges in between
	LinkPCIeHost   LinkKind = "pcie_host"   // through one host bridge
	LinkPCIeNode   LinkKind = "pcie_node"   // through host bridges of one NUMA node
	LinkPCIeSocket LinkKind = "pcie_socket" // through the interconnect of two NUMA nodes
	LinkNVLink     LinkKind = "nvlink"
	LinkXGMI       LinkKind = "xgmi"
	LinkHCCS       LinkKind = "hccs"
	LinkNetwork    LinkKind = "network" // two nodes, measured or configured
	LinkSwitch     LinkKind = "switch"  // a node and the network switch that it hangs on
	LinkRack       LinkKind = "rack"    // a node and its rack
	LinkZone       LinkKind = "zone"    // a node and its zone
)

// LinkKinds are all kinds, in the order of the one-hot edge features.
var LinkKinds = []LinkKind{LinkLocal, LinkNUMA, LinkPCIeSwitch, LinkPCIeHost, LinkPCIeNode, LinkPCIeSocket,
	LinkNVLink, LinkXGMI, LinkHCCS, LinkNetwork, LinkSwitch, LinkRack, LinkZone}

// Origin says how a link's numbers came to be known.
type Origin string

// The origins.
const (
	OriginDerived    Origin = "derived"    // from the PCI tree, its speeds and widths
	OriginStated     Origin = "stated"     // by the driver, the firmware or the vendor's library
	OriginConfigured Origin = "configured" // by the agent's configuration, measurements among them
)

// Link joins two parts. It has no direction; From is the part that comes first in the
// document. Bandwidth is that of its narrowest PCIe link where it is derived, and left
// out where what lies between is not known.
type Link struct {
	From      Part     `json:"from"`
	To        Part     `json:"to"`
	Kind      LinkKind `json:"kind"`
	Bandwidth float64  `json:"bandwidth,omitempty"` // bytes/s in one direction
	Latency   float64  `json:"latency,omitempty"`   // s, one way
	Distance  int      `json:"distance,omitempty"`  // ACPI SLIT between the NUMA nodes of the ends
	Hops      int      `json:"hops,omitempty"`      // PCIe bridges on the way
	Count     int      `json:"count,omitempty"`     // physical links side by side
	Degraded  bool     `json:"degraded,omitempty"`  // a PCIe link on the way lacks lanes
	Origin    Origin   `json:"origin"`
}
