package pipeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// flagViews read devices, and the series that tell of flags.
func flagViews() []*features.View {
	node := &features.View{Name: "node", Version: 1, Keys: []string{"node"}, Interval: 30 * time.Second, File: "node.yaml"}
	node.Features = []features.Feature{
		{Name: "told", Expr: `count by (node) (sample_flag)`, DType: features.Int64},
		{Name: "power", Expr: `sum by (node) (avg_over_time(accel_power_watts[30s]))`, DType: features.Float64},
	}
	device := &features.View{Name: "device", Version: 1, Keys: []string{"node", "uid"}, Interval: 10 * time.Second, File: "device.yaml"}
	device.Features = []features.Feature{
		{Name: "told", Expr: `count by (node, uid) (sample_flag{uid!=""})`, DType: features.Int64},
		{Name: "busy", Expr: `max by (node, uid) (label_replace(accel_busy_ratio, "uid", "$1", "device", "(.*)"))`, DType: features.Float64},
	}
	return []*features.View{node, device}
}

// flagStream is a life of two targets of a node with everything that a flag tells of, each
// for a while and then not.
func flagStream(seed uint64, scrapes int) (events []event) {
	r := rand.New(rand.NewPCG(seed, 13))
	offset := int64(0)
	var page [2]int
	for k := range scrapes {
		for target := range 2 {
			at := base + int64(k)*10_000 + int64(target)*3_000
			ingest := at + int64(r.IntN(900))
			era := (k/12 + target) % 6
			state := wire.StateOK
			if !(era == 1 || era == 2 && k%2 == 1) {
				page[target] = k // else the exporter shows the page of before
			}
			age := float64(page[target])
			var s scrape
			for gpu := range 2 {
				put := func(name string, v float64) {
					t := at
					if era == 5 && r.IntN(9) == 0 {
						t -= 7200_000
					}
					s.add(labels.FromStrings("__name__", name, "UUID", fmt.Sprintf("%d-%d", target, gpu)), t, v)
				}
				busy, engine, power := 90.0, 0.5, 300+age
				switch {
				case era == 0 && gpu == 0:
					busy, engine = 100, 0
				case era == 3 && r.IntN(3) == 0:
					power = 2147483632
				case era == 3 && r.IntN(3) == 0:
					busy = 200
				}
				energy := 1e6 * age
				if era == 4 && gpu == 1 {
					energy = 1
				}
				put("DCGM_FI_DEV_GPU_UTIL", busy)
				put("DCGM_FI_PROF_GR_ENGINE_ACTIVE", engine)
				put("DCGM_FI_DEV_POWER_USAGE", power)
				put("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", energy)
			}
			switch {
			case era == 5 && k%4 == 0:
				state = wire.StatePartial
			case era == 5 && k%4 == 1:
				ingest += 25_000 // and those behind it are in time
			case era == 4 && k%12 > 9:
				state = wire.StateFailed
				s = scrape{}
				s.add(labels.FromStrings("__name__", "up", "job", fmt.Sprint(target)), at, 0)
				s.add(labels.FromStrings("__name__", "gone", "job", fmt.Sprint(target)), at, math.Float64frombits(value.StaleNaN))
			}
			env := wire.Envelope{Version: 1, Node: "n", Agent: "agent", Target: fmt.Sprint("t", target), Seq: uint64(offset + 1), Oldest: 1, Scrape: at, State: state}
			if era == 5 && k%4 == 3 {
				env.Scrape -= 40_000 // a backlog
			}
			if n := len(events); n > 0 {
				ingest = max(ingest, events[n-1].record.Ingest)
			}
			events = append(events, event{record: wire.Record{Offset: offset, Ingest: ingest, Key: []byte("n"), Headers: env.AppendHeaders(nil), Value: s.encode()}})
			offset++
		}
	}
	return events
}

// TestFlagsSurviveCrashes: what is flagged hangs on scrapes of before. After a restart at
// any step it is the same.
func TestFlagsSurviveCrashes(t *testing.T) {
	events := flagStream(1, 84)
	want := newTable()
	(&process{t: t, events: events, store: want, batch: 10, crash: -1, views: flagViews()}).run(pipeline.Checkpoint{})
	everyFlag(t, want)
	for step := 1; ; step += 2 {
		got := newTable()
		first := &process{t: t, events: events, store: got, batch: 7, crash: step, views: flagViews()}
		if first.run(pipeline.Checkpoint{}) {
			break
		}
		second := &process{t: t, events: after(events, first.committed), store: got, batch: 1 + step%5, crash: -1, views: flagViews()}
		second.run(first.committed)
		if d := got.diff(want); d != "" {
			t.Fatalf("crash after step %d, restart from %+v:\n%s", step, first.committed, d)
		}
	}
}

// everyFlag wants each flag on a sample and, but for those of series that end, on a row.
func everyFlag(t *testing.T, s *table) {
	t.Helper()
	samples, rows := uint16(0), ""
	for _, text := range s.samples {
		var value uint64
		var flags uint16
		if _, err := fmt.Sscanf(text, "%x %d", &value, &flags); err != nil {
			t.Fatal(err)
		}
		samples |= flags
	}
	for _, text := range s.rows {
		rows += text
	}
	for _, f := range quality.All {
		if f.Scope == quality.OfSample {
			continue // it tells of counters, which have a stream of their own
		}
		if samples&f.Bit == 0 || !strings.Contains(rows, f.Name) {
			t.Errorf("no sample, or no row, is %s: the stream is too thin", f.Name)
		}
	}
}
