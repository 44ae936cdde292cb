package pipeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/pipeline"
	"sextant/schema/quality"
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

// accelStream is a life of devices whose owners come and go, with readings that are
// repeated, cached, blank or doubled. A series that ends does so with a marker, in the
// record in which its successor begins.
func accelStream(seed uint64, records int) (events []event) {
	r := rand.New(rand.NewPCG(seed, 11))
	now := base
	owners, xids := map[string]string{}, map[string]*xidLife{}
	iowait := 100.0
	for offset := range records {
		now += int64(r.IntN(6_000))
		node := fmt.Sprintf("n%d", r.IntN(2))
		at := now - int64(r.IntN(500))
		if r.IntN(12) == 0 {
			at -= 20_000
		}
		var s scrape
		for gpu := range 2 {
			id := fmt.Sprintf("%s/%d", node, gpu)
			if xids[id] == nil {
				xids[id] = &xidLife{}
			}
			xids[id].add(r, &s, id, at)
			before := owners[id]
			if r.IntN(4) == 0 {
				owners[id] = []string{"", "p", "q"}[r.IntN(3)]
			}
			for _, name := range []string{"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_FB_USED"} {
				for slice := range 2 {
					t, v := at, float64(r.IntN(101))
					if r.IntN(10) == 0 {
						t, v = at/8000*8000, 2147483634
					}
					put := func(owner string, v float64) {
						s.add(labels.FromStrings("__name__", name, "UUID", id, "GPU_I_ID", fmt.Sprint(slice), "pod", owner), t, v)
					}
					put(owners[id], v)
					if before != owners[id] {
						put(before, math.Float64frombits(value.StaleNaN))
					}
				}
			}
		}
		// The kernel's counter steps back, and needs a minute to be where it was.
		if iowait += 0.1; offset%30 == 29 {
			iowait -= 2.1
		}
		s.add(labels.FromStrings("__name__", "node_cpu_seconds_total", "mode", "iowait"), at, iowait)
		env := wire.Envelope{Version: 1, Node: node, Agent: "agent", Target: "t", Seq: uint64(offset + 1), Oldest: 1, Scrape: at}
		events = append(events, event{scrape: at, record: wire.Record{Offset: int64(offset), Ingest: now, Key: []byte(node), Headers: env.AppendHeaders(nil), Value: s.encode()}})
	}
	return events
}

// xidLife is the faults of a device as its exporter tells of them: the code of the last
// one, and counts that slide on.
type xidLife struct {
	code  float64
	count map[string]float64
}

func (x *xidLife) add(r *rand.Rand, s *scrape, id string, at int64) {
	if x.count == nil {
		x.count = map[string]float64{}
	}
	put := func(code string, v float64) {
		s.add(labels.FromStrings("__name__", "DCGM_EXP_XID_ERRORS_COUNT", "UUID", id, "xid", code), at, v)
	}
	for _, code := range []float64{31, 43, 79} {
		text := fmt.Sprint(code)
		switch n := r.IntN(12); {
		case n == 0:
			x.code = code
			x.count[text]++
		case n == 1 && x.count[text] > 0:
			if x.count[text]--; x.count[text] == 0 {
				put(text, math.Float64frombits(value.StaleNaN))
			}
		}
		if x.count[text] > 0 {
			put(text, x.count[text])
		}
	}
	if r.IntN(40) == 0 {
		x.code = 0 // the exporter was started again
	}
	s.add(labels.FromStrings("__name__", "DCGM_FI_DEV_XID_ERRORS", "UUID", id), at, x.code)
}

// TestAcceleratorsSurviveCrashes: what labels tell of is the same after any restart.
func TestAcceleratorsSurviveCrashes(t *testing.T) {
	events := accelStream(1, 90)
	want := newTable()
	live(t, events, want, 10)
	m := newMachine(t, pipeline.Checkpoint{})
	for _, e := range events {
		_ = m.Add(e.record)
	}
	if c := m.Counts(); c.Events < 30 || c.Flagged(quality.Held) < 5 {
		t.Fatalf("%d events, %d held: the stream is too thin", c.Events, c.Flagged(quality.Held))
	}
	if len(want.samples) < 500 || len(want.rows) < 20 {
		t.Fatalf("%d samples, %d rows: the stream is too thin", len(want.samples), len(want.rows))
	}
	for step := 1; ; step++ {
		got := newTable()
		first := &process{t: t, events: events, store: got, batch: 7, crash: step}
		if first.run(pipeline.Checkpoint{}) {
			break
		}
		second := &process{t: t, events: after(events, first.committed), store: got, batch: 1 + step%5, crash: -1}
		second.run(first.committed)
		if d := got.diff(want); d != "" {
			t.Fatalf("crash after step %d, restart from %+v:\n%s", step, first.committed, d)
		}
	}
}
