package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sextant/pipeline"
	"sextant/schema/wire"
)

// accelRecord is a scrape of eight devices in two slices each, whose owners are told.
func accelRecord(b *testing.B, tpl *wire.Template, ts []int64, values []float64, seq int) wire.Record {
	b.Helper()
	at := base + int64(seq)*10_000
	for i := range ts {
		ts[i] = at
	}
	env := wire.Envelope{Version: 1, Node: "n1", Agent: "a1", Target: "dcgm/x", Seq: uint64(seq + 1), Oldest: 1, Scrape: at}
	return wire.Record{Offset: int64(seq), Ingest: at + 100, Key: []byte("n1"), Headers: env.AppendHeaders(nil), Value: tpl.Append(nil, ts, values)}
}

func accelSeries() (defs []wire.SeriesDef) {
	for _, name := range []string{"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_FB_USED", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_XID_ERRORS"} {
		for gpu := range 8 {
			for slice := range 2 {
				ls := []wire.Label{{Name: "__name__", Value: name}, {Name: "GPU_I_ID", Value: fmt.Sprint(slice)}, {Name: "UUID", Value: fmt.Sprintf("GPU-%d", gpu)},
					{Name: "gpu", Value: fmt.Sprint(gpu)}, {Name: "namespace", Value: "n"}, {Name: "pod", Value: fmt.Sprintf("p-%d-%d", gpu, slice)}}
				slices.SortFunc(ls, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
				defs = append(defs, wire.SeriesDef{Labels: ls})
			}
		}
	}
	return defs
}

// BenchmarkMachineAddAccelerators is the cost of an exposed sample where readings are
// repeated, outranked and owned. An op is a sample.
func BenchmarkMachineAddAccelerators(b *testing.B) {
	m, err := pipeline.NewMachine(pipeline.Config{}, pipeline.Checkpoint{})
	if err != nil {
		b.Fatal(err)
	}
	defs := accelSeries()
	tpl := wire.NewTemplate(defs)
	ts, values := make([]int64, len(defs)), make([]float64, len(defs))
	seq := 0
	const records = 100
	b.ReportAllocs()
	b.ResetTimer()
	var cpu cpuTime
	for n := 0; n < b.N; n += records * len(defs) {
		b.StopTimer()
		log := make([]wire.Record, records)
		for i := range log {
			log[i] = accelRecord(b, tpl, ts, values, seq)
			seq++
		}
		cpu.start()
		b.StartTimer()
		addAll(b, m, log)
		cpu.stop()
	}
	cpu.report(b)
}
