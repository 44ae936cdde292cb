package features

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// evaluate runs every feature of node_monitoring and node_static at a tick, as the pipeline does: over
// the samples before it. The result is "feature node" to the value, or to the label's
// value for strings. What is missing is NULL.
func evaluate(t *testing.T, script string, tick time.Duration) (nums map[string]float64, strs map[string]string) {
	t.Helper()
	views := []*View{builtinView(t, "node_monitoring"), builtinView(t, "node_static")}
	store := promqltest.LoadedStorage(t, script)
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, promqltest.DefaultMaxSamplesPerQuery)
	nums, strs = make(map[string]float64), make(map[string]string)
	for _, v := range views {
		for _, f := range v.Features {
			at := time.UnixMilli(tick.Milliseconds() - 1)
			q, err := engine.NewInstantQuery(context.Background(), store, nil, f.Expr, at)
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			vector, err := q.Exec(context.Background()).Vector()
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			for _, s := range vector {
				wantLabels(t, v, f, s)
				key := f.Name + " " + s.Metric.Get("node")
				if f.DType == String {
					strs[key] = s.Metric.Get(f.Label)
				} else {
					nums[key] = s.F
				}
			}
		}
	}
	return nums, strs
}

// ofPromQL is the built-in views that are no SQL.
func ofPromQL(t *testing.T) []*View {
	t.Helper()
	views, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(views, func(v *View) bool { return v.SQL != "" })
}

func wantLabels(t *testing.T, v *View, f Feature, s promql.Sample) {
	t.Helper()
	want := slices.Clone(v.Keys)
	if s.Metric.Has(f.Label) { // a label without a value is no label, and the feature is NULL
		want = append(want, f.Label)
	}
	var got []string
	s.Metric.Range(func(l labels.Label) { got = append(got, l.Name) })
	if !sameSet(got, want) {
		t.Errorf("%s: labels %v, want %v", f.Name, got, want)
	}
}

// wantNums compares the features named in want; NaN stands for NULL.
func wantNums(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for key, w := range want {
		g, ok := got[key]
		if null := !ok || math.IsNaN(g); null != math.IsNaN(w) || !null && math.Abs(g-w) > 1e-9*math.Max(1, math.Abs(w)) {
			t.Errorf("%s = %v (there: %v), want %v", key, g, ok, w)
		}
	}
}

var null = math.NaN()

// A host with two CPUs, two disks and two interfaces, scraped every 10 s for 6 minutes
// with counters that grow evenly. Every right answer is one division.
const steadyHost = `load 10s
  node_time_seconds{node="a"} 1.7e9+10x40
  node_cpu_seconds_total{node="a",cpu="0",mode="idle"}   1000+7.5x40
  node_cpu_seconds_total{node="a",cpu="1",mode="idle"}   2000+5x40
  node_cpu_seconds_total{node="a",cpu="0",mode="iowait"} 100+1x40
  node_cpu_seconds_total{node="a",cpu="1",mode="iowait"} 100+0.5x40
  node_cpu_seconds_total{node="a",cpu="0",mode="user"}   100+1.5x40
  node_cpu_seconds_total{node="a",cpu="1",mode="user"}   100+4.5x40
  node_cpu_seconds_total{node="a",cpu="0",mode="steal"}  10+0.2x40
  node_cpu_seconds_total{node="a",cpu="1",mode="steal"}  10+0x40
  node_load1{node="a"}  3x40
  node_load5{node="a"}  2x40
  node_load15{node="a"} 1x40
  node_memory_MemTotal_bytes{node="a"}     1000x40
  node_memory_MemAvailable_bytes{node="a"} 1000-10x40
  node_memory_SwapTotal_bytes{node="a"}    500x40
  node_memory_SwapFree_bytes{node="a"}     400x40
  node_disk_read_bytes_total{node="a",device="sda"}         1e6+1000x40
  node_disk_read_bytes_total{node="a",device="sda1"}        1e6+1000x40
  node_disk_read_bytes_total{node="a",device="nvme0n1"}     1e6+2000x40
  node_disk_read_bytes_total{node="a",device="nvme0n1p2"}   1e6+2000x40
  node_disk_read_bytes_total{node="a",device="dm-0"}        1e6+3000x40
  node_disk_written_bytes_total{node="a",device="sda"}      1e6+500x40
  node_disk_written_bytes_total{node="a",device="md127"}    1e6+500x40
  node_disk_io_time_seconds_total{node="a",device="sda"}     10+1x40
  node_disk_io_time_seconds_total{node="a",device="nvme0n1"} 10+4x40
  node_disk_io_time_seconds_total{node="a",device="loop0"}   10+9x40
  node_network_receive_bytes_total{node="a",device="eth0"}      1e6+100x40
  node_network_receive_bytes_total{node="a",device="ens1f0np0"} 1e6+200x40
  node_network_receive_bytes_total{node="a",device="bond0"}     1e6+300x40
  node_network_receive_bytes_total{node="a",device="eth0.100"}  1e6+100x40
  node_network_receive_bytes_total{node="a",device="lo"}        1e6+9000x40
  node_network_receive_bytes_total{node="a",device="veth12ab"}  1e6+9000x40
  node_network_transmit_bytes_total{node="a",device="eth0"}     1e6+50x40
  node_network_transmit_bytes_total{node="a",device="docker0"}  1e6+50x40
  node_network_speed_bytes{node="a",device="eth0"}      1.25e8x40
  node_network_speed_bytes{node="a",device="ens1f0np0"} 1.25e9x40
  node_network_speed_bytes{node="a",device="veth12ab"}  1.25e9x40
  node_filesystem_size_bytes{node="a",device="/dev/sda1",mountpoint="/",fstype="ext4"}     100x40
  node_filesystem_avail_bytes{node="a",device="/dev/sda1",mountpoint="/",fstype="ext4"}    75x40
  node_filesystem_size_bytes{node="a",device="/dev/sdb1",mountpoint="/data",fstype="xfs"}  100x40
  node_filesystem_avail_bytes{node="a",device="/dev/sdb1",mountpoint="/data",fstype="xfs"} 40x40
  node_filesystem_size_bytes{node="a",device="tmpfs",mountpoint="/run",fstype="tmpfs"}     100x40
  node_filesystem_avail_bytes{node="a",device="tmpfs",mountpoint="/run",fstype="tmpfs"}    0x40
  node_pressure_cpu_waiting_seconds_total{node="a"}    5+0.5x40
  node_pressure_memory_waiting_seconds_total{node="a"} 5+0x40
  node_pressure_io_waiting_seconds_total{node="a"}     5+1x40
  node_cpu_info{node="a",package="0",core="0",cpu="0",model_name="Model X"} 1x40
  node_cpu_info{node="a",package="0",core="0",cpu="1",model_name="Model X"} 1x40
  node_memory_numa_MemTotal{node="a",exported_node="0"} 500x40
  node_memory_numa_MemTotal{node="a",exported_node="1"} 500x40
  node_uname_info{node="a",release="6.8.0-45",machine="x86_64",nodename="a",sysname="Linux"} 1x40
  node_os_info{node="a",pretty_name="Debian 13",id="debian"} 1x40
  node_boot_time_seconds{node="a"} 1700000000x40
`

func TestSteadyHost(t *testing.T) {
	nums, strs := evaluate(t, steadyHost, 6*time.Minute)
	want := map[string]float64{
		// 1 - (0.75+0.5)/2 - (0.1+0.05)/2
		"cpu_utilization_30s a": 0.3, "cpu_utilization_1m a": 0.3, "cpu_utilization_5m a": 0.3,
		"cpu_steal_1m a":     0.01,
		"load_per_core_1m a": 1.5, "load_per_core_5m a": 1, "load_per_core_15m a": 0.5,
		// The last sample before 6m is the 36th: 1000-350. The window of 30 s holds 670, 660
		// and 650, that of 1m 700 to 650, that of 5m 940 to 650.
		"memory_used_ratio a": 0.35, "memory_used_ratio_30s a": 0.34, "memory_used_ratio_1m a": 0.325,
		"memory_used_ratio_5m a": 0.205, "memory_available_bytes a": 650, "swap_used_bytes a": 100,
		"disk_read_bytes_per_second_30s a": 300, "disk_read_bytes_per_second_1m a": 300, "disk_read_bytes_per_second_5m a": 300,
		"disk_write_bytes_per_second_30s a": 50, "disk_write_bytes_per_second_1m a": 50, "disk_write_bytes_per_second_5m a": 50,
		"disk_busy_ratio_30s a": 0.4, "disk_busy_ratio_1m a": 0.4, "disk_busy_ratio_5m a": 0.4,
		"network_receive_bytes_per_second_30s a": 30, "network_receive_bytes_per_second_1m a": 30, "network_receive_bytes_per_second_5m a": 30,
		"network_transmit_bytes_per_second_30s a": 5, "network_transmit_bytes_per_second_1m a": 5, "network_transmit_bytes_per_second_5m a": 5,
		"filesystem_used_ratio_max a": 0.6,
		"pressure_cpu_1m a":           0.05, "pressure_memory_1m a": 0, "pressure_io_1m a": 0.1,
		"cpu_count a": 2, "cpu_cores a": 1, "cpu_sockets a": 1, "numa_nodes a": 2,
		"memory_bytes a": 1000, "swap_bytes a": 500, "network_capacity a": 1.375e9, "boot_time a": 1.7e9,
	}
	wantNums(t, nums, want)
	for key := range nums {
		if _, ok := want[key]; !ok {
			t.Errorf("%s has no expectation here", key)
		}
	}
	for key, w := range map[string]string{
		"cpu_model a": "Model X", "kernel_release a": "6.8.0-45", "architecture a": "x86_64", "os_name a": "Debian 13",
	} {
		if strs[key] != w {
			t.Errorf("%s = %q, want %q", key, strs[key], w)
		}
	}
	all := len(builtinView(t, "node_monitoring").Features) + len(builtinView(t, "node_static").Features)
	if got := len(nums) + len(strs); got != all {
		t.Errorf("%d features have a value on a host that exposes everything", got)
	}
}

// Each host lacks something, and lacks only the features that need it.
func TestMissingSeriesAreNull(t *testing.T) {
	nums, strs := evaluate(t, `load 10s
  node_time_seconds{node="bsd"} 0+10x10
  node_time_seconds{node="inner"} 0+10x10
  node_time_seconds{node="vm"} 0+10x10
  node_cpu_seconds_total{node="bsd",cpu="0",mode="idle"}    10+5x10
  node_cpu_seconds_total{node="noclock",cpu="0",mode="idle"}   10+5x10
  node_cpu_seconds_total{node="noclock",cpu="0",mode="iowait"} 10+0x10
  node_load1{node="loadonly"}                               1x10
  node_memory_MemTotal_bytes{node="old"}                    100x10
  node_cpu_info{node="vm",package="0",cpu="0"}              1x10
  node_cpu_info{node="vm",package="1",cpu="1"}              1x10
  node_cpu_info{node="arm",cpu="0"}                         1x10
  node_cpu_info{node="arm",cpu="1"}                         1x10
  node_network_speed_bytes{node="vm",device="eth0"}         -125000x10
  node_network_receive_bytes_total{node="inner",device="lo"} 0+100x10
  node_memory_SwapTotal_bytes{node="noswap"}                0x10
  node_memory_SwapFree_bytes{node="noswap"}                 0x10
`, time.Minute)
	wantNums(t, nums, map[string]float64{
		"cpu_utilization_1m bsd": null, "cpu_count bsd": 1, "cpu_steal_1m bsd": null,
		"cpu_utilization_1m noclock": null, "cpu_count noclock": 1, "load_per_core_1m loadonly": null, "cpu_count loadonly": null,
		"memory_used_ratio old": null, "memory_used_ratio_1m old": null, "memory_bytes old": 100, "swap_bytes old": null,
		"cpu_cores vm": null, "cpu_sockets vm": 2, "cpu_cores arm": null, "cpu_sockets arm": null, "numa_nodes arm": null,
		"numa_nodes vm": 2, "network_capacity vm": null, "numa_nodes bsd": null, "cpu_cores bsd": null,
		"network_receive_bytes_per_second_1m inner": null, "disk_read_bytes_per_second_1m inner": null,
		"swap_used_bytes noswap": 0, "swap_bytes noswap": 0, "swap_used_bytes bsd": null,
		"pressure_cpu_1m vm": null,
	})
	if model, ok := strs["cpu_model vm"]; ok && model != "" {
		t.Errorf("cpu_model vm = %q", model)
	}
}

func TestCounterResetsGapsAndStaleMarkers(t *testing.T) {
	// Ticks at 60 s see the samples of 0 to 50 s; a window of 30 s those of 30, 40 and 50 s.
	nums, _ := evaluate(t, `load 10s
  node_time_seconds{node="reset"} 0+10x6
  node_time_seconds{node="gap"}   0 10 20 30 _ 50
  node_time_seconds{node="one"}   _ _ _ _ _ 50
  node_time_seconds{node="new"}   _ _ _ _ 40 50
  node_time_seconds{node="plug"}  0+10x6
  node_time_seconds{node="gone"}  0 10 20 30 stale
  node_time_seconds{node="going"} 0 10 20 30 40 stale
  node_time_seconds{node="back"}  100 110 120 130 40 50
  node_disk_written_bytes_total{node="reset",device="sda"} 1000 2000 3000 4000 500 1500
  node_disk_written_bytes_total{node="gap",device="sda"}   1000 2000 3000 4000 _ 6000
  node_disk_written_bytes_total{node="one",device="sda"}   _ _ _ _ _ 6000
  node_disk_written_bytes_total{node="new",device="sda"}   _ _ _ _ 5000 6000
  node_disk_written_bytes_total{node="plug",device="sda"}  1000 2000 3000 4000 5000 6000
  node_disk_written_bytes_total{node="plug",device="sdb"}  _ _ _ _ _ 6000
  node_disk_written_bytes_total{node="gone",device="sda"}  1000 2000 3000 4000 stale
  node_disk_written_bytes_total{node="going",device="sda"} 1000 2000 3000 4000 5000 stale
  node_load1{node="gone"}                                  4 4 4 4 4 stale
  node_cpu_seconds_total{node="gone",cpu="0",mode="idle"}  1 2 3 4 5 stale
  node_memory_MemTotal_bytes{node="gone"}                  1 1 1 1 1 stale
  node_load1{node="back"}                                  4 4 4 stale 8 8
  node_cpu_seconds_total{node="back",cpu="0",mode="idle"}  1 2 3 stale 5 6
`, time.Minute)
	wantNums(t, nums, map[string]float64{
		"disk_write_bytes_per_second_30s reset": 75,  // 4000 to 500 is a reset to 0: (500 + 1000) / 20 s
		"disk_write_bytes_per_second_30s gap":   100, // 2000 over the 20 s between the samples that are there
		"disk_write_bytes_per_second_30s one":   null,
		"disk_write_bytes_per_second_30s new":   100, // 1000 over 10 s
		"disk_write_bytes_per_second_5m new":    100,
		"disk_write_bytes_per_second_30s plug":  100,  // one sample of sdb says nothing yet
		"disk_write_bytes_per_second_30s gone":  null, // one sample is left in the window
		"disk_write_bytes_per_second_30s going": 100,
		"load_per_core_1m gone":                 null, "cpu_count gone": null, "memory_bytes gone": null,
		"load_per_core_1m back": 8, "cpu_count back": 1,
	})
}

// A window that is filled to a part is the mean of that part, from the second sample on.
func TestStartOfANode(t *testing.T) {
	for _, tick := range []time.Duration{20 * time.Second, 30 * time.Second, 50 * time.Second, 2 * time.Minute} {
		nums, _ := evaluate(t, steadyHost, tick)
		wantNums(t, nums, map[string]float64{
			"cpu_utilization_30s a": 0.3, "cpu_utilization_1m a": 0.3, "cpu_utilization_5m a": 0.3, "cpu_steal_1m a": 0.01,
			"disk_read_bytes_per_second_30s a": 300, "disk_read_bytes_per_second_5m a": 300, "disk_busy_ratio_5m a": 0.4,
			"network_receive_bytes_per_second_1m a": 30, "network_receive_bytes_per_second_5m a": 30, "pressure_io_1m a": 0.1,
		})
	}
	nums, _ := evaluate(t, steadyHost, 10*time.Second)
	wantNums(t, nums, map[string]float64{"cpu_utilization_1m a": null, "disk_read_bytes_per_second_1m a": null, "cpu_count a": 2})
}

// The kernel lets iowait step back by hundredths, which a rate takes for a reset: it adds
// the whole counter. The ratio stays one.
func TestIowaitThatStepsBackStaysInRange(t *testing.T) {
	nums, _ := evaluate(t, `load 10s
  node_time_seconds{node="a"} 0+10x6
  node_cpu_seconds_total{node="a",cpu="0",mode="idle"}   100+9x6
  node_cpu_seconds_total{node="a",cpu="0",mode="iowait"} 5000 5000 5000 5000 4999.99 5000
`, time.Minute)
	wantNums(t, nums, map[string]float64{"cpu_utilization_30s a": 0, "cpu_utilization_1m a": 0})
}

// Several nodes at once do not mix.
func TestNodesDoNotMix(t *testing.T) {
	nums, _ := evaluate(t, steadyHost+strings.ReplaceAll(strings.TrimPrefix(steadyHost, "load 10s\n"), `node="a"`, `node="b"`), 6*time.Minute)
	for key, a := range nums {
		if name, ok := strings.CutSuffix(key, " a"); ok && nums[name+" b"] != a {
			t.Errorf("%s: %v and %v of equal hosts", name, a, nums[name+" b"])
		}
	}
	wantNums(t, nums, map[string]float64{"cpu_count b": 2, "network_receive_bytes_per_second_1m b": 30})
}

func TestDevicesThatCount(t *testing.T) {
	tests := []struct{ feature, counted, left string }{
		{
			"network_receive_bytes_per_second_1m",
			"eth0 eth10 eno1 enp3s0 enp129s0f0np0 ens1f1 em1 p1p2 ib0 ibp12s0 wlan0 wlp2s0 rdma0 mgmt0 usb0 end0 net1 hsn0",
			"lo dummy0 ifb1 veth0a1b docker0 br-1f2e br0 virbr0 vmbr1 cni0 flannel.1 cali12ab cilium_host cilium_vxlan lxc123 " +
				"bond0 team0 eth0.100 eth0@if5 vlan100 tap0 tun0 vnet3 wg0 tailscale0 tunl0 gre0 gretap0 erspan0 sit0 ip6tnl0 " +
				"ip_vti0 kube-ipvs0 nodelocaldns ovs-system ovn-k8s-mp0 genev_sys_6081 vxlan_sys_4789 macvlan0 ipvlan1 " +
				"eni1a2b3c4d5e6 azv1234 pf0vf3 pf0hpf pf1sf2 weave podman0 vrf-blue antrea-gw0 nlmon0",
		},
		{
			"disk_busy_ratio_1m",
			"sda sdaa vda xvda hda nvme0n1 nvme10n12 mmcblk0 nbd0 rbd0 pmem0 dasda cciss!c0d0",
			"sda1 sdaa12 vda2 xvda1 hda3 dasda1 nvme0n1p1 nvme0c1n1 mmcblk0p1 mmcblk0boot0 nbd0p1 rbd0p2 dm-0 dm-12 md0 md127 " +
				"loop0 ram0 zram0 fd0 sr0 bcache0 drbd1 pmem0p1",
		},
	}
	for _, tt := range tests {
		device := deviceMatcher(t, tt.feature)
		for _, name := range strings.Fields(tt.counted) {
			if !device.Matches(name) {
				t.Errorf("%s leaves out %s", tt.feature, name)
			}
		}
		for _, name := range strings.Fields(tt.left) {
			if device.Matches(name) {
				t.Errorf("%s counts %s", tt.feature, name)
			}
		}
	}
}

func deviceMatcher(t *testing.T, feature string) *labels.Matcher {
	t.Helper()
	var all []Feature
	for _, v := range ofPromQL(t) {
		all = append(all, v.Features...)
	}
	for _, f := range all {
		expr, err := Parse(f.Expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range slices.Concat(parser.ExtractSelectors(expr)...) {
			if f.Name == feature && m.Name == "device" {
				return m
			}
		}
	}
	t.Fatalf("%s has no matcher for device", feature)
	return nil
}
