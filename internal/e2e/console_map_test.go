package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sextant/dashboards/console"
	"sextant/dashboards/console/web"
	"sextant/features"
	"sextant/features/api"
	"sextant/features/online"
	"sextant/features/snapshot"
)

// manyNodes is the size of the cluster on the map.
const manyNodes = 10_000

// TestConsoleMapOfTenThousand draws a cluster of 10,000 nodes in Chromium and prints how long
// a frame takes. The rows are made up here; what serves them, snapshot included, is the API's own.
func TestConsoleMapOfTenThousand(t *testing.T) {
	chromium := chromiumPath(t)
	server := httptest.NewServer(manyNodesAPI(t))
	defer server.Close()
	eventually(t, time.Minute, "a snapshot", func() error {
		_, err := get(server.URL + "/v1/snapshot?service=node_state&format=raw")
		return err
	})
	browse(t, chromium, "big.mjs", server.URL, fmt.Sprintf("NODES=%d", manyNodes))
}

func manyNodesAPI(t *testing.T) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		t.Fatal(err)
	}
	var rows crowd
	store, err := online.New(rows, set.Views, online.Options{Log: log, Settle: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := snapshot.New(store, set, rows, snapshot.Options{Log: log, Settle: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := api.New(store, set, api.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	page, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- whole.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-done
		<-done
	})
	mux := console.New(rows, console.Options{Log: log})
	mux.Mount(web.Prefix, page)
	for _, path := range []string{"/v1/snapshot", "/v1/watch"} {
		mux.Mount(path, whole.Handler())
	}
	mux.Mount("/", rest)
	return mux
}

// crowd is rows and inventories of manyNodes nodes, in racks of 40.
type crowd struct{}

func crowdNode(i int) string { return fmt.Sprintf("sim-%05d", i) }

// LatestRows implements online.Source: each number is a wave over the nodes, within the
// feature's range, and one in 50 is missing.
func (crowd) LatestRows(_ context.Context, v *features.View, after int64) (*features.Rows, error) {
	rows := &features.Rows{View: v, Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	for f := range v.Features {
		if v.Features[f].DType == features.String {
			rows.Cols[f].Str = []string{}
		}
	}
	tick := time.Now().Truncate(v.Interval).UnixMilli()
	if len(v.Keys) != 1 || v.Keys[0] != "node" || tick <= after {
		return rows, nil
	}
	for i := range manyNodes {
		rows.Tick, rows.Known, rows.Keys[0] = append(rows.Tick, tick), append(rows.Known, tick), append(rows.Keys[0], crowdNode(i))
		for f := range v.Features {
			if v.Features[f].DType == features.String {
				rows.Cols[f].Str = append(rows.Cols[f].Str, "simulated")
				continue
			}
			x := 0.5 + 0.5*math.Sin(float64(i)/97+float64(f)+float64(tick)/60_000)*math.Sin(float64(i)/7)
			if v.Features[f].Max == nil {
				x *= 1000
			}
			if (i+f)%50 == 49 {
				x = math.NaN()
			}
			rows.Cols[f].Num = append(rows.Cols[f].Num, x)
		}
	}
	return rows, nil
}

var errNotAsked = errors.New("not asked of this store")

// RowsAt implements snapshot.Past.
func (crowd) RowsAt(context.Context, *features.View, int64) (*features.Rows, error) {
	return nil, errNotAsked
}

// Placed implements snapshot.Past.
func (crowd) Placed(context.Context, int64, int64) ([]features.Placement, error) {
	return nil, errNotAsked
}

// ConsoleNodes implements console.Reader, as the methods below.
func (crowd) ConsoleNodes(context.Context, int) ([]console.Node, error) {
	nodes := make([]console.Node, manyNodes)
	for i := range nodes {
		nodes[i] = console.Node{Node: crowdNode(i), Simulated: true, Zone: fmt.Sprintf("z%d", i/2500), Rack: fmt.Sprintf("rack-%03d", i/40), Group: fmt.Sprintf("group-%d", i/1000), Vendor: "nvidia", Model: "H100", Accelerators: 8}
	}
	return nodes, nil
}

func (crowd) ConsoleNode(context.Context, string) (*console.NodeDetail, error) {
	return nil, errNotAsked
}

func (crowd) ConsoleTasks(context.Context, console.TaskQuery) ([]console.Task, error) {
	return nil, errNotAsked
}

func (crowd) ConsoleLine(context.Context) (*console.Line, error) { return nil, errNotAsked }

func (crowd) ConsoleLedger(context.Context) (*console.Ledger, error) { return nil, errNotAsked }
