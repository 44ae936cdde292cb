package pipeline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/schema/wire"
)

// newBare returns a machine without views.
func newBare(t *testing.T, cfg Config) *Machine {
	t.Helper()
	m, err := NewMachine(cfg, Checkpoint{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// page is a record of one node with one sample for each named series.
func page(offset int64, node string, names ...string) wire.Record {
	defs := make([]wire.SeriesDef, len(names))
	for i, n := range names {
		defs[i].Labels = []wire.Label{{Name: "__name__", Value: n}}
	}
	at := int64(1_800_000_000_000) + offset*1000
	env := wire.Envelope{Node: node, Agent: node, Target: "t", Seq: uint64(offset + 1), Oldest: 1, Scrape: at}
	return wire.Record{
		Offset: offset, Ingest: at, Key: []byte(node), Headers: env.AppendHeaders(nil),
		Value: wire.NewTemplate(defs).AppendAt(nil, at, make([]float64, len(names))),
	}
}

func add(t *testing.T, m *Machine, rs ...wire.Record) *Batch {
	t.Helper()
	for _, r := range rs {
		if err := m.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return m.Take()
}

// TestCollisionIsRefused forges an id that two label sets share: the first keeps it, and
// no sample of the second is stored under it.
func TestCollisionIsRefused(t *testing.T) {
	m := newBare(t, Config{})
	m.id = func(_ string, text []byte) uint64 {
		if strings.Contains(string(text), "free") {
			return 2
		}
		return 1
	}
	b := add(t, m, page(0, "n", "first", "second", "free"), page(1, "n", "second", "free"))
	if fmt.Sprint(b.Samples.Series) != "[1 2 2]" {
		t.Errorf("series %v, want [1 2 2]", b.Samples.Series)
	}
	if c := m.Counts(); c.Collisions != 2 || c.Refused != 2 {
		t.Errorf("counted %d collisions and %d samples, want 2 and 2", c.Collisions, c.Refused)
	}
	if len(b.Series) != 2 || b.Series[0].Name != "first" {
		t.Errorf("series rows %+v", b.Series)
	}
}

// TestLayoutCollision puts a plan of another shape under a record's hash: it must not be
// used.
func TestLayoutCollision(t *testing.T) {
	m := newBare(t, Config{})
	add(t, m, page(0, "n", "a", "b"))
	n := m.nodes["n"]
	for h, l := range n.layouts {
		wrong := *l
		wrong.samples, wrong.ids = 1, wrong.ids[:1]
		n.layouts[h] = &wrong
	}
	if b := add(t, m, page(1, "n", "a", "b")); len(b.Samples.Series) != 2 {
		t.Errorf("%d samples, want 2", len(b.Samples.Series))
	}
	if c := m.Counts(); c.LayoutHits != 0 || c.LayoutMisses != 2 {
		t.Errorf("%d hits and %d misses, want 0 and 2", c.LayoutHits, c.LayoutMisses)
	}
}

func TestBoundsOfANode(t *testing.T) {
	m := newBare(t, Config{MaxLayouts: 2, MaxNodeSeries: 3})
	a, b, c := page(0, "n", "a"), page(1, "n", "b"), page(2, "n", "c")
	add(t, m, a, b, c, page(3, "n", "b"), page(4, "n", "a"))
	if n := len(m.nodes["n"].layouts); n != 2 {
		t.Errorf("%d layouts are kept, want 2", n)
	}
	if c := m.Counts(); c.LayoutHits != 1 || c.LayoutMisses != 4 {
		t.Errorf("%d hits and %d misses, want 1 (b) and 4", c.LayoutHits, c.LayoutMisses)
	}
	batch := add(t, m, page(5, "n", "d", "a"), page(6, "other", "d"))
	if got := len(batch.Samples.Series); got != 2 || m.Counts().Refused != 1 {
		t.Errorf("%d samples and %d refused, want a's and the other node's d, and n's d refused", got, m.Counts().Refused)
	}
}

// TestSilentNodesAreForgotten wants the state of a node to go, and its series to be
// named again when it returns.
func TestSilentNodesAreForgotten(t *testing.T) {
	m := newBare(t, Config{})
	add(t, m, page(0, "gone", "a"), page(1, "stays", "a"))
	b := add(t, m, page(4000, "stays", "a"), page(4060, "stays", "a"))
	if len(m.nodes) != 1 || len(m.series) != 1 || len(m.sent) != 1 || len(b.Series) != 0 {
		t.Fatalf("%d nodes, %d series, %d senders, %d named again, want 1, 1, 1, 0", len(m.nodes), len(m.series), len(m.sent), len(b.Series))
	}
	if b := add(t, m, page(4061, "gone", "a")); len(b.Series) != 1 {
		t.Errorf("%d series named when the node came back, want 1", len(b.Series))
	}
}

// TestSeriesThatComeAndGo wants a node whose series change all the time, as its containers
// do, to stay within its bound and lose none.
func TestSeriesThatComeAndGo(t *testing.T) {
	m := newBare(t, Config{MaxNodeSeries: 40})
	named := 0
	for minute := range int64(10 * 60) {
		// A new pod every six minutes; "stays" is there all the time.
		b := add(t, m, page(60*minute, "n", "stays", fmt.Sprintf("pod_%d", minute/6)))
		named += len(b.Series)
	}
	if c := m.Counts(); c.Refused != 0 || named != 101 {
		t.Errorf("%d samples refused and %d series named, want 0 and 101", c.Refused, named)
	}
	if n := m.nodes["n"]; n.series != len(m.series) || n.series > 25 || len(n.layouts) > 25 {
		t.Errorf("%d series of the node, %d in all, %d layouts", n.series, len(m.series), len(n.layouts))
	}
	b := add(t, m, page(36060, "n", "stays", "pod_0"))
	if len(b.Series) != 1 || len(b.Samples.Series) != 2 {
		t.Errorf("a pod that came back: %d series named and %d samples, want 1 and 2", len(b.Series), len(b.Samples.Series))
	}
}

// TestSendersRememberExactly compares the bits with a plain set.
func TestSendersRememberExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, set, newest := senders{}, map[uint64]bool{}, uint64(0)
	for range 20_000 {
		seq := newest + 1
		switch r.IntN(4) {
		case 0:
			seq = 1 + newest - min(newest, uint64(r.IntN(sentWindow)))
		case 1:
			seq = newest + uint64(r.IntN(200))
		}
		seq = max(seq, 1)
		if got := s.again("a", seq, 0); got != set[seq] {
			t.Fatalf("sequence %d after %d: again is %v, want %v", seq, newest, got, set[seq])
		}
		set[seq] = true
		newest = max(newest, seq)
	}
	s.again("a", newest+5000, 0)
	if s.again("a", newest, 0) {
		t.Error("remembers what is far out of the window")
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := NewMachine(Config{
		Topic: "t", Lateness: -time.Second, Lookback: time.Microsecond, MaxLayouts: -1,
		Views: []*features.View{{Name: "v", File: "v.yaml", Interval: 15 * time.Second}},
	}, Checkpoint{})
	for _, want := range []string{"lateness -1s", "lookback 1µs", "layouts -1", "v.yaml: view v: interval 15s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in: %v", want, err)
		}
	}
}

// TestExpressionFaults wants every expression that cannot be replayed to be refused.
func TestExpressionFaults(t *testing.T) {
	for expr, want := range map[string]string{
		`sum(m @ 5)`:                      "@ pins",
		`sum(m offset -5m)`:               "negative offset",
		`max_over_time(m[1m] offset -1m)`: "negative offset",
		`m[1m]`:                           "not a vector",
		`sum(`:                            "parse error",
		`info(m)`:                         "info",
	} {
		v := &features.View{Name: "v", File: "v.yaml", Keys: []string{"node"}, Interval: 10 * time.Second,
			Features: []features.Feature{{Name: "f", Expr: expr, Line: 7}}}
		_, err := NewMachine(Config{Views: []*features.View{v}}, Checkpoint{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "v.yaml:7: feature f") {
			t.Errorf("%s: want %q and the line in: %v", expr, want, err)
		}
	}
}
