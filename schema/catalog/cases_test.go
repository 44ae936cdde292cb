package catalog

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"sextant/schema/wire"
)

// case01: blank values are missing, large values are not.
func TestCase01BlankValues(t *testing.T) {
	page := pageOf(t, "01-blank-values.prom")
	if len(page) != 8 {
		t.Fatalf("%d samples, want 8", len(page))
	}
	missing := 0
	for i, m := range resolve(page) {
		want, ok := map[string]struct {
			value  float64
			reason Reason
		}{
			"accel_temp_celsius memory":  {math.NaN(), IsBlank},
			"accel_temp_celsius core":    {47, Good},
			"accel_mem_used_bytes ":      {math.NaN(), IsBlank},
			"accel_mem_free_bytes ":      {15735980032, Good},
			"accel_mem_bw_ratio ":        {math.NaN(), IsBlank},
			"accel_energy_joules_total ": {2147483.999, Good},
			"accel_pcie_replays_total ":  {0, Good},
			"accel_power_watts ":         {math.NaN(), IsBlank},
		}[m.Name+" "+valueOf(m.Labels, "sensor")]
		if !ok || m.Outcome != Mapped {
			t.Errorf("%s became %s (%s)", page[i].labels, m.Name, m.Outcome)
			continue
		}
		v, reason := m.Metric.Normalize(page[i].value)
		if !same(v, want.value) || reason != want.reason {
			t.Errorf("%s is %v (%s), want %v (%s)", m.Name, v, reason, want.value, want.reason)
		}
		if reason != Good {
			missing++
		}
	}
	if missing != 4 {
		t.Errorf("%d missing, want 4", missing)
	}
}

// case02: physical readings stand once on the device, the slices' on the slices.
func TestCase02MIGDoubleCount(t *testing.T) {
	page := pageOf(t, "02-mig-double-count.prom")
	p := Default().NewPage()
	for _, e := range page {
		p.Add(e.labels)
	}
	all, infos := p.Resolve()
	got := map[string][]float64{}
	repeats := 0
	for i, m := range all {
		if m.Lead >= 0 {
			if v, lead := page[i].value, page[m.Lead].value; v != lead {
				t.Errorf("%s repeats %v as %v", m.Name, lead, v)
			}
			repeats++
			continue
		}
		v, _ := m.Metric.Normalize(page[i].value)
		key := m.Name + " " + valueOf(m.Labels, "slice")
		got[key] = append(got[key], v)
		if valueOf(m.Labels, "pod") != "" || valueOf(m.Labels, "device") != "GPU-00000000-0000-4000-8000-000000000004" {
			t.Errorf("%s has labels %v", m.Name, m.Labels)
		}
	}
	for key, want := range map[string]float64{
		"accel_mem_used_bytes 3": 3925868544, "accel_mem_used_bytes 4": 536870912,
		"accel_power_watts ": 118.25, "accel_temp_celsius ": 45, "accel_engine_active_ratio 3": 0.25, "accel_fault_code ": 0,
	} {
		if len(got[key]) != 1 || got[key][0] != want {
			t.Errorf("%s is %v, want %v once", key, got[key], want)
		}
		delete(got, key)
	}
	// Slice 4 has no engine row, and no busy ratio exists in MIG mode: absent, not 0.
	if len(got) > 0 || repeats != 3 {
		t.Errorf("also %v; %d repeats, want 3", got, repeats)
	}
	owners := map[string]string{}
	for _, s := range infos {
		if s.Name == "accel_owner_info" {
			owners[valueOf(s.Labels, "slice")] += valueOf(s.Labels, "namespace") + "/" + valueOf(s.Labels, "pod")
		}
	}
	if len(owners) != 2 || owners["3"] != "team-y/infer-0" || owners["4"] != "team-y/infer-1" {
		t.Errorf("owners %v", owners)
	}
}

// case04: the last XID is a code, and the windowed count is no counter.
func TestCase04XIDSticky(t *testing.T) {
	device := []wire.Label{{Name: "UUID", Value: "GPU-1"}, {Name: "err_code", Value: "31"}, {Name: "err_msg", Value: "MMU fault"}}
	code := Default().Resolve(append(device, wire.Label{Name: nameLabel, Value: "DCGM_FI_DEV_XID_ERRORS"}))
	if code.Name != "accel_fault_code" || code.Metric.Kind != Info || len(code.Labels) != 2 {
		t.Errorf("the gauge is %s %s %v", code.Metric.Kind, code.Name, code.Labels)
	}
	count := Default().Resolve([]wire.Label{{Name: nameLabel, Value: "DCGM_EXP_XID_ERRORS_COUNT"}, {Name: "UUID", Value: "GPU-1"}, {Name: "xid", Value: "31"}})
	if count.Name != "accel_fault_window_count" || count.Metric.Kind != Gauge || valueOf(count.Labels, "code") != "31" {
		t.Errorf("the count is %s %s %v", count.Metric.Kind, count.Name, count.Labels)
	}
	for _, row := range csvOf(t, "04-xid-sticky.csv") {
		exposed := number(t, row["DCGM_FI_DEV_XID_ERRORS"])
		if v, reason := code.Metric.Normalize(exposed); v != exposed || reason != Good {
			t.Errorf("t=%s: code %v became %v (%s)", row["t_s"], exposed, v, reason)
		}
	}
}

// case05: the TYPE line is not the truth.
func TestCase05MistypedCounters(t *testing.T) {
	want := map[string]struct {
		canonical string
		kind      Kind
		scale     float64
	}{
		"DCGM_FI_PROF_PCIE_TX_BYTES":                 {"accel_pcie_bytes_per_second", Gauge, 1},
		"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION":       {"accel_energy_joules_total", Counter, 1e-3},
		"npu_chip_info_hbm_ecc_double_bit_error_cnt": {"accel_ecc_errors_total", Counter, 1},
		"amd_gpu_energy_consumed":                    {"accel_energy_joules_total", Counter, 1e-6},
	}
	sum, steps := map[string]float64{}, 0
	for _, row := range csvOf(t, "05-mistyped-counters.csv") {
		w := want[row["metric"]]
		m := Default().Resolve([]wire.Label{{Name: nameLabel, Value: row["metric"]}, {Name: "UUID", Value: "u"}, {Name: "vdie_id", Value: "v"}, {Name: "gpu_uuid", Value: "g"}})
		if m.Name != w.canonical || m.Metric.Kind != w.kind || m.Metric.Scale != w.scale {
			t.Fatalf("%s is a %s %s × %v", row["metric"], m.Metric.Kind, m.Name, m.Metric.Scale)
		}
		if agrees := row["type_line"] == m.Metric.Kind.String(); agrees != (row["metric"] == "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION") {
			t.Errorf("TYPE %s of %s agrees: %v", row["type_line"], row["metric"], agrees)
		}
		v, reason := m.Metric.Normalize(number(t, row["value"]))
		if reason != Good {
			t.Errorf("%s %s is %s", row["metric"], row["value"], reason)
		}
		sum[row["metric"]] += v
		steps++
	}
	if steps != 20 || !same(sum["DCGM_FI_PROF_PCIE_TX_BYTES"]/5, 140000000) || !same(sum["amd_gpu_energy_consumed"], 60000) || !same(sum["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"], 36089) {
		t.Errorf("%d steps, sums %v", steps, sum)
	}
}

// case09, what the catalogue has to do with it: kept lines get the right values.
func TestCase09BrokenExposition(t *testing.T) {
	text, err := os.ReadFile("testdata/cases/09-broken-exposition.prom")
	if err != nil {
		t.Fatal(err)
	}
	page, bad := readPage(t, string(text))
	var good []float64
	for i, m := range resolve(page) {
		if v, reason := m.Metric.Normalize(page[i].value); reason == Good && m.Name != "fabric_switch_temp_celsius" {
			good = append(good, v)
		}
	}
	want := []float64{41, 0.6, 43, 73529294848}
	if bad != 1 || len(good) != len(want) {
		t.Fatalf("%d bad lines, values %v", bad, good)
	}
	for i, w := range want {
		if !same(good[i], w) {
			t.Errorf("value %d is %v, want %v", i, good[i], w)
		}
	}
}

func pageOf(t *testing.T, name string) []exposed {
	t.Helper()
	text, err := os.ReadFile("testdata/cases/" + name)
	if err != nil {
		t.Fatal(err)
	}
	page, bad := readPage(t, string(text))
	if bad > 0 {
		t.Fatalf("%d bad lines in %s", bad, name)
	}
	return page
}

func resolve(page []exposed) []Mapping {
	p := Default().NewPage()
	for _, e := range page {
		p.Add(e.labels)
	}
	all, _ := p.Resolve()
	return all
}

func csvOf(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/cases/" + name)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// same compares values that were scaled.
func same(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9*math.Abs(b)
}
