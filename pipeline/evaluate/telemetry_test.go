package evaluate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
	"sextant/pipeline/window"
)

// fake is a series of a node in the windows of two evaluators.
type fake struct {
	node    string
	labels  labels.Labels
	phase   int64 // ms after a tick at which its node is scraped
	windows [2]*window.Series
}

// window is the series' window in an evaluator, made with its first sample.
func (f *fake) window(e *Evaluator, k int) *window.Series {
	if f.windows[k] == nil {
		f.windows[k] = e.Store().NewSeries(f.node, f.labels)
	}
	return f.windows[k]
}

// telemetry is series of every metric that the built-in views name, for some nodes.
func telemetry(t *testing.T, r *rand.Rand) []*fake {
	t.Helper()
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range views {
		if v.SQL != "" {
			continue
		}
		for _, f := range v.Features {
			expr, err := features.Parse(f.Expr)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if vs, ok := n.(*parser.VectorSelector); ok && !slices.Contains(names, vs.Name) {
					names = append(names, vs.Name)
				}
				return nil
			})
		}
	}
	var out []*fake
	for n := range 7 {
		node := fmt.Sprintf("n%d", n)
		phase := int64(r.IntN(10_000))
		for _, name := range names {
			for k := range 4 {
				if r.IntN(8) == 0 {
					continue // this node has it not
				}
				out = append(out, &fake{node: node, phase: phase, labels: labels.FromStrings(
					labels.MetricName, name, "node", node, "cpu", fmt.Sprint(k), "mode", []string{"idle", "iowait", "steal", "user"}[r.IntN(4)],
					"device", []string{"sda", "eth0", "lo", "nvme0n1"}[k], "fstype", []string{"ext4", "tmpfs", "xfs", "ext4"}[k],
					"package", fmt.Sprint(k%2), "core", fmt.Sprint(k), "model_name", "X", "release", "6.1", "machine", "arm64",
					"src", fmt.Sprint("s", k%3), "dst", fmt.Sprint("d", k), "kind", []string{"nvlink", "pcie_host", "local", "rack"}[r.IntN(4)],
					"src_part", "device", "dst_part", []string{"device", "nic", "numa", "place"}[k], "origin", []string{"stated", "derived"}[k%2],
				)})
			}
		}
	}
	return out
}
