package features

// Placement is a task that is bound to a node.
type Placement struct {
	Task, Node string
	Devices    []string // of the node, as events name them
}
