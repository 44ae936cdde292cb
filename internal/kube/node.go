package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sextant/schema/nodes"
)

// seeNode reads a node. What a document cannot hold is left out, in the order of names, so
// that what is left is the same each time.
func seeNode(n *corev1.Node, cfg *Config) nodes.Node {
	info := &n.Status.NodeInfo
	d := nodes.Node{
		Cluster: cfg.Cluster, Node: n.Name, UID: string(n.UID), Provider: words(n.Spec.ProviderID), Unschedulable: n.Spec.Unschedulable,
		Region: n.Labels[corev1.LabelTopologyRegion], Zone: n.Labels[corev1.LabelTopologyZone],
		Labels:   fitting(n.Labels, nodes.MaxLabels, func(string) bool { return true }),
		Capacity: quantitiesOf(n.Status.Capacity), Allocatable: quantitiesOf(n.Status.Allocatable),
		Kubelet: words(info.KubeletVersion), Runtime: words(info.ContainerRuntimeVersion), OSImage: words(info.OSImage), Kernel: words(info.KernelVersion),
		OS: words(info.OperatingSystem), Arch: words(info.Architecture), BootID: words(info.BootID), MachineID: words(info.MachineID),
	}
	if !n.CreationTimestamp.IsZero() {
		d.Created = n.CreationTimestamp.UnixMilli()
	}
	for _, label := range cfg.RackLabels {
		d.Rack = cmp.Or(d.Rack, n.Labels[label])
	}
	d.Annotations = fitting(n.Annotations, nodes.MaxAnnotations, func(name string) bool {
		return strings.HasPrefix(name, prefix) || slices.Contains(cfg.NodeAnnotations, name)
	})
	for _, t := range n.Spec.Taints {
		d.Taints = append(d.Taints, nodes.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	for _, c := range n.Status.Conditions {
		s := nodes.Condition{Type: words(string(c.Type)), Status: words(string(c.Status)), Reason: words(c.Reason)}
		if !c.LastTransitionTime.IsZero() {
			s.Since = max(c.LastTransitionTime.UnixMilli(), 0)
		}
		d.Conditions = append(d.Conditions, s)
	}
	for _, a := range n.Status.Addresses {
		d.Addresses = append(d.Addresses, nodes.Address{Type: words(string(a.Type)), Address: words(a.Address)})
	}
	inNodeOrder(&d)
	return d
}

// inNodeOrder sorts what Kubernetes lists in any order, and cuts what is too long.
func inNodeOrder(d *nodes.Node) {
	slices.SortFunc(d.Taints, func(a, b nodes.Taint) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Value, b.Value))
	})
	slices.SortFunc(d.Conditions, func(a, b nodes.Condition) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(d.Addresses, func(a, b nodes.Address) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Address, b.Address))
	})
	d.Taints = d.Taints[:min(len(d.Taints), nodes.MaxTaints)]
	d.Conditions = d.Conditions[:min(len(d.Conditions), nodes.MaxConditions)]
	d.Addresses = d.Addresses[:min(len(d.Addresses), nodes.MaxAddresses)]
}

// fitting are those of m that are wanted and that a document can hold.
func fitting(m map[string]string, limit int, wanted func(name string) bool) map[string]string {
	var out map[string]string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !wanted(k) || len(m[k]) > nodes.MaxText || words(m[k]) != m[k] {
			continue
		}
		if len(out) == limit {
			break
		}
		if out == nil {
			out = map[string]string{}
		}
		out[k] = m[k]
	}
	return out
}

// quantitiesOf are the resources as Kubernetes writes them. A negative one is no amount.
func quantitiesOf(list corev1.ResourceList) map[string]string {
	var out map[string]string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		if q.Sign() < 0 || len(out) == nodes.MaxResources {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[string(name)] = q.String()
	}
	return out
}

// trimNode keeps of a node what is read here: the images alone are most of it.
func trimNode(n *corev1.Node) {
	trimMeta(n)
	n.SetManagedFields(nil)
	n.Status.Images, n.Status.VolumesInUse, n.Status.VolumesAttached, n.Status.Config = nil, nil, nil, nil
	n.Spec.PodCIDRs = nil
	for i := range n.Status.Conditions {
		n.Status.Conditions[i].Message = ""
	}
}
