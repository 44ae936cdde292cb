//go:build cgo && linux

package dcgm

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

// entity is what fields are read of.
type entity struct {
	scope  scope
	group  dcgm.Field_Entity_Group
	id     uint // within the group
	gpu    uint // the GPU that it is, or is a part of
	labels labels
}

// gpu is a device with what stays the same while it works.
type gpu struct {
	id     uint
	labels labels // gpu, UUID, pci_bus_id, device, modelName, DCGM_FI_DRIVER_VERSION
}

// key tells devices apart also when one moves to another slot.
func (g gpu) key() string {
	if id := g.labels.get("UUID"); id != "" {
		return id
	}
	return "gpu " + strconv.Itoa(int(g.id))
}

// linkLabels are dcgm-exporter's for an NVLink of a GPU, which differ from a GPU's own.
func (g gpu) linkLabels(index uint) labels {
	return labels{}.with("nvlink", strconv.Itoa(int(index)), "gpu", strconv.Itoa(int(g.id)), "gpu_uuid", g.labels.get("UUID"),
		"pci_bus_id", g.labels.get("pci_bus_id"), "device", g.labels.get("device"), "model_name", g.labels.get("modelName"))
}

func switchName(id uint) string { return "nvswitch" + strconv.Itoa(int(id)) }

// inventory is which entities an engine has, and how they hang together.
type inventory struct {
	gpus     []gpu
	entities []entity
	mig      []dcgm.MigHierarchyInfo_v2
	info     []sample
	faults   map[string]error // what could not be read: subject → why
}

// takeInventory asks the engine for all of it. Only a lost connection and a host without
// any device are errors.
func takeInventory(c Config) (*inventory, error) {
	inv := &inventory{faults: map[string]error{}}
	ids, err := dcgm.GetEntityGroupEntities(dcgm.FE_GPU)
	if err != nil {
		return nil, fmt.Errorf("list GPUs: %w", err)
	}
	for _, id := range ids {
		if err := inv.addGPU(id); err != nil {
			return nil, err
		}
	}
	inv.addPeers()
	inv.addMIG(c)
	inv.addLinks()
	inv.addSwitches()
	inv.addCPUs(c)
	if len(inv.entities) == 0 {
		return nil, errNoDevices
	}
	return inv, nil
}

func (inv *inventory) addGPU(id uint) error {
	about, err := identify(dcgm.FE_GPU, id)
	if err != nil {
		if gone := lost(err); gone != nil {
			return gone
		}
		inv.faults[fmt.Sprintf("identity of gpu %d", id)] = err
	}
	n := strconv.Itoa(int(id))
	g := gpu{id, labels{}.with("gpu", n, "UUID", about.text(fieldUUID), "pci_bus_id", about.text(fieldBusID),
		"device", "nvidia"+n, "modelName", about.text(fieldModel), "DCGM_FI_DRIVER_VERSION", about.text(dcgm.DCGM_FI_DRIVER_VERSION))}
	inv.gpus = append(inv.gpus, g)
	inv.entities = append(inv.entities, entity{scopeGPU, dcgm.FE_GPU, id, id, g.labels})
	inv.info = append(inv.info, sample{name: "sextant_dcgm_gpu_info", help: "Identity and place of a device.",
		kind: gaugeKind, labels: about.describe(g.labels), value: 1})
	return nil
}

// addPeers gives the way from each GPU to each other, such as NV18, PIX or SYS.
func (inv *inventory) addPeers() {
	for _, g := range inv.gpus {
		links, err := dcgm.GetDeviceTopology(g.id)
		if err != nil {
			inv.faults[fmt.Sprintf("topology of gpu %d", g.id)] = err
			continue
		}
		for _, l := range links {
			peer := slices.IndexFunc(inv.gpus, func(o gpu) bool { return o.id == l.GPU })
			if peer < 0 {
				continue
			}
			inv.info = append(inv.info, sample{name: "sextant_dcgm_gpu_peer_info", help: "The best way from a device to another: NV and a number of NVLinks, or how far away on PCIe.",
				kind: gaugeKind, value: 1,
				labels: g.labels.with("peer_gpu", strconv.Itoa(int(l.GPU)), "peer_UUID", inv.gpus[peer].labels.get("UUID"), "link", l.Link.PCIPaths())})
		}
	}
}

// addMIG adds GPU instances, and compute instances where they are asked for.
func (inv *inventory) addMIG(c Config) {
	h, err := dcgm.GetGPUInstanceHierarchy()
	if err != nil {
		inv.faults["MIG layout"] = err
		return
	}
	inv.mig = slices.Clone(h.EntityList[:h.Count])
	instances := map[uint]entity{} // by entity id
	for _, m := range inv.mig {
		profile, _ := identify(m.Entity.EntityGroupId, m.Entity.EntityId)
		name := profile.text(fieldModel)
		switch m.Entity.EntityGroupId {
		case dcgm.FE_GPU_I:
			g := slices.IndexFunc(inv.gpus, func(g gpu) bool { return m.Parent.EntityGroupId == dcgm.FE_GPU && g.id == m.Parent.EntityId })
			if g < 0 {
				inv.faults["MIG layout"] = fmt.Errorf("GPU instance %d belongs to an unknown device %d", m.Entity.EntityId, m.Parent.EntityId)
				continue
			}
			e := entity{scopeGI, dcgm.FE_GPU_I, m.Entity.EntityId, inv.gpus[g].id,
				inv.gpus[g].labels.with("GPU_I_PROFILE", name, "GPU_I_ID", strconv.Itoa(int(m.Info.NvmlInstanceId)))}
			instances[e.id] = e
			inv.entities = append(inv.entities, e)
			inv.addSlice(e.labels, m)
		case dcgm.FE_GPU_CI:
			gi, ok := instances[m.Parent.EntityId]
			if !ok {
				continue
			}
			e := entity{scopeCI, dcgm.FE_GPU_CI, m.Entity.EntityId, gi.gpu,
				gi.labels.with("GPU_CI_ID", strconv.Itoa(int(m.Info.NvmlComputeInstanceId)), "GPU_CI_PROFILE", name)}
			if c.ComputeInstances {
				inv.entities = append(inv.entities, e)
			}
			inv.addSlice(e.labels, m)
		}
	}
}

func (inv *inventory) addSlice(l labels, m dcgm.MigHierarchyInfo_v2) {
	inv.info = append(inv.info, sample{name: "sextant_dcgm_mig_slices", help: "Compute slices of a MIG GPU instance or compute instance.",
		kind: gaugeKind, labels: l, value: float64(m.Info.NvmlProfileSlices)})
}

// migUnchanged asks whether the MIG layout is still that of the inventory. When the engine
// does not tell, it is.
func (inv *inventory) migUnchanged() bool {
	h, err := dcgm.GetGPUInstanceHierarchy()
	return err != nil || slices.Equal(h.EntityList[:h.Count], inv.mig)
}

// addLinks adds the NVLinks that are in use, of GPUs and of NVSwitches.
func (inv *inventory) addLinks() {
	links, err := dcgm.GetNvLinkLinkStatus()
	if err != nil {
		inv.faults["NVLinks"] = err
	}
	for _, l := range links {
		if l.State != dcgm.LS_UP && l.State != dcgm.LS_DOWN {
			continue
		}
		e := entity{group: dcgm.FE_LINK, id: linkID(l)}
		if l.ParentType == dcgm.FE_SWITCH {
			e.scope, e.labels = scopeSwitchLink, labels{}.with("nvlink", strconv.Itoa(int(l.Index)), "nvswitch", switchName(l.ParentId))
		} else if g := slices.IndexFunc(inv.gpus, func(g gpu) bool { return g.id == l.ParentId }); g >= 0 {
			e.scope, e.gpu, e.labels = scopeLink, l.ParentId, inv.gpus[g].linkLabels(l.Index)
		} else {
			continue
		}
		inv.entities = append(inv.entities, e)
	}
}

// linkID is a dcgm_link_t: 8 bits for the kind of parent, 16 for the port, 8 for the
// parent, from the lowest.
func linkID(l dcgm.NvLinkStatus) uint {
	return uint(l.ParentType)&0xff | l.Index&0xffff<<8 | l.ParentId&0xff<<24
}

func (inv *inventory) addSwitches() {
	ids, err := dcgm.GetEntityGroupEntities(dcgm.FE_SWITCH)
	if err != nil {
		inv.faults["NVSwitches"] = err
	}
	for _, id := range ids {
		inv.entities = append(inv.entities, entity{scope: scopeSwitch, group: dcgm.FE_SWITCH, id: id, labels: labels{}.with("nvswitch", switchName(id))})
	}
}

// addCPUs adds NVIDIA's own CPUs. An engine on another maker's CPU has none, or has not
// even the module for them, and neither is a fault.
func (inv *inventory) addCPUs(c Config) {
	h, err := dcgm.GetCPUHierarchy()
	switch code(err) {
	case 0:
	case dcgm.DCGM_ST_NOT_SUPPORTED, dcgm.DCGM_ST_MODULE_NOT_LOADED, dcgm.DCGM_ST_NO_DATA:
		return
	}
	if err != nil {
		inv.faults["CPUs"] = err
		return
	}
	for _, cpu := range h.CPUs[:h.NumCPUs] {
		n := strconv.Itoa(int(cpu.CPUID))
		inv.entities = append(inv.entities, entity{scope: scopeCPU, group: dcgm.FE_CPU, id: cpu.CPUID, labels: labels{}.with("cpu", n)})
		inv.info = append(inv.info, sample{name: "sextant_dcgm_cpu_info", help: "Cores of an NVIDIA CPU.", kind: gaugeKind,
			labels: labels{}.with("cpu", n, "cores", ranges(cpu.OwnedCores)), value: 1})
		if !c.Cores {
			continue
		}
		for _, core := range bits(cpu.OwnedCores) {
			inv.entities = append(inv.entities, entity{scope: scopeCore, group: dcgm.FE_CPU_CORE, id: core,
				labels: labels{}.with("cpucore", strconv.Itoa(int(core)), "cpu", n)})
		}
	}
}

// sameEntities reports whether the other inventory has the same entities with the same
// labels. A device that was replaced in its slot is another one.
func (inv *inventory) sameEntities(o *inventory) bool {
	return o != nil && slices.EqualFunc(inv.entities, o.entities, func(a, b entity) bool {
		return a.scope == b.scope && a.group == b.group && a.id == b.id && slices.Equal(a.labels.values, b.labels.values)
	})
}
