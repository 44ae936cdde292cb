package evaluate

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
)

// BenchmarkGroup is the cost of a tick of 64 nodes, each with 16 CPUs and nothing else:
// as it is, and when a series came since the tick before, so that whatever reads it is
// planned anew. An op is a tick.
func BenchmarkGroup(b *testing.B) {
	for name, every := range map[string]int{"unchanged": 0, "changed": 1} {
		b.Run(name, func(b *testing.B) {
			views, err := features.Builtin()
			if err != nil {
				b.Fatal(err)
			}
			e, err := New(views, Options{Lookback: time.Minute, GroupSize: 64})
			if err != nil {
				b.Fatal(err)
			}
			tick := int64(600_000)
			e.Store().SetNext(tick)
			add := func(node int, name, cpu, mode string) {
				n := fmt.Sprintf("n%02d", node)
				s := e.Store().NewSeries(n, labels.FromStrings(labels.MetricName, name, "node", n, "cpu", cpu, "mode", mode))
				for t := tick - 300_000; t < tick; t += 10_000 {
					s.Add(e.Store(), t, float64(t))
				}
			}
			for node := range 64 {
				add(node, "node_time_seconds", "", "")
				for cpu := range 16 {
					for _, mode := range []string{"idle", "iowait", "steal"} {
						add(node, "node_cpu_seconds_total", fmt.Sprint(cpu), mode)
					}
				}
			}
			e.Tick(tick, tick)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if every > 0 {
					b.StopTimer()
					add(i%64, "node_cpu_seconds_total", fmt.Sprint("new", i), "steal")
					b.StartTimer()
				}
				e.Tick(tick, tick)
			}
		})
	}
}
