package pipeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
	"sextant/schema/wire"
	"time"
)

// event is one step of a partition's life: a record, or a moment of silence.
type event struct {
	record  wire.Record
	decoded []sample // what the record holds, for the oracle
	scrape  int64
	dead    bool
	idle    int64 // when set, the clock while nothing comes
}

type sample struct {
	node   string
	labels labels.Labels // as scraped
	t      int64
	v      float64
}

// stream makes a random life of a partition with everything that a machine must stand:
// nodes whose clocks run ahead and behind, late and doubled records, cached timestamps,
// series that come, go and end with markers, rubbish, and silence.
func stream(seed uint64, records int) []event {
	r := rand.New(rand.NewPCG(seed, 7))
	now := base + int64(r.IntN(10_000))
	var (
		events []event
		seqs   = map[string]uint64{}
		offset = int64(r.IntN(5))
	)
	for len(events) < records {
		now += int64(r.IntN(3_000))
		if r.IntN(40) == 0 {
			now += silence(r, now, &events)
		}
		if n := len(events); n > 0 && r.IntN(25) == 0 && events[n-1].idle == 0 {
			again := events[n-1] // the producer sent it twice
			again.record.Offset, again.record.Ingest = offset, now
			events = append(events, again)
			offset++
			continue
		}
		node := fmt.Sprintf("n%d", r.IntN(4))
		seqs[node]++
		e := scrapeOf(r, node, now)
		env := wire.Envelope{Version: 1, Node: node, Agent: "agent-" + node, Target: "t", Seq: seqs[node], Oldest: 1, Scrape: e.scrape}
		e.record.Headers = env.AppendHeaders(nil)
		e.record.Key, e.record.Offset, e.record.Ingest = []byte(node), offset, now
		if r.IntN(40) == 0 {
			e.record.Value, e.decoded, e.dead = []byte("rubbish"), nil, true
		}
		events = append(events, e)
		offset += 1 + int64(r.IntN(20)/19)
	}
	return events
}

// silence returns how long nothing comes; somebody may watch the clock meanwhile.
func silence(r *rand.Rand, now int64, events *[]event) int64 {
	gap := int64(15_000 + r.IntN(60_000))
	if r.IntN(2) == 0 && len(*events) > 0 {
		for at := int64(1_000); at < gap; at += 7_000 {
			*events = append(*events, event{idle: now + at})
		}
	}
	return gap
}

// scrapeOf makes one scrape of a node.
func scrapeOf(r *rand.Rand, node string, now int64) event {
	e := event{scrape: now - int64(r.IntN(800))}
	switch r.IntN(20) {
	case 0:
		e.scrape -= int64(r.IntN(40_000)) // a backlog
	case 1:
		e.scrape += int64(r.IntN(200_000)) // a clock ahead
	case 2:
		e.scrape -= 2 * 3600_000 // a long backlog
	}
	var s scrape
	put := func(t int64, v float64, pairs ...string) {
		ls := labels.FromStrings(pairs...)
		s.add(ls, t, v)
		e.decoded = append(e.decoded, sample{node, ls, t, v})
	}
	for cpu := range 1 + r.IntN(3) {
		t := e.scrape
		if r.IntN(15) == 0 {
			t -= int64(r.IntN(30_000)) // an exporter's own time
		}
		v := float64(r.IntN(1000)) / 8
		if r.IntN(12) == 0 {
			v = math.Float64frombits(value.StaleNaN)
		}
		put(t, v, "__name__", "load", "cpu", fmt.Sprint(cpu))
		put(e.scrape, float64(now-base)/float64(1+cpu), "__name__", "ops_total", "cpu", fmt.Sprint(cpu))
	}
	if r.IntN(6) == 0 {
		t := e.scrape - 3_000
		put(t, 1, "__name__", "load", "cpu", "9")
		put(t+1_000, 2, "__name__", "load", "cpu", "9")
	}
	put(e.scrape/4000*4000, 1, "__name__", "info", "model", fmt.Sprint(r.IntN(2)))
	put(e.scrape, 3, "__name__", "unread")
	e.record.Value = s.encode()
	return e
}

// streamViews read the stream in ranges of several lengths.
func streamViews() []*features.View {
	fast := &features.View{Name: "fast", Version: 1, Keys: []string{"node"}, Interval: 10 * time.Second, File: "fast.yaml"}
	slow := &features.View{Name: "slow", Version: 1, Keys: []string{"node"}, Interval: 30 * time.Second, File: "slow.yaml"}
	add := func(v *features.View, name, expr string, d features.DType, label string) {
		v.Features = append(v.Features, features.Feature{Name: name, Expr: expr, DType: d, Label: label})
	}
	add(fast, "load", `sum by (node) (load)`, features.Float64, "")
	add(fast, "avg", `avg by (node) (avg_over_time(load{cpu!="9"}[30s]))`, features.Float64, "")
	add(fast, "rate", `sum by (node) (rate(ops_total[45s]))`, features.Float32, "")
	add(fast, "share", `max by (node) (load) / sum by (node) (load)`, features.Float64, "")
	add(fast, "busy", `max by (node) (accel_busy_ratio)`, features.Float64, "")
	add(fast, "faults", `sum by (node) (sum_over_time(accel_fault_events[50s]))`, features.Float64, "")
	add(fast, "fault_age", `time() - max by (node) (max_over_time(accel_fault_last_seconds[50s]))`, features.Float64, "")
	add(fast, "iowait", `sum by (node) (rate(node_cpu_seconds_total[45s]))`, features.Float64, "")
	add(fast, "owners", `count by (node) (accel_owner_info)`, features.Int64, "")
	add(fast, "model", `max by (node, model) (info)`, features.String, "model")
	add(slow, "past", `sum by (node) (last_over_time(load[20s] offset 10s))`, features.Int64, "")
	add(slow, "sub", `max by (node) (max_over_time(sum by (node) (load)[40s:10s]))`, features.Float64, "")
	add(slow, "any", `count by (node) ({__name__=~"lo.*|ops.*"})`, features.Int64, "")
	add(slow, "clash", `sum by (node) (load + ignoring (cpu) info)`, features.Float64, "")
	return []*features.View{fast, slow}
}
