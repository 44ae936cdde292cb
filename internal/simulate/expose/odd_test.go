package expose

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"sextant/internal/simulate"
	"sextant/schema/catalog"
	"sextant/schema/wire"
)

// TestOddities pins what each vendor's page has of its own, in the words of the wire.
func TestOddities(t *testing.T) {
	c := cluster(t, `
  - {kind: xid, at: 10s, code: 31, nodes: "sim-h100-00", device: 1}
  - {kind: error_code, at: 10s, for: 1h, code: 2162065417, nodes: "sim-ascend-00", device: 2}
  - {kind: power, at: 10s, for: 1h, watts: 255, nodes: "sim-mi300x-*"}
`, 6*time.Minute)
	for _, tc := range []struct{ why, node, exporter, has, lacks string }{
		{"XID stays, with its text", "sim-h100-00", simulate.DCGM, `err_code="31",err_msg="GPU memory page fault"`, ""},
		{"the window of XIDs has passed", "sim-h100-00", simulate.DCGM, `window_size_in_ms="300000"`, `xid="31"`},
		{"floats of DCGM have six decimals", "sim-h100-00", simulate.DCGM, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "e-0"},
		{"utilization is absent on MIG", "sim-a100-mig-00", simulate.DCGM, `GPU_I_PROFILE="1g.10gb"`, `DCGM_FI_DEV_GPU_UTIL{gpu="3"`},
		{"an error code is decimal, as Go writes it", "sim-ascend-00", simulate.NPU, "} 2.162065417e+09 ", ""},
		{"no fault, no row", "sim-ascend-01", simulate.NPU, "npu_chip_info_health_status", "npu_chip_info_error_code"},
		{"910B has HBM, no DDR", "sim-ascend-00", simulate.NPU, "npu_chip_info_hbm_used_memory{", "npu_chip_info_used_memory{"},
		{"310P has DDR, no HBM", "sim-npu-edge-00", simulate.NPU, "npu_chip_info_used_memory{", "npu_chip_info_hbm_used_memory{"},
		{"counts are gauges", "sim-ascend-00", simulate.NPU, "# TYPE npu_chip_info_hbm_ecc_double_bit_error_cnt gauge", " counter\n"},
		{"AMD's energy is a gauge", "sim-mi300x-00", simulate.AMDExporter, "# TYPE amd_gpu_energy_consumed gauge", " counter\n"},
		{"partitions repeat no power", "sim-mi300x-dpx-00", simulate.AMDExporter, `gpu_compute_partition_type="dpx"`, ""},
		{"percent named ratio", "sim-flex-00", simulate.XPUM, "xpum_eu_idle_ratio", ""},
		{"rows of a card", "sim-flex-00", simulate.XPUM, `xpum_power_watts{card="2147483648",node="sim-flex-00",src="sum"}`, ""},
		{"a start beside each counter", "sim-flex-00", simulate.XPUM, "xpum_energy_joules_created{", ""},
		{"Gaudi's limits are no readings", "sim-gaudi2-00", simulate.GaudiMetrics, "habanalabs_temperature_threshold_memory", ""},
		{"a pod, its sandbox and its container", "sim-h100-00", simulate.CAdvisor, `container="POD"`, ""},
	} {
		page := string(mustPage(t, c.Node(tc.node), tc.exporter))
		if !strings.Contains(page, tc.has) {
			t.Errorf("%s: %q is not on the page", tc.why, tc.has)
		}
		if tc.lacks != "" && strings.Contains(page, tc.lacks) {
			t.Errorf("%s: %q is on the page", tc.why, tc.lacks)
		}
	}
}

// TestXPUMWritesAllCommentsFirst, as the Python client of that exporter did.
func TestXPUMWritesAllCommentsFirst(t *testing.T) {
	page := mustPage(t, cluster(t, "", 0).Node("sim-flex-00"), simulate.XPUM)
	_, rest, _ := bytes.Cut(page, []byte("\nxpum_"))
	if bytes.Contains(rest, []byte("\n#")) {
		t.Error("a comment stands behind a row")
	}
}

// TestADeviceThatDraws255WattsHasNoPower: the exporter takes 255 for "not applicable".
func TestADeviceThatDraws255WattsHasNoPower(t *testing.T) {
	c := cluster(t, `  - {kind: power, at: 10s, for: 10h, watts: 255, nodes: "sim-mi300x-00"}`, time.Minute)
	n := c.Node("sim-mi300x-00")
	dropped := 0
	for range 60 {
		c.Step(simulate.Tick)
		samples, _ := read(t, mustPage(t, n, simulate.AMDExporter))
		rows := 0
		for _, s := range samples {
			if s.get("__name__") == "amd_gpu_package_power" {
				rows++
				if s.value == 255 {
					t.Fatal("255 was printed")
				}
			}
		}
		capped := 0
		for _, d := range devices(n, simulate.AMD) {
			if whole(d.Power) == 255 {
				capped++
			}
		}
		if rows != 8-capped {
			t.Fatalf("%d rows, %d of 8 devices at 255 W", rows, capped)
		}
		dropped += capped
	}
	if dropped == 0 {
		t.Error("no device was at 255 W: the test saw nothing")
	}
}

// TestCardPowerIsRepeated for the two chips of a 310P card.
func TestCardPowerIsRepeated(t *testing.T) {
	n := cluster(t, "", 5*time.Minute).Node("sim-npu-edge-00")
	cards := devices(n.View(simulate.NPU), simulate.Ascend)
	samples, _ := read(t, mustPage(t, n, simulate.NPU))
	var power []float64
	many, slices := false, 0
	for _, s := range samples {
		switch s.get("__name__") {
		case "npu_chip_info_power":
			power = append(power, s.value)
		case "vnpu_pod_total_memory":
			slices++
		}
		many = many || s.get("pod_name") == manyPods
	}
	if len(power) != 4 || power[0] != power[1] || power[2] != power[3] || power[0] != tenths(cards[0].Power+cards[1].Power) {
		t.Errorf("power is %v", power)
	}
	if slices == 0 || !many {
		t.Errorf("%d rows of slices, a chip of many pods %t", slices, many)
	}
}

// TestTimestamps: the exporters that cache say when they cached, by the node's clock.
func TestTimestamps(t *testing.T) {
	c := cluster(t, `  - {kind: clock_skew, at: 10s, for: 1h, skew: 8s, nodes: "sim-ascend-01"}`, time.Minute)
	for _, tc := range []struct {
		node     string
		exporter string
		from, to int64 // ms behind the true time
	}{{"sim-ascend-00", simulate.NPU, 0, 4999}, {"sim-ascend-01", simulate.NPU, -8000, -3001}, {"sim-h100-00", simulate.DTS, 0, 0}, {"sim-h100-00", simulate.CAdvisor, 0, 9999}} {
		samples, _ := read(t, mustPage(t, c.Node(tc.node), tc.exporter))
		now, stamped := c.Now().UnixMilli(), 0
		for _, s := range samples {
			if s.time == 0 {
				continue
			}
			stamped++
			if age := now - s.time; age < tc.from || age > tc.to {
				t.Fatalf("%s %s: a reading is %d ms old, want %d to %d", tc.node, tc.exporter, age, tc.from, tc.to)
			}
		}
		if stamped == 0 {
			t.Errorf("%s: no row has a time", tc.exporter)
		}
	}
	samples, _ := read(t, mustPage(t, c.Node("sim-ascend-01"), simulate.NodeExporter))
	if got, want := samples[0].value, float64(c.Now().UnixMilli()+8000)/1e3; samples[0].get("__name__") != "node_time_seconds" || got != want {
		t.Errorf("the node's clock says %g, want %g", got, want)
	}
}

// TestFaultyPages: what breaks on the wire breaks as it does in the field, and only there.
func TestFaultyPages(t *testing.T) {
	c := cluster(t, `
  - {kind: unescaped_label, at: 20s, for: 20s, nodes: "sim-h100-00", device: 1}
  - {kind: blank, at: 20s, for: 20s, nodes: "sim-h100-01", device: 0, metric: DCGM_FI_DEV_MEMORY_TEMP}
  - {kind: blank, at: 20s, for: 20s, nodes: "sim-h100-01", device: 0, metric: DCGM_FI_DEV_POWER_USAGE}
  - {kind: blank, at: 20s, for: 20s, nodes: "sim-ascend-00", device: 0, metric: npu_chip_info_health_status}
  - {kind: link_down, at: 20s, for: 20s, nodes: "sim-h100-00"}
`, 35*time.Second)
	h100 := mustPage(t, c.Node("sim-h100-00"), simulate.DCGM)
	samples, stats := read(t, h100)
	if stats.BadLines == 0 || stats.BadLines*8 != stats.BadLines+len(samples) {
		t.Errorf("%d bad lines and %d good ones, want those of one device in eight bad", stats.BadLines, len(samples))
	}
	if !strings.Contains(string(h100), `owner="rack "9""`) {
		t.Error("no quote in a label")
	}
	blank := string(mustPage(t, c.Node("sim-h100-01"), simulate.DCGM))
	for _, want := range []string{"DCGM_FI_DEV_MEMORY_TEMP{gpu=\"0\"", " 9223372036854775794\n", " 140737488355328.000000\n"} {
		if !strings.Contains(blank, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, s := range canonical(t, []byte(blank))["accel_power_watts"] {
		if s.value > 1000 {
			t.Errorf("the catalogue takes a blank for %g W", s.value)
		}
	}
	if !strings.Contains(string(mustPage(t, c.Node("sim-ascend-00"), simulate.NPU)), "} -1 ") {
		t.Error("a state that could not be read is not -1")
	}
	dts, _ := read(t, mustPage(t, c.Node("sim-h100-00"), simulate.DTS))
	if len(dts) != 1 {
		t.Errorf("the port is down, and %d series are there beside the temperature", len(dts)-1)
	}
	c.Step(30 * time.Second)
	if _, stats := read(t, mustPage(t, c.Node("sim-h100-00"), simulate.DCGM)); stats.BadLines != 0 {
		t.Errorf("%d bad lines after the fault", stats.BadLines)
	}
}

// TestBlanksAreTheCatalogues: what is printed for no value is what the catalogue knows.
func TestBlanksAreTheCatalogues(t *testing.T) {
	for _, tc := range []struct{ metric, blank string }{{"DCGM_FI_DEV_MEMORY_TEMP", blankInt64}, {"DCGM_FI_DEV_POWER_USAGE", blankFP64}} {
		m := catalog.Default().Resolve([]wire.Label{{Name: "UUID", Value: "GPU-1"}, {Name: "__name__", Value: tc.metric}}).Metric
		v, err := strconv.ParseFloat(tc.blank, 64)
		if m == nil || err != nil {
			t.Fatal(tc.metric, err)
		}
		if _, why := m.Normalize(v); why != catalog.IsBlank {
			t.Errorf("%s = %s: %s", tc.metric, tc.blank, why)
		}
	}
}
