package catalog

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestDefaultCoversFeatures lists what features are computed from. A row that goes
// missing turns counters into gauges without a word.
func TestDefaultCoversFeatures(t *testing.T) {
	for name, want := range map[string]struct {
		kind Kind
		unit string
	}{
		"node_cpu_seconds_total":                         {Counter, "seconds"},
		"node_cpu_info":                                  {Info, ""},
		"node_cpu_scaling_frequency_hertz":               {Gauge, "hertz"},
		"node_load1":                                     {Gauge, ""},
		"node_load15":                                    {Gauge, ""},
		"node_memory_MemTotal_bytes":                     {Gauge, "bytes"},
		"node_memory_MemAvailable_bytes":                 {Gauge, "bytes"},
		"node_memory_numa_MemTotal":                      {Gauge, "bytes"},
		"node_disk_read_bytes_total":                     {Counter, "bytes"},
		"node_disk_written_bytes_total":                  {Counter, "bytes"},
		"node_disk_io_time_seconds_total":                {Counter, "seconds"},
		"node_filesystem_avail_bytes":                    {Gauge, "bytes"},
		"node_network_receive_bytes_total":               {Counter, "bytes"},
		"node_network_transmit_drop_total":               {Counter, ""},
		"node_network_speed_bytes":                       {Gauge, "bytes_per_second"},
		"node_infiniband_port_data_received_bytes_total": {Counter, "bytes"},
		"node_boot_time_seconds":                         {Gauge, "seconds"},
		"node_time_seconds":                              {Gauge, "seconds"},
		"node_uname_info":                                {Info, ""},
		"node_dmi_info":                                  {Info, ""},
		"node_os_info":                                   {Info, ""},
		"node_vmstat_oom_kill":                           {Counter, ""},
		"node_pressure_memory_stalled_seconds_total":     {Counter, "seconds"},
		"node_hwmon_temp_celsius":                        {Gauge, "celsius"},
		"node_thermal_zone_temp":                         {Gauge, "celsius"},
		"node_rapl_package_joules_total":                 {Counter, "joules"},
		"node_edac_uncorrectable_errors_total":           {Counter, ""},
		"node_nf_conntrack_stat_drop":                    {Counter, ""}, // a gauge by its TYPE line
		"node_netstat_Tcp_RetransSegs":                   {Counter, ""}, // untyped
		"node_netstat_Tcp_CurrEstab":                     {Gauge, ""},
		"node_scrape_collector_success":                  {Gauge, ""},
		"node_scrape_collector_duration_seconds":         {Gauge, "seconds"},
		"up":                                             {Gauge, ""},
		"scrape_duration_seconds":                        {Gauge, "seconds"},
		"scrape_samples_scraped":                         {Gauge, ""},
	} {
		m, ok := Default().Lookup(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		if m.Kind != want.kind || m.Unit != want.unit || m.Canonical != name {
			t.Errorf("%s is the %s %s in %q, want a %s in %q", name, m.Kind, m.Canonical, m.Unit, want.kind, want.unit)
		}
	}
	if m, ok := Default().Lookup("no_such_metric"); ok {
		t.Errorf("found %+v", m)
	}
}

// TestDefaultNamesAndKindsAgree: by convention a name that ends in _total counts.
func TestDefaultNamesAndKindsAgree(t *testing.T) {
	all := Default().Metrics()
	if len(all) < 300 {
		t.Fatalf("%d metrics", len(all))
	}
	for i, m := range all {
		if i > 0 && all[i-1].Name > m.Name {
			t.Errorf("%s follows %s", m.Name, all[i-1].Name)
		}
		if m.Raw == "" && strings.HasSuffix(m.Canonical, "_total") && m.Kind != Counter {
			t.Errorf("%s:%d: %s is a %s", m.File, m.Line, m.Name, m.Kind)
		}
		if m.Raw == "" && m.Kind == Counter && (m.Min == nil || *m.Min != 0) {
			t.Errorf("%s:%d: counter %s may be negative", m.File, m.Line, m.Name)
		}
		for _, unit := range []string{"_seconds", "_bytes", "_hertz", "_celsius", "_joules", "_watts"} {
			if m.Raw == "" && strings.HasSuffix(strings.TrimSuffix(m.Canonical, "_total"), unit) && !strings.Contains(m.Canonical, "_alarm_") && !strings.HasPrefix(m.Unit, unit[1:]) {
				t.Errorf("%s:%d: %s is in %q", m.File, m.Line, m.Canonical, m.Unit)
			}
		}
	}
}

func TestVendorCatalogue(t *testing.T) {
	c, err := Load(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for _, v := range []struct {
		name      string
		exposed   float64
		canonical string
		want      float64
		reason    Reason
	}{
		{"GPU_UTIL", 60, "accel_busy_ratio", 0.6, Good},
		{"GPU_UTIL", 0, "accel_busy_ratio", 0, Good},
		{"GPU_UTIL", 101, "accel_busy_ratio", 1.01, OutOfRange},
		{"GPU_UTIL", -1, "accel_busy_ratio", -0.01, OutOfRange},
		{"GPU_UTIL", nan, "accel_busy_ratio", nan, NotANumber},
		{"FB_USED", 70123, "accel_mem_used_bytes", 73529294848, Good},
		{"FB_USED", 2147483634, "accel_mem_used_bytes", nan, IsBlank},
		{"FB_USED", 2147483636, "accel_mem_used_bytes", 2147483636 << 20, Good},
		{"ENERGY", 2147483999, "accel_energy_joules_total", 2147483.999, Good}, // above the int32 sentinels, and real
		{"ENERGY", 9223372036854775795, "accel_energy_joules_total", nan, IsBlank},
		{"ENERGY", -5, "accel_energy_joules_total", -0.005, OutOfRange},
		{"DRAM_ACTIVE", 140737488355330, "accel_mem_bw_ratio", nan, IsBlank},
		{"DRAM_ACTIVE", 140737488355331, "accel_mem_bw_ratio", 140737488355331, OutOfRange},
		{"hw.power", 2147483632, "accel_power_watts", 2147483632, OutOfRange},
		{"GPU_FAULTS", 7, "GPU_FAULTS", 7, Good},
	} {
		m, ok := c.Lookup(v.name)
		if !ok {
			t.Errorf("%s is missing", v.name)
			continue
		}
		got, reason := m.Normalize(v.exposed)
		same := got == v.want || math.IsNaN(got) && math.IsNaN(v.want) || math.Abs(got-v.want) < 1e-9*math.Abs(v.want)
		if m.Canonical != v.canonical || reason != v.reason || !same {
			t.Errorf("%s %v: %s %v (%s), want %s %v (%s)", v.name, v.exposed, m.Canonical, got, reason, v.canonical, v.want, v.reason)
		}
	}
	for name, want := range map[string]Evidence{"GPU_UTIL": FromDocs, "ENERGY": FromSource, "hw.power": FromThirdParty, "GPU_FAULTS": Unproven} {
		if m, _ := c.Lookup(name); m.Evidence != want || m.Source != "gpu-exporter" || m.File != "vendor.yaml" || m.Line == 0 {
			t.Errorf("%s: %+v, want evidence %s", name, m, want)
		}
	}
}

func TestPlainRowsChangeNothing(t *testing.T) {
	plain, others := 0, 0
	for _, m := range Default().Metrics() {
		if !m.Plain() {
			others++
			continue
		}
		plain++
		for _, v := range []float64{0, -1, 1e300, math.Inf(1), math.Inf(-1)} {
			if got, reason := m.Normalize(v); got != v || reason != Good {
				t.Errorf("%s: %v became %v (%s)", m.Name, v, got, reason)
			}
		}
	}
	if plain == 0 || others == 0 {
		t.Fatalf("%d plain rows, %d others", plain, others)
	}
}

func TestSpeedOfUnknownLinksIsBlank(t *testing.T) {
	m, _ := Default().Lookup("node_network_speed_bytes")
	if _, reason := m.Normalize(-125000); reason != IsBlank {
		t.Errorf("-125000 is %s", reason)
	}
	if got, reason := m.Normalize(1.25e9); got != 1.25e9 || reason != Good {
		t.Errorf("10 Gb/s: %v (%s)", got, reason)
	}
}

func TestTexts(t *testing.T) {
	if got := Kind(99).String() + " " + Reason(99).String(); got != "unknown unknown" {
		t.Error(got)
	}
	var got []string
	for r := Good; r <= OutOfRange; r++ {
		got = append(got, r.String())
	}
	if s := strings.Join(got, " "); s != "good nan blank range" {
		t.Error(s)
	}
}
