// Package nodes is the contract of what Kubernetes says of a node: one document for each
// node, as JSON, versioned like the inventory (schema/inventory), which says what the
// agent on the node found. A reader ignores keys that it does not know and refuses a
// version that it does not know.
//
// Points in time are Unix milliseconds. Quantities are as Kubernetes writes them.
package nodes

// Version is the version of the document that this package writes.
const Version = 1

// Node is what Kubernetes says of one node.
type Node struct {
	Version   int    `json:"version"`
	Cluster   string `json:"cluster"`
	Node      string `json:"node"`
	Collected int64  `json:"collected_ms"` // when it was told
	Since     int64  `json:"since_ms"`     // first seen with this content
	Hash      string `json:"hash"`         // of the content: all but collected_ms, since_ms and itself

	UID      string `json:"uid,omitempty"`         // a node that is made again under its name has another
	Created  int64  `json:"created_ms,omitempty"`  // when the object was made
	Provider string `json:"provider_id,omitempty"` // the cloud's name of the machine

	Region string `json:"region,omitempty"`
	Zone   string `json:"zone,omitempty"`
	Rack   string `json:"rack,omitempty"`

	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"` // those that the watcher was asked to keep
	Taints        []Taint           `json:"taints,omitempty"`
	Unschedulable bool              `json:"unschedulable,omitempty"`

	Capacity    map[string]string `json:"capacity,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Conditions  []Condition       `json:"conditions,omitempty"`
	Addresses   []Address         `json:"addresses,omitempty"`

	Kubelet   string `json:"kubelet,omitempty"`
	Runtime   string `json:"runtime,omitempty"` // such as containerd://2.1.4
	OSImage   string `json:"os_image,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
	OS        string `json:"os,omitempty"`
	Arch      string `json:"arch,omitempty"` // as Go has it: amd64
	BootID    string `json:"boot_id,omitempty"`
	MachineID string `json:"machine_id,omitempty"`
}

// Taint keeps pods away that do not tolerate it.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Condition is one of the node's, without the heartbeat and the words beside it, which
// change without meaning anything.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"` // True, False or Unknown
	Reason string `json:"reason,omitempty"`
	Since  int64  `json:"since_ms,omitempty"` // of the status
}

// Address is one under which the node can be reached.
type Address struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

// Ready is the condition that says whether the kubelet works and takes pods.
const Ready = "Ready"

// Condition returns the condition of the type, or nil.
func (n *Node) Condition(kind string) *Condition {
	for i := range n.Conditions {
		if n.Conditions[i].Type == kind {
			return &n.Conditions[i]
		}
	}
	return nil
}

// Trouble is the conditions that are true and should not be, such as MemoryPressure. All
// but Ready say that something is wrong.
func (n *Node) Trouble() []string {
	var out []string
	for _, c := range n.Conditions {
		if c.Type != Ready && c.Status == "True" {
			out = append(out, c.Type)
		}
	}
	return out
}
