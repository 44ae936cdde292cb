package clickhouse

import (
	"math"
	"slices"
	"testing"
	"time"

	"sextant/pipeline"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// readings are newest samples of series of one node.
type readings struct {
	now int64
	pipeline.Batch
}

// add adds a series with its value, an older sample with half of it, and newer ones that
// are none.
func (b *readings) add(name, vendor, device, slice string, age time.Duration, value float64, more ...wire.Label) {
	id := uint64(len(b.Series) + 1)
	labels := []wire.Label{{Name: "device", Value: device}, {Name: "node", Value: "n1"}}
	labels = append(labels, more...)
	if slice != "" {
		labels = append(labels, wire.Label{Name: "slice", Value: slice})
	}
	labels = append(labels, wire.Label{Name: "vendor", Value: vendor})
	b.Series = append(b.Series, pipeline.SeriesRow{ID: id, Node: "n1", Name: name, Labels: labels, FirstSeen: b.now})
	for i, s := range []struct {
		value float64
		flags uint16
	}{{value / 2, 0}, {value, quality.Period}, {math.NaN(), quality.Blank}, {900 * value, quality.OutOfRange}} { // the newest that is a value counts
		b.Samples.Series = append(b.Samples.Series, id)
		b.Samples.Time = append(b.Samples.Time, b.now-age.Milliseconds()-1000+int64(i)*1000)
		b.Samples.Value = append(b.Samples.Value, s.value)
		b.Samples.Flags = append(b.Samples.Flags, s.flags)
	}
}

func (b *readings) write(t *testing.T, db *DB) {
	t.Helper()
	b.Topic = "telemetry.samples"
	if err := newSink(t, db).Write(t.Context(), &b.Batch); err != nil {
		t.Fatal(err)
	}
}

// TestAccelerators has two vendors, a slice, a reading that is old, blank and impossible
// ones, and one that is not an accelerator's.
func TestAccelerators(t *testing.T) {
	db := openDB(t)
	b := &readings{now: time.Now().UnixMilli()}
	add := b.add
	core := wire.Label{Name: "sensor", Value: "core"}
	add("accel_busy_ratio", "nvidia", "GPU-1", "", 0, 0.5)
	add("accel_power_watts", "nvidia", "GPU-1", "", 0, 400)
	add("accel_temp_celsius", "nvidia", "GPU-1", "", 0, 61, core)
	add("accel_temp_celsius", "nvidia", "GPU-1", "", 0, 80, wire.Label{Name: "sensor", Value: "memory"})
	add("accel_mem_used_bytes", "nvidia", "GPU-1", "MIG-1", 0, 1024)
	add("accel_busy_ratio", "huawei", "VDIE-1", "", 0, 0.25)
	add("accel_power_watts", "huawei", "VDIE-1", "", 2*time.Minute, 300)
	add("node_load1", "", "", "", 0, 3)
	b.write(t, db)
	got := text(t, db, "vendor, device, slice, "+
		"ifNull(toString(busy_ratio), '-'), ifNull(toString(mem_used_bytes), '-'), ifNull(toString(power_watts), '-'), ifNull(toString(temp_celsius), '-'), simulated",
		"{db}.accelerators ORDER BY vendor, slice")
	want := []string{
		"huawei VDIE-1  0.25 - - - 0",
		"nvidia GPU-1  0.5 1024 400 61 0", // memory: that of its only slice
		"nvidia GPU-1 MIG-1 - 1024 - - 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}
