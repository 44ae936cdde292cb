//go:build cgo && linux

package dcgm

import (
	"fmt"
	"strconv"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
	"github.com/prometheus/client_golang/prometheus"
)

const gaugeKind = prometheus.GaugeValue

// Fields that say what an entity is.
const (
	fieldUUID  = dcgm.DCGM_FI_DEV_UUID
	fieldModel = dcgm.DCGM_FI_DEV_NAME
	fieldBusID = dcgm.DCGM_FI_DEV_PCI_BUSID
)

var cpuMask = []dcgm.Short{dcgm.DCGM_FI_DEV_CPU_AFFINITY_0, dcgm.DCGM_FI_DEV_CPU_AFFINITY_1, dcgm.DCGM_FI_DEV_CPU_AFFINITY_2, dcgm.DCGM_FI_DEV_CPU_AFFINITY_3}
var numaMask = []dcgm.Short{dcgm.DCGM_FI_DEV_MEM_AFFINITY_0, dcgm.DCGM_FI_DEV_MEM_AFFINITY_1, dcgm.DCGM_FI_DEV_MEM_AFFINITY_2, dcgm.DCGM_FI_DEV_MEM_AFFINITY_3}

// identityFields are read live, without a watch, of each GPU.
var identityFields = append(append([]dcgm.Short{fieldUUID, fieldModel, fieldBusID, dcgm.DCGM_FI_DEV_SERIAL, dcgm.DCGM_FI_DEV_BRAND,
	dcgm.DCGM_FI_DEV_VBIOS_VERSION, dcgm.DCGM_FI_DRIVER_VERSION, dcgm.DCGM_FI_CUDA_DRIVER_VERSION, dcgm.DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY,
	dcgm.DCGM_FI_DEV_MINOR_NUMBER, dcgm.DCGM_FI_DEV_FABRIC_CLUSTER_UUID, dcgm.DCGM_FI_DEV_FABRIC_CLIQUE_ID}, cpuMask...), numaMask...)

// identity holds what was read of one entity.
type identity map[dcgm.Short]reading

// identify reads an entity's identity. A field that cannot be read costs only itself; an
// error comes back when none could be.
func identify(group dcgm.Field_Entity_Group, id uint) (identity, error) {
	fields := []dcgm.Short{fieldModel}
	if group == dcgm.FE_GPU {
		fields = identityFields
	}
	about := identity{}
	who := []dcgm.GroupEntityPair{{EntityGroupId: group, EntityId: id}}
	err := about.read(who, known(fields))
	if err != nil && lost(err) == nil {
		for _, f := range known(fields) {
			if e := about.read(who, []dcgm.Short{f}); e == nil {
				err = nil
			}
		}
	}
	return about, err
}

func (about identity) read(who []dcgm.GroupEntityPair, fields []dcgm.Short) error {
	values, err := dcgm.EntitiesGetLatestValues(who, fields, dcgm.DCGM_FV_FLAG_LIVE_DATA)
	if err != nil {
		return err
	}
	for i := range values {
		v := &values[i]
		about[v.FieldID] = decode(v.FieldID, v.FieldType, v.Status, v.TS, &v.Value)
	}
	return nil
}

// known leaves out what this release of the library has no field for.
func known(fields []dcgm.Short) []dcgm.Short {
	var out []dcgm.Short
	for _, f := range fields {
		if _, err := dcgm.FieldGetByID(f); err == nil {
			out = append(out, f)
		}
	}
	return out
}

func (about identity) text(f dcgm.Short) string { return about[f].string() }

func (about identity) number(f dcgm.Short) string {
	if v, ok := about[f].number(); ok {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// capability is the CUDA compute capability, such as 9.0. The headers put the major version
// into the upper 32 bits, the engine into those above the lower 16.
func (about identity) capability() string {
	if _, ok := about[dcgm.DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY].number(); !ok {
		return ""
	}
	n, shift := about[dcgm.DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY].num, 16
	if n >= 1<<32 {
		shift = 32
	}
	return fmt.Sprintf("%d.%d", n>>shift, n&(1<<shift-1))
}

func (about identity) mask(fields []dcgm.Short) string {
	words := make([]uint64, len(fields))
	for i, f := range fields {
		if _, ok := about[f].number(); ok {
			words[i] = uint64(about[f].num)
		}
	}
	return ranges(words)
}

// describe is the labels of a GPU's info series: its own and what is known of it. What is
// a text field of DCGM has that field's name, as dcgm-exporter's label fields have.
func (about identity) describe(l labels) labels {
	return l.with("DCGM_FI_DEV_SERIAL", about.text(dcgm.DCGM_FI_DEV_SERIAL), "DCGM_FI_DEV_BRAND", about.text(dcgm.DCGM_FI_DEV_BRAND),
		"DCGM_FI_DEV_VBIOS_VERSION", about.text(dcgm.DCGM_FI_DEV_VBIOS_VERSION),
		"DCGM_FI_CUDA_DRIVER_VERSION", about.number(dcgm.DCGM_FI_CUDA_DRIVER_VERSION),
		"compute_capability", about.capability(),
		"minor_number", about.number(dcgm.DCGM_FI_DEV_MINOR_NUMBER),
		"cpu_affinity", about.mask(cpuMask), "numa_affinity", about.mask(numaMask),
		"fabric_cluster", about.text(dcgm.DCGM_FI_DEV_FABRIC_CLUSTER_UUID), "fabric_clique", about.number(dcgm.DCGM_FI_DEV_FABRIC_CLIQUE_ID))
}
