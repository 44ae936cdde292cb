//go:build cgo && linux

package dcgm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
	dto "github.com/prometheus/client_model/go"

	"sextant/schema/catalog"
	"sextant/schema/wire"
)

// everything is an engine with one entity of each scope that has a value for each field.
func everything() string {
	entities := map[scope]struct {
		group dcgm.Field_Entity_Group
		id    uint
	}{
		scopeGPU: {dcgm.FE_GPU, 0}, scopeGI: {dcgm.FE_GPU_I, 11}, scopeCI: {dcgm.FE_GPU_CI, 21}, scopeSwitch: {dcgm.FE_SWITCH, 2},
		scopeLink:       {dcgm.FE_LINK, linkID(dcgm.NvLinkStatus{ParentType: dcgm.FE_GPU, ParentId: 0, Index: 3})},
		scopeSwitchLink: {dcgm.FE_LINK, linkID(dcgm.NvLinkStatus{ParentType: dcgm.FE_SWITCH, ParentId: 2, Index: 5})},
		scopeCPU:        {dcgm.FE_CPU, 0}, scopeCore: {dcgm.FE_CPU_CORE, 3},
	}
	var b strings.Builder
	b.WriteString("set 1 0 54 s GPU-aaaa\nset 1 0 50 s NVIDIA H100 80GB HBM3\nset 1 0 57 s 00000000:17:00.0\nset 4 11 50 s 3g.40gb\nset 5 21 50 s 3c.3g.40gb\n" +
		"mig 4 11 1 0 0 1 0xffffffff 3\nmig 5 21 4 11 0 1 0 3\nlink gpu 0 3 3\nlink switch 2 5 3\ncpu 0 0x8\npeer 0 0 0x2000010\nxid 0 9000000000000000 31\nprof 0")
	for _, f := range table() {
		if f.class == prof {
			fmt.Fprintf(&b, " %d", dcgm.GetFieldIDOrPanic(f.name))
		}
	}
	b.WriteString("\n")
	for _, e := range entities {
		fmt.Fprintf(&b, "entity %d %d\n", e.group, e.id)
	}
	for _, f := range table() {
		for _, s := range f.scopes {
			fmt.Fprintf(&b, "set %d %d %d i 1\n", entities[s].group, entities[s].id, dcgm.GetFieldIDOrPanic(f.name))
		}
	}
	return b.String()
}

// TestEverySeriesHasAMeaning: the catalogue knows each series, with its labels.
func TestEverySeriesHasAMeaning(t *testing.T) {
	f := start(t, everything(), func(c *Config) { c.ComputeInstances, c.Cores = true, true })
	families, err := f.c.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	page := catalog.Default().NewPage()
	var series []string
	read := map[string]bool{}
	for _, fam := range families {
		read[fam.GetName()] = true
		for _, m := range fam.Metric {
			ls := wireLabels(fam.GetName(), m)
			page.Add(ls)
			series = append(series, fmt.Sprint(ls))
		}
	}
	for _, x := range table() {
		if !read[x.name] {
			t.Errorf("%s was not read", x.name)
		}
	}
	mapped, _ := page.Resolve()
	for i, m := range mapped {
		if (m.Outcome == catalog.Unlisted || m.Outcome == catalog.UnknownRow) && !strings.Contains(series[i], "collector_up") {
			t.Errorf("%s: %v", series[i], m.Outcome)
		}
	}
}

// TestTheSameAsTheExporter: a field through this collector and through dcgm-exporter is
// one canonical series.
func TestTheSameAsTheExporter(t *testing.T) {
	f := start(t, everything(), nil)
	families, err := f.c.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	exporter := []wire.Label{{Name: "DCGM_FI_DRIVER_VERSION", Value: "580.65.06"}, {Name: "Hostname", Value: "n1"}, {Name: "UUID", Value: "GPU-aaaa"},
		{Name: "device", Value: "nvidia0"}, {Name: "gpu", Value: "0"}, {Name: "modelName", Value: "NVIDIA H100 80GB HBM3"}, {Name: "pci_bus_id", Value: "00000000:17:00.0"}}
	slice := append([]wire.Label{{Name: "GPU_I_ID", Value: "1"}, {Name: "GPU_I_PROFILE", Value: "3g.40gb"}}, exporter[1:]...)
	compared := 0
	for _, fam := range families {
		for _, m := range fam.Metric {
			ours := wireLabels(fam.GetName(), m)
			theirs := exporter
			if len(m.Label) != 5 {
				theirs = slice
			}
			if !strings.HasPrefix(fam.GetName(), "DCGM_FI_") || !slices.ContainsFunc(ours, func(l wire.Label) bool { return l.Name == "UUID" }) {
				continue
			}
			a := catalog.Default().Resolve(ours)
			b := catalog.Default().Resolve(sorted(append([]wire.Label{{Name: "__name__", Value: fam.GetName()}}, theirs...)))
			if a.Outcome != b.Outcome || a.Name != b.Name || a.Outcome == catalog.Mapped && !slices.Equal(a.Labels, b.Labels) {
				t.Errorf("%s: %v %s %v, from the exporter %v %s %v", fam.GetName(), a.Outcome, a.Name, a.Labels, b.Outcome, b.Name, b.Labels)
			}
			compared++
		}
	}
	if compared < 50 {
		t.Fatalf("%d series compared", compared)
	}
}

// wireLabels are the labels of a series, the name among them, sorted.
func wireLabels(name string, m *dto.Metric) []wire.Label {
	ls := []wire.Label{{Name: "__name__", Value: name}}
	for _, l := range m.Label {
		ls = append(ls, wire.Label{Name: l.GetName(), Value: l.GetValue()})
	}
	return sorted(ls)
}

func sorted(ls []wire.Label) []wire.Label {
	slices.SortFunc(ls, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
	return ls
}
