package catalog

import (
	"strings"
	"testing"

	"sextant/schema/wire"
)

// series reads name{a="b",c="d"} for tests.
func series(text string) []wire.Label {
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, "}"), "{")
	ls := []wire.Label{{Name: nameLabel, Value: name}}
	for rest != "" {
		var pair string
		pair, rest, _ = strings.Cut(rest, ",")
		k, v, _ := strings.Cut(pair, "=")
		ls = append(ls, wire.Label{Name: k, Value: strings.Trim(v, `"`)})
	}
	return ls
}

// TestPage resolves small pages. Each line of want belongs to one of the page: the
// canonical series, "= n" if it is that of line n, "- name" if it stays as exposed, for
// which the outcome follows.
func TestPage(t *testing.T) {
	for _, c := range []struct {
		name       string
		page, want []string
		infos      []string
	}{
		{"an owner is no part of the series", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="G"}`, `DCGM_FI_DEV_GPU_UTIL{UUID="G",pod="p",namespace="n",container="c"}`},
			[]string{`accel_busy_ratio{device="G",vendor="nvidia"}`, "= 0"},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_owner_info{container="c",device="G",namespace="n",pod="p",vendor="nvidia"}`}},
		{"every spelling of an owner is one owner", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="G",pod="p"}`, `DCGM_FI_DEV_GPU_TEMP{UUID="G",pod_name="p"}`, `DCGM_FI_DEV_FB_USED{UUID="G",exported_pod="p",pod="nvidia-dcgm-exporter-x"}`},
			[]string{`accel_busy_ratio{device="G",vendor="nvidia"}`, `accel_temp_celsius{device="G",sensor="core",vendor="nvidia"}`, `accel_mem_used_bytes{device="G",vendor="nvidia"}`},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_owner_info{device="G",pod="p",vendor="nvidia"}`}},
		{"a shared device has several owners and one reading", []string{`DCGM_FI_DEV_FB_USED{UUID="G",pod="a",vgpu="0"}`, `DCGM_FI_DEV_FB_USED{UUID="G",pod="b",vgpu="1"}`},
			[]string{`accel_mem_used_bytes{device="G",vendor="nvidia"}`, "= 0"},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_owner_info{device="G",pod="a",share="0",vendor="nvidia"}`, `accel_owner_info{device="G",pod="b",share="1",vendor="nvidia"}`}},
		{"an owner that the exporter will not tell is none", []string{`npu_chip_info_power{vdie_id="V",namespace="not_displayed_for_multi_pod",pod_name="not_displayed_for_multi_pod"}`},
			[]string{`accel_power_watts{device="V",vendor="huawei"}`}, []string{`accel_device_info{device="V",identity="uid",vendor="huawei"}`}},
		{"an id of zeros is none, an address names the device", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="GPU-00000000-0000-0000-0000-000000000000",pci_bus_id="00000000:CA:00.0",gpu="3"}`},
			[]string{`accel_busy_ratio{device="pci:0000:ca:00.0",vendor="nvidia"}`}, []string{`accel_device_info{device="pci:0000:ca:00.0",identity="pci",index="3",pci="0000:ca:00.0",vendor="nvidia"}`}},
		{"an index leads to an address, that to an id", []string{`DCGM_FI_DEV_GPU_UTIL{gpu="3"}`, `DCGM_FI_DEV_GPU_TEMP{pci_bus_id="00000000:CA:00.0",gpu="3"}`, `DCGM_FI_DEV_FB_USED{UUID="G",pci_bus_id="00000000:CA:00.0"}`},
			[]string{`accel_busy_ratio{device="G",vendor="nvidia"}`, `accel_temp_celsius{device="G",sensor="core",vendor="nvidia"}`, `accel_mem_used_bytes{device="G",vendor="nvidia"}`},
			[]string{`accel_device_info{device="G",identity="uid",index="3",pci="0000:ca:00.0",vendor="nvidia"}`}},
		{"an index that two devices have leads nowhere", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="A",gpu="0"}`, `DCGM_FI_DEV_GPU_UTIL{UUID="B",gpu="0"}`, `DCGM_FI_DEV_GPU_TEMP{gpu="0"}`},
			[]string{`accel_busy_ratio{device="A",vendor="nvidia"}`, `accel_busy_ratio{device="B",vendor="nvidia"}`, `accel_temp_celsius{device="index:0",sensor="core",vendor="nvidia"}`},
			[]string{`accel_device_info{device="A",identity="uid",index="0",vendor="nvidia"}`, `accel_device_info{device="B",identity="uid",index="0",vendor="nvidia"}`, `accel_device_info{device="index:0",identity="index",index="0",vendor="nvidia"}`}},
		{"two devices of one id stay two", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="G",pci_bus_id="00000000:01:00.0"}`, `DCGM_FI_DEV_GPU_UTIL{UUID="G",pci_bus_id="00000000:02:00.0"}`},
			[]string{`accel_busy_ratio{device="G@00000000:01:00.0",vendor="nvidia"}`, `accel_busy_ratio{device="G@00000000:02:00.0",vendor="nvidia"}`},
			[]string{`accel_device_info{device="G@00000000:01:00.0",identity="duplicate",pci="0000:01:00.0",vendor="nvidia"}`, `accel_device_info{device="G@00000000:02:00.0",identity="duplicate",pci="0000:02:00.0",vendor="nvidia"}`}},
		{"a device that moves keeps its series", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="G",pci_bus_id="00000000:02:00.0",gpu="7",job="x",instance="y",Hostname="z"}`},
			[]string{`accel_busy_ratio{device="G",vendor="nvidia"}`}, []string{`accel_device_info{device="G",identity="uid",index="7",pci="0000:02:00.0",vendor="nvidia"}`}},
		{"what the kubelet was asked for has the names of the readings", []string{`accel_owner_info{vendor="nvidia",device="GPU-a",namespace="n",pod="p",container="c"}`, `accel_allocated_ratio{vendor="nvidia",device="GPU-a",slice="3"}`,
			`kubelet_device_held_info{resource="amd.com/gpu",device_id="0000:c1:00.0",pod="p"}`},
			[]string{"- as_is", "- as_is", "- as_is"}, nil},
		{"no device, no canonical series", []string{`DCGM_FI_DEV_GPU_UTIL{hostname="h",pod=""}`}, []string{"- no_device"}, nil},
		{"an unknown name of a vendor is reported", []string{`DCGM_FI_DEV_NEW_THING{UUID="G"}`, `npu_chip_info_new{id="0"}`, `gpu_new{gpu_partition_id="0"}`, `gpu_new{gpu="0"}`, `hw_new{hw_id="x"}`, `amd_new`},
			[]string{"- unknown", "- unknown", "- unknown", "- unlisted", "- unknown", "- unknown"}, nil},
		{"a known name of an unknown kind is reported", []string{`gpu_clock{gpu_uuid="A1",clock_type="new"}`}, []string{"- unknown"}, nil},
		{"the better of two measures stands", []string{`DCGM_FI_DEV_MEM_COPY_UTIL{UUID="G"}`, `DCGM_FI_PROF_DRAM_ACTIVE{UUID="G"}`, `DCGM_FI_DEV_MEM_COPY_UTIL{UUID="H"}`},
			[]string{"outranked", `accel_mem_bw_ratio{device="G",vendor="nvidia"}`, `accel_mem_bw_ratio{device="H",vendor="nvidia",via="controller"}`},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_device_info{device="H",identity="uid",vendor="nvidia"}`}},
		{"the new unit of a field is the same series", []string{`DCGM_FI_DEV_SM_CLOCK{UUID="G"}`, `DCGM_FI_DEV_SM_CLOCK_HERTZ{UUID="G"}`},
			[]string{"= 1", `accel_clock_hertz{device="G",domain="core",vendor="nvidia"}`}, []string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`}},
		{"what nobody knows stays on the series", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="G",rack="9",simulated="true",vendor="x"}`},
			[]string{`accel_busy_ratio{device="G",exported_vendor="x",rack="9",simulated="true",vendor="nvidia"}`}, []string{`accel_device_info{device="G",identity="uid",simulated="true",vendor="nvidia"}`}},
		{"a tile of an old Intel exporter is a slice, a card is raw", []string{`xpum_power_watts{uuid="U1",src="direct"}`, `xpum_power_watts{uuid="U1",sub_dev="0"}`, `xpum_power_watts{card="2",src="sum"}`, `xpum_temperature_celsius{uuid="U1",sub_dev="1",location="mem"}`},
			[]string{`accel_power_watts{device="U1",vendor="intel"}`, "- part", "- part", `accel_temp_celsius{device="U1",sensor="memory",slice="1",vendor="intel"}`},
			[]string{`accel_device_info{device="U1",identity="uid",vendor="intel"}`, `accel_slice_info{device="U1",slice="1",vendor="intel"}`}},
		{"a slice of a slice is another slice", []string{`DCGM_FI_PROF_SM_ACTIVE{UUID="G"}`, `DCGM_FI_PROF_SM_ACTIVE{UUID="G",GPU_I_ID="3"}`, `DCGM_FI_PROF_SM_ACTIVE{UUID="G",GPU_I_ID="3",GPU_CI_ID="0",GPU_CI_PROFILE="1c"}`},
			[]string{`accel_compute_ratio{device="G",pipe="sm",vendor="nvidia"}`, `accel_compute_ratio{device="G",pipe="sm",slice="3",vendor="nvidia"}`, `accel_compute_ratio{device="G",pipe="sm",slice="3/0",vendor="nvidia"}`},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_slice_info{device="G",slice="3",vendor="nvidia"}`, `accel_slice_info{compute_profile="1c",device="G",slice="3/0",vendor="nvidia"}`}},
		{"what an owner was given and what it uses are two metrics", []string{`hami_vgpu_memory_limit_bytes{device_uuid="G",vdevice_index="0",namespace="n",pod="p",container="c",zone="z"}`,
			`hami_vgpu_memory_used_bytes{device_uuid="G",vdevice_index="0",namespace="n",pod="p",container="c"}`, `hami_container_device_utilization_ratio{device_uuid="G",vdevice_index="0",namespace="n",pod="q",container="c"}`},
			[]string{`accel_allocated_mem_bytes{container="c",device="G",namespace="n",pod="p",vendor="nvidia"}`, `accel_owner_mem_used_bytes{container="c",device="G",namespace="n",pod="p",vendor="nvidia"}`,
				`accel_owner_busy_ratio{container="c",device="G",namespace="n",pod="q",vendor="nvidia"}`},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_owner_info{container="c",device="G",namespace="n",pod="p",vendor="nvidia"}`,
				`accel_owner_info{container="c",device="G",namespace="n",pod="q",vendor="nvidia"}`}},
		{"the older names of HAMi repeat the newer", []string{`hami_vgpu_memory_limit_bytes{device_uuid="G",vdevice_index="0",namespace="n",pod="p",container="c"}`,
			`vGPU_device_memory_limit_in_bytes{deviceuuid="G",vdeviceid="0",podnamespace="n",podname="p",ctrname="c"}`},
			[]string{`accel_allocated_mem_bytes{container="c",device="G",namespace="n",pod="p",vendor="nvidia"}`, "= 0"},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_owner_info{container="c",device="G",namespace="n",pod="p",vendor="nvidia"}`}},
		{"HAMi's reading of a device is a second choice", []string{`HostCoreUtilization{nodeid="n1",deviceidx="0",deviceuuid="G",devicetype="NVIDIA-NVIDIA A100"}`},
			[]string{`accel_busy_ratio{device="G",vendor="nvidia",via="hami"}`}, []string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`}},
		{"HAMi tells who has a MIG instance", []string{`hami_mig_device_info{device_uuid="G",mig_uuid="MIG-1",profile="1g.10gb",gpu_instance_id="3",compute_instance_id="0",vdevice_index="0",namespace="n",pod="p",container="c"}`},
			[]string{`accel_chip_info{device="G",slice="3/0",vendor="nvidia"}`},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_slice_info{device="G",profile="1g.10gb",slice="3/0",vendor="nvidia"}`,
				`accel_owner_info{container="c",device="G",namespace="n",pod="p",slice="3/0",vendor="nvidia"}`}},
		{"with time-slicing or MPS no owner has a reading of its own", []string{`DCGM_FI_DEV_GPU_UTIL{UUID="G",pod="a",vgpu="0"}`, `DCGM_FI_DEV_GPU_UTIL{UUID="G",pod="b",vgpu="1"}`, `DCGM_FI_DEV_GPU_UTIL{UUID="G"}`},
			[]string{`accel_busy_ratio{device="G",vendor="nvidia"}`, "= 0", "= 0"},
			[]string{`accel_device_info{device="G",identity="uid",vendor="nvidia"}`, `accel_owner_info{device="G",pod="a",share="0",vendor="nvidia"}`, `accel_owner_info{device="G",pod="b",share="1",vendor="nvidia"}`}},
		{"a process is no owner", []string{`npu_chip_info_process_info{vdie_id="V",process_id="7",container_name="n_p_c"}`},
			[]string{`accel_process_mem_used_bytes{device="V",pid="7",vendor="huawei"}`}, []string{`accel_device_info{device="V",identity="uid",vendor="huawei"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Default().NewPage()
			for range 2 { // the second time after a Reset
				p.Reset()
				for _, s := range c.page {
					p.Add(series(s))
				}
				all, infos := p.Resolve()
				for i, m := range all {
					if got := mappingText(m); got != c.want[i] {
						t.Errorf("%s\n   became %s\n   want   %s", c.page[i], got, c.want[i])
					}
					if (m.Outcome == Unlisted || m.Outcome > Mapped) && m.Name != series(c.page[i])[0].Value {
						t.Errorf("%s was renamed to %s", c.page[i], m.Name)
					}
				}
				var got []string
				for _, s := range infos {
					got = append(got, seriesText(s.Name, s.Labels))
				}
				if strings.Join(got, "\n") != strings.Join(c.infos, "\n") {
					t.Errorf("infos:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.infos, "\n"))
				}
			}
		})
	}
}

func mappingText(m Mapping) string {
	switch {
	case m.Outcome != Mapped:
		return "- " + m.Outcome.String()
	case m.Outranked:
		return "outranked"
	case m.Lead >= 0:
		return "= " + string(rune('0'+m.Lead))
	}
	return seriesText(m.Name, m.Labels)
}

func TestWeakIdentities(t *testing.T) {
	for text, weak := range map[string]bool{
		`DCGM_FI_DEV_GPU_UTIL{UUID="G"}`:                                    false,
		`DCGM_FI_DEV_GPU_UTIL{pci_bus_id="0000:01:00.0"}`:                   true,
		`DCGM_FI_DEV_GPU_UTIL{gpu="0"}`:                                     true,
		`gpu_health{gpu_uuid="ffffffff-ffff",serial_number="S",gpu_id="0"}`: true,
		`machine_npu_nums`:                                                  false,
	} {
		if m := Default().Resolve(series(text)); m.Outcome != Mapped || m.Weak != weak {
			t.Errorf("%s: %s, weak %v", text, m.Outcome, m.Weak)
		}
	}
}

// TestNoTwoDevicesMeet: whatever the labels, a mapped series says vendor and device.
func FuzzPage(f *testing.F) {
	f.Add("DCGM_FI_DEV_GPU_UTIL", "UUID", "G", "pci_bus_id", "0:1")
	f.Add("gpu_clock", "clock_type", "system", "gpu_id", "3")
	f.Add("hw.temperature", "hw.id", "x", "statistic", "max")
	f.Fuzz(func(t *testing.T, name, k1, v1, k2, v2 string) {
		p := Default().NewPage()
		ls := []wire.Label{{Name: nameLabel, Value: name}, {Name: k1, Value: v1}, {Name: k2, Value: v2}}
		p.Add(ls)
		p.Add(ls)
		all, infos := p.Resolve()
		for i, m := range all {
			if m.Outcome == Mapped && (valueOf(m.Labels, vendorLabel) != m.Vendor || m.Metric.Scope.needsDevice() && valueOf(m.Labels, deviceLabel) == "") {
				t.Fatalf("%s %v", m.Name, m.Labels)
			}
			if m.Outcome == Mapped && i == 1 && m.Lead != 0 {
				t.Fatalf("%s twice is two series", m.Name)
			}
			for k := 1; k < len(m.Labels); k++ {
				if m.Outcome == Mapped && m.Labels[k-1].Name >= m.Labels[k].Name {
					t.Fatalf("labels %v", m.Labels)
				}
			}
		}
		for _, s := range infos {
			if len(s.Of) != 2 || valueOf(s.Labels, deviceLabel) == "" {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// BenchmarkPage resolves the page of eight devices that dcgm-exporter gives: what a new
// layout of a node costs.
func BenchmarkPage(b *testing.B) {
	var page [][]wire.Label
	for _, name := range []string{"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_MEM_COPY_UTIL"} {
		for gpu := range 8 {
			i := string(rune('0' + gpu))
			page = append(page, series(name+`{UUID="GPU-00000000-0000-4000-8000-00000000000`+i+`",gpu="`+i+`",pci_bus_id="00000000:1`+i+`:00.0",modelName="NVIDIA H100",hostname="h",namespace="n",pod="p",container="c"}`))
		}
	}
	p := Default().NewPage()
	b.ReportAllocs()
	for b.Loop() {
		p.Reset()
		for _, ls := range page {
			p.Add(ls)
		}
		p.Resolve()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(page)), "ns/series")
}
