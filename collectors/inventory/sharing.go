package inventory

import (
	"strconv"

	schema "sextant/schema/inventory"
)

// What NVIDIA's feature discovery writes on a Kubernetes node whose device plugin gives
// one device to several pods.
const (
	sharingLabel  = "nvidia.com/gpu.sharing-strategy" // none, time-slicing, mps
	replicasLabel = "nvidia.com/gpu.replicas"
)

// sharing notes how Kubernetes shares the node's NVIDIA devices, where no source said it
// of the device itself. Sharing is not slicing: such a device has one reading, whoever has
// it.
func (r *reader) sharing() {
	k := r.doc.Kubernetes
	if k == nil {
		return
	}
	how := k.Labels[sharingLabel]
	n, err := strconv.Atoi(k.Labels[replicasLabel])
	if how == "" || how == "none" || err != nil || n < 2 || n > schema.MaxReplicas {
		return
	}
	for i := range r.doc.Devices {
		if v := &r.doc.Devices[i]; v.Vendor == "nvidia" && v.Sharing == "" {
			v.Sharing, v.Replicas = how, n
		}
	}
}
