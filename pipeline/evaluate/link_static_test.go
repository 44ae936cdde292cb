package evaluate

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/schema/inventory"
)

// pair is what a row of the view link_static describes.
type pair struct{ src, dst string }

// TestLinkStaticIsTheVector computes the edge features of whole machines from the series of
// their inventory, and wants what schema/inventory says of the links themselves: of two ways
// between the same parts, the larger of each number.
func TestLinkStaticIsTheVector(t *testing.T) {
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	links := &features.Set{Views: views}
	view, ok := links.View("link_static")
	if !ok {
		t.Fatal("there is no view link_static")
	}
	for _, file := range []string{"gpu_node", "ascend_node", "amd_node"} {
		t.Run(file, func(t *testing.T) {
			d := documentOf(t, file)
			want := map[pair][]float32{}
			for i := range d.Links {
				l := &d.Links[i]
				if l.From.Kind == inventory.PartDisk {
					continue // not among the series
				}
				p := pair{l.Name(l.From), l.Name(l.To)}
				want[p] = larger(want[p], l.Vector(nil))
			}
			rows := evaluated(t, view, d)
			names := inventory.EdgeFeatures()
			if len(view.Features) != len(names) || len(names) > inventory.MaxEdgeFeatures {
				t.Fatalf("%d features, %d in the view", len(names), len(view.Features))
			}
			for r := range rows.Tick {
				p := pair{rows.Keys[1][r], rows.Keys[2][r]}
				for k, f := range view.Features {
					if got := float32(rows.Cols[k].Num[r]); f.Name != names[k].Name || want[p] == nil || got != want[p][k] {
						t.Fatalf("%v: %s is %v, want %s of %v", p, f.Name, got, names[k].Name, want[p])
					}
				}
				delete(want, p)
			}
			if len(rows.Tick) == 0 || len(want) > 0 {
				t.Errorf("%d rows, none of %v", len(rows.Tick), want)
			}
		})
	}
}

// documentOf is a machine of the inventory's own tests.
func documentOf(t *testing.T, name string) *inventory.Document {
	t.Helper()
	text, err := os.ReadFile("../../collectors/inventory/testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := inventory.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func larger(a, b []float32) []float32 {
	for i := range a {
		b[i] = max(a[i], b[i])
	}
	return b
}

// evaluated is the rows of one tick over a document's series.
func evaluated(t *testing.T, v *features.View, d *inventory.Document) *features.Rows {
	t.Helper()
	e, err := New([]*features.View{v}, Options{Lookback: time.Minute, GroupSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Series(inventory.MaxSeriesLinks) {
		if !strings.HasPrefix(s.Family.Name, "inventory_link_") {
			continue
		}
		b := labels.NewBuilder(labels.FromStrings("__name__", s.Family.Name, "node", d.Node, "job", "inventory", "instance", d.Node))
		for _, l := range s.Labels {
			b.Set(l.Name, l.Value)
		}
		e.Store().NewSeries(d.Node, b.Labels()).Add(e.Store(), 55_000, s.Value)
	}
	rows := e.Tick(60_000, 60_000)
	if len(rows) != 1 {
		t.Fatalf("rows of %d views", len(rows))
	}
	return rows[0]
}
