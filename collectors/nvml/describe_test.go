//go:build cgo && linux

package nvml

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"sextant/collectors/inventory"
	schema "sextant/schema/inventory"
)

const twoGPUs = `gpus 0 2
nvmlSystemGetDriverVersion 0 580.65.06
nvmlDeviceGetUUID 0 GPU-aaaa
nvmlDeviceGetName 0 NVIDIA A100-SXM4-80GB
nvmlDeviceGetPciInfo_v3 0 00000000:17:00.0
nvmlDeviceGetVbiosVersion 0 92.00.45.00.03
nvmlDeviceGetCudaComputeCapability 0 8 0
nvmlDeviceGetMemoryInfo_v2 0 85899345920 1 2 3
nvmlDeviceGetPowerManagementDefaultLimit 0 400000
nvmlDeviceGetMaxClockInfo 0 1410 1410 1593 1290
nvmlDeviceGetMigMode 0 1 1
nvmlDeviceGetMaxMigDeviceCount 0 7
nvmlDeviceGetGpuInstanceId 1000 3
nvmlDeviceGetComputeInstanceId 1000 0
nvmlDeviceGetUUID 1000 MIG-cccc
nvmlDeviceGetName 1000 NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb
nvmlDeviceGetAttributes_v2 1000 3 1 40320
nvmlDeviceGetGpuInstanceId 1002 3
nvmlDeviceGetComputeInstanceId 1002 1
nvmlDeviceGetName 1002 NVIDIA A100-SXM4-80GB MIG 2c.3g.40gb
nvmlDeviceGetAttributes_v2 1002 3 2 40320
nvmlDeviceGetUUID 1 GPU-bbbb
nvmlDeviceGetName 1 NVIDIA A100-SXM4-80GB
nvmlDeviceGetPciInfo_v3 1 00000000:65:00.0
nvmlDeviceGetMigMode 1 0 0
`

// linked are the NVLinks of both, to the peers that are given.
func linked(a, b, version string) string {
	return twoGPUs + "nvmlDeviceGetNvLinkVersion 0 " + version + "\nnvmlDeviceGetNvLinkVersion 1 " + version +
		"\nnvmlDeviceGetNvLinkRemotePciInfo_v2 0 " + a + "\nnvmlDeviceGetNvLinkRemotePciInfo_v2 1 " + b + "\n"
}

func (f *fixture) describe() inventory.Extra {
	f.t.Helper()
	x, err := f.c.Source().Describe(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return x
}

func TestDescribesDevicesAndSlices(t *testing.T) {
	f := start(t, twoGPUs)
	x := f.describe()
	want := []inventory.DeviceExtra{
		{PCI: "00000000:17:00.0", UID: "GPU-aaaa", Vendor: "nvidia", Kind: "gpu", Model: "NVIDIA A100-SXM4-80GB", Capability: "8.0", Memory: 80 << 30,
			Firmware: "92.00.45.00.03", Driver: "580.65.06", PowerLimit: 400, MaxHertz: 1.41e9, MemoryHertz: 1.593e9, MIG: "enabled",
			Slices: []schema.Slice{{ID: "gi3", Kind: "mig_gpu", Profile: "3g.40gb", Memory: 40320 << 20, Cores: 3},
				{ID: "gi3/ci0", UID: "MIG-cccc", Kind: "mig_compute", Parent: "gi3", Profile: "1c.3g.40gb", Cores: 1}, {ID: "gi3/ci1", Kind: "mig_compute", Parent: "gi3", Profile: "2c.3g.40gb", Cores: 2}}},
		{PCI: "00000000:65:00.0", UID: "GPU-bbbb", Vendor: "nvidia", Kind: "gpu", Model: "NVIDIA A100-SXM4-80GB", Driver: "580.65.06", MIG: "disabled"},
	}
	if !reflect.DeepEqual(x.Devices, want) {
		t.Errorf("%+v\nwant %+v", x.Devices, want)
	}
	if len(x.Links) > 0 {
		t.Errorf("links %+v", x.Links)
	}
}

func TestDescribesNVLinks(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []inventory.LinkExtra
	}{
		{"from device to device, and one to elsewhere", linked("00000000:65:00.0 00000000:65:00.0 00000000:AA:00.0", "00000000:17:00.0 00000000:17:00.0", "4"),
			[]inventory.LinkExtra{{From: "00000000:17:00.0", To: "00000000:65:00.0", Kind: schema.LinkNVLink, Count: 2, Bandwidth: 50e9}}},
		{"through switches, the narrower side", linked("00000000:C1:00.0 00000000:C2:00.0 00000000:C3:00.0", "00000000:C1:00.0 00000000:C2:00.0", "6"),
			[]inventory.LinkExtra{{From: "00000000:17:00.0", To: "00000000:65:00.0", Kind: schema.LinkNVLink, Count: 2, Bandwidth: 50e9}}},
		{"of a version that nobody knows", linked("00000000:65:00.0", "00000000:17:00.0", "99"),
			[]inventory.LinkExtra{{From: "00000000:17:00.0", To: "00000000:65:00.0", Kind: schema.LinkNVLink, Count: 1}}},
		{"of one device only", linked("00000000:C1:00.0", "", "6"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if x := start(t, c.script).describe(); !reflect.DeepEqual(x.Links, c.want) {
				t.Errorf("%+v, want %+v", x.Links, c.want)
			}
		})
	}
}

// A host without the driver has one clear fault in its document, and the collector goes on.
func TestDescribeFails(t *testing.T) {
	f := start(t, "fail nvmlInit_v2 9\n")
	if _, err := f.c.Source().Describe(t.Context()); err == nil || !strings.Contains(err.Error(), "initialise NVML: Driver Not Loaded") {
		t.Errorf("%v", err)
	}
	f.write(twoGPUs + "nvmlDeviceGetTemperature 0 40\n")
	if x := f.describe(); len(x.Devices) != 2 {
		t.Errorf("%+v", x)
	}
	if page := f.gather(); !strings.Contains(page, `collector_up{collector="nvml"} 1`) {
		t.Error(page)
	}
}

// TestDescribeGivesUpOnAHungDriver: the inventory of the rest of the node does not wait.
func TestDescribeGivesUpOnAHungDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(slog.New(slog.DiscardHandler))
		h := hung{make(chan struct{}), make(chan struct{})}
		c.driver = h
		for range 2 { // the second finds the first still there
			if _, err := c.Source().Describe(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		close(h.until)
		synctest.Wait()
		if _, err := c.Source().Describe(t.Context()); err == nil || err.Error() != "late" {
			t.Error(err)
		}
	})
}
