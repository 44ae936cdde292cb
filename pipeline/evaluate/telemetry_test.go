package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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

// plausible makes a value that grows one that the metric can have, so that not everything
// is out of range.
func (f *fake) plausible(v float64) float64 {
	name := f.labels.Get(labels.MetricName)
	switch {
	case !(v >= 0) || math.IsInf(v, 0):
		return v
	case strings.HasSuffix(name, "_info"):
		return 1
	case strings.HasSuffix(name, "_ratio"), strings.HasSuffix(name, "_avail_bytes"):
		return v / (v + 50)
	case strings.HasSuffix(name, "_size_bytes"):
		return 1 + v
	}
	return v
}

// window is the series' window in an evaluator, made with its first sample.
func (f *fake) window(e *Evaluator, k int) *window.Series {
	if f.windows[k] == nil {
		f.windows[k] = e.Store().NewSeries(f.node, f.labels)
	}
	return f.windows[k]
}

// telemetry is series that the selectors of the built-in views choose, for some nodes, and
// others of the same metrics that they do not.
func telemetry(t *testing.T, r *rand.Rand) []*fake {
	t.Helper()
	selectors := builtinSelectors(t)
	var out []*fake
	for n := range 4 {
		node := fmt.Sprintf("n%d", n)
		phase := int64(r.IntN(10_000))
		seen := map[string]bool{}
		for _, vs := range selectors {
			for k := range 3 {
				ls := chosen(vs, k, labels.NewBuilder(common(node, k)))
				if key := ls.String(); !seen[key] && r.IntN(8) > 0 { // this node may have it not
					seen[key] = true
					out = append(out, &fake{node: node, phase: phase, labels: ls})
				}
			}
		}
	}
	return out
}

func builtinSelectors(t *testing.T) []*parser.VectorSelector {
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var out []*parser.VectorSelector
	seen := map[string]bool{}
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
				if vs, ok := n.(*parser.VectorSelector); ok && !seen[vs.String()] {
					seen[vs.String()] = true
					out = append(out, vs)
				}
				return nil
			})
		}
	}
	return out
}

// common are labels of many metrics. Devices, disks and ports share the label device.
func common(node string, k int) labels.Labels {
	device := []string{"sda", "eth0", "GPU-2"}[k]
	return labels.FromStrings("node", node, "cpu", fmt.Sprint(k), "mode", []string{"idle", "iowait", "steal"}[k],
		"device", device, "uid", device, "vendor", "v", "fstype", []string{"ext4", "tmpfs", "xfs"}[k], "slice", []string{"", "1", "1/0"}[k],
		"package", fmt.Sprint(k%2), "core", fmt.Sprint(k), "model_name", "X", "release", "6.1", "machine", "arm64", "nic", fmt.Sprint("nic:", k),
		"src", "GPU-2", "dst", []string{"sda", "nic:1", "numa:0"}[k], "kind", []string{"nvlink", "pcie_host", "local"}[k],
		"src_part", "device", "dst_part", []string{"device", "nic", "numa"}[k], "origin", []string{"stated", "derived"}[k%2],
		"model", "M", "driver_version", "1", "namespace", "ns", "pod", fmt.Sprint("p", k), "dir", "tx", "reason", "power", "pretty_name", "OS")
}

// chosen sets the labels that the selector asks for; of several values, one by k.
func chosen(vs *parser.VectorSelector, k int, b *labels.Builder) labels.Labels {
	b.Set(labels.MetricName, vs.Name)
	for _, m := range vs.LabelMatchers {
		switch {
		case m.Type == labels.MatchEqual:
			b.Set(m.Name, m.Value)
		case m.Type == labels.MatchRegexp && len(m.SetMatches()) > 0:
			b.Set(m.Name, m.SetMatches()[k%len(m.SetMatches())])
		case m.Name == "slice" && m.Type == labels.MatchNotRegexp:
			b.Set("slice", fmt.Sprint(k))
		}
	}
	return b.Labels()
}
