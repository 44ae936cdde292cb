package features

import (
	"testing"

	"sextant/internal/testkit/fleet"
)

// BenchmarkTick is a tick of 2,000 nodes, far more than the caches hold. An op is a node.
func BenchmarkTick(b *testing.B) {
	const nodes = 2000
	views, err := shipped()
	if err != nil {
		b.Fatal(err)
	}
	w, err := newWindows(views, false)
	if err != nil {
		b.Fatal(err)
	}
	warm := int(w.eval.Store().History()/fleet.Interval) + 2
	t, err := record(warm, w.eval.Store())
	if err != nil {
		b.Fatal(err)
	}
	for i := range nodes {
		if err := w.join(i, t); err != nil {
			b.Fatal(err)
		}
	}
	at := int64(fleet.Base)
	for tick := range warm {
		for i := range nodes {
			if err := w.add(i, t.pointsOf(i, tick)); err != nil {
				b.Fatal(err)
			}
		}
		at += fleet.Interval
		if err := w.pass(at); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.evaluate(at); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	from := cpu()
	for n := 0; n < b.N; n += nodes {
		if _, err := w.evaluate(at); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu()-from)/float64(b.N), "cpu-ns/op")
}
