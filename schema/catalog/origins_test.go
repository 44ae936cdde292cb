package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	origins := Default().Origins()
	for _, tt := range []struct {
		metric string
		want   []string
	}{
		{"accel_power_watts", []string{"dcgm-exporter DCGM_FI_DEV_POWER_USAGE name", "npu-exporter npu_chip_info_power name"}},
		{"accel_fault_events", []string{"dcgm-exporter DCGM_FI_DEV_XID_ERRORS events"}},
		{"accel_fault_last_seconds", []string{"dcgm-exporter DCGM_FI_DEV_XID_ERRORS events"}},
		{"accel_device_info", []string{"dcgm-exporter  labels", "npu-exporter  labels", "xpumd  labels"}},
		{"up", []string{"sextant-agent up name"}},
		{"inventory_memory_bytes", []string{"inventory inventory_memory_bytes name"}},
	} {
		var got []string
		for _, o := range origins[tt.metric] {
			got = append(got, fmt.Sprint(o.Exporter, " ", o.Exposed(), " ", o.Way))
		}
		for _, want := range tt.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", tt.metric, want, strings.Join(got, "\n"))
			}
		}
		if !slices.IsSorted(got) {
			t.Errorf("%s is in no order: %q", tt.metric, got)
		}
	}
	if list := origins["no_such_metric"]; list != nil {
		t.Errorf("a metric that nobody exposes: %v", list)
	}
}

// Every series of facts that a page of samples yields has its source among the origins.
func TestOriginsKnowWhatPagesTell(t *testing.T) {
	origins, told := Default().Origins(), 0
	for _, m := range Default().Metrics() {
		if !m.Scope.needsDevice() || m.Raw != "" {
			continue
		}
		told++
		name := m.source.class + deviceInfo
		if !slices.ContainsFunc(origins[name], func(o Origin) bool { return o.Exporter == m.Source }) {
			t.Errorf("%s of %s is of a device, and %s is no origin of %s", m.Name, m.Source, m.Source, name)
		}
	}
	if told < 100 {
		t.Errorf("looked at %d rows", told)
	}
}
