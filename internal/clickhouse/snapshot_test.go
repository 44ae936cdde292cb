package clickhouse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sextant/features"
	"sextant/features/api"
	"sextant/features/online"
	"sextant/features/snapshot"
	"sextant/pipeline/derive"
	schema "sextant/schema/tasks"
)

// wholeServer serves the views of set as they are in db at a time, that stands still: the feature API and the
// snapshots. One that does not run has no version in memory, and answers from db.
func wholeServer(t *testing.T, db *DB, set *features.Set, now time.Time, runs bool) *httptest.Server {
	t.Helper()
	clock := func() time.Time { return now }
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	store, err := online.New(db, set.Views, online.Options{Now: clock, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers, err := api.New(store, set, api.Options{Now: clock, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := snapshot.New(store, set, db, snapshot.Options{Now: clock, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	handler := whole.Handler()
	handler.Mount("/", answers)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if !runs {
		return server
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- whole.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	waitFor(t, "the first version", func() bool {
		res, err := http.Get(server.URL + "/v1/snapshot?service=" + set.Services[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode == 200 && res.Body.Close() == nil
	})
	return server
}

// boxes is views and rows of which every status comes.
func boxes(t *testing.T, db *DB, now time.Time) *features.Set {
	t.Helper()
	set, err := features.Read(features.Source{FS: fstest.MapFS{"box.yaml": {Data: []byte(boxViews)},
		"outside.yaml": {Data: []byte(outsideView)}, "both.yaml": {Data: []byte(bothService)}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.ApplyViews(t.Context(), set.Views); err != nil {
		t.Fatal(err)
	}
	at, nan := now.UnixMilli(), math.NaN()
	box, _ := set.View("box")
	outside, _ := set.View("outside")
	for _, rows := range []*features.Rows{
		{View: box, Tick: []int64{at - 10_000, at, at, at - 300_000}, Known: []int64{at - 5_000, at, at, at}, Keys: [][]string{{"fresh", "fresh", "empty", "expired"}},
			Cols: []features.Column{{Num: []float64{0.5, 0.1, nan, 1}}, {Num: []float64{1, 1, nan, 1}}, {Num: []float64{7, 7, nan, 1}}, {Num: []float64{1, 1, nan, 1}}, {Str: []string{"6", "6", "", "5"}}}},
		{View: outside, Tick: []int64{at, at - 7_000}, Known: []int64{at, at - 7_000}, Keys: [][]string{{"fresh", "alone"}}, Cols: []features.Column{{Num: []float64{0.7, 0.9}}}},
	} {
		if err := db.WritePushed(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// TestSnapshotInPython loads snapshots of memory and of the store with the documentation's own examples.
func TestSnapshotInPython(t *testing.T) {
	interpreter := python(t)
	db := openDB(t)
	now := time.Now().UTC().Truncate(10 * time.Second).Add(-30 * time.Second)
	set := boxes(t, db, now)
	live, cold := wholeServer(t, db, set, now.Add(28*time.Second), true), wholeServer(t, db, set, now.Add(28*time.Second), false)
	cmd := exec.CommandContext(t.Context(), interpreter, "testdata/snapshot.py", live.Listener.Addr().String(), cold.Listener.Addr().String(), "../../docs/examples")
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var seen map[string]any
	if err := json.Unmarshal(out.Bytes(), &seen); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	version := float64(now.Add(20 * time.Second).UnixMilli())
	want := map[string]any{"version": version, "past version": version, "nodes": []any{"alone", "empty", "expired", "fresh"}, "shape": []any{4.0, 2.0},
		"statuses": []any{"NOT_FOUND", "NULL_VALUE", "OUTSIDE_MAX_AGE", "PRESENT"}, "raw": []any{}, "arrow": []any{}, "json": []any{}, "past": []any{}}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("saw  %v\nwant %v", seen, want)
	}
}

// graphDefinitions are a graph's services, small.
var graphDefinitions = map[string]string{
	"machine":           "view: machine\nversion: 1\nentity: node\n%s  - {name: busy, dtype: float32, description: d}\n",
	"job":               "view: job\nversion: 1\nentity: task\n%s  - {name: wait, dtype: float32, description: d}\n",
	"device_static":     "view: device_static\nversion: 1\nentity: device\nkeys: [node, uid]\n%s  - {name: bytes, dtype: int64, description: d}\n",
	"device_monitoring": "view: device_monitoring\nversion: 1\nentity: device\nkeys: [node, uid]\n%s  - {name: hot, dtype: bool, description: d}\n",
	"way":               "view: way\nversion: 1\nentity: link\nkeys: [node, src, dst]\n%s  - {name: rate, dtype: float32, description: d}\n",
	"node_state":        "service: node_state\nversion: 1\nowner: o\ndescription: d\nwidth: 1\nfeatures: [\"machine:busy\"]\n",
	"edge_state":        "service: edge_state\nversion: 1\nowner: o\ndescription: d\nwidth: 1\nfeatures: [\"way:rate\"]\n",
	"task_state":        "service: task_state\nversion: 1\nowner: o\ndescription: d\nwidth: 1\nfeatures: [\"job:wait\"]\n",
}

// TestGraphInPython loads a graph of memory and one of the store with the documentation's example.
func TestGraphInPython(t *testing.T) {
	interpreter := python(t)
	db := openDB(t)
	files := fstest.MapFS{}
	for name, text := range graphDefinitions {
		files[name+".yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(text, "%s", "tier: business\ninterval: 10s\nttl: 1m\nowner: o\ndescription: d\nsource: push\nfeatures:\n", 1))}
	}
	set, err := features.Read(features.Source{FS: files})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.ApplyViews(t.Context(), set.Views); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		view string
		keys [][]string
		x    []float64
	}{
		{"machine", [][]string{{"a", "b"}}, []float64{0.25, 0.5}},
		{"job", [][]string{{"one", "two"}}, []float64{1, 2}},
		{"device_static", [][]string{{"a", "a", "b"}, {"GPU-1", "GPU-2", "GPU-1"}}, []float64{8, 16, 32}},
		{"way", [][]string{{"a", "a", "b", "b"}, {"GPU-1", "GPU-2", "b", "b"}, {"GPU-2", "nic:0", "a", "rack:r"}}, []float64{10, 20, 30, 40}},
	} {
		v, _ := set.View(r.view)
		at := make([]int64, len(r.x))
		for i := range at {
			at[i] = t0
		}
		if err := db.WritePushed(t.Context(), &features.Rows{View: v, Tick: at, Known: at, Keys: r.keys, Cols: []features.Column{{Num: r.x}}}); err != nil {
			t.Fatal(err)
		}
	}
	bindTasks(t, db)
	prepare(t, db, at(0))
	now := time.UnixMilli(t0).Add(8 * time.Second)
	for name, runs := range map[string]bool{"live": true, "past": false} {
		server := wholeServer(t, db, set, now, runs)
		const script = "import sys, json; sys.path.insert(0, sys.argv[2]); import graph_arrow; p = graph_arrow.load(sys.argv[1]); h = p.pop('header'); " +
			"p = {k: v.tolist() for k, v in p.items()}; p['version'] = h['version']; p['placed'] = h['placed']; p['devices'] = [[None if x != x else x for x in r] for r in p['devices']]; print(json.dumps(p))"
		query := map[bool]string{true: "", false: "?as_of=" + now.UTC().Format(time.RFC3339)}[runs]
		out, err := exec.CommandContext(t.Context(), interpreter, "-c", script, server.URL+"/v1/graph"+query, "../../docs/examples").Output()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			t.Fatalf("%s: %s", name, failed.Stderr)
		}
		var seen, want map[string]any
		if err := errors.Join(err, json.Unmarshal(out, &seen)); err != nil {
			t.Fatal(name, err)
		}
		if err := json.Unmarshal([]byte(`{"nodes":[[0.25],[0.5]],"devices":[[8,null],[16,null],[32,null]],"edges":[[10],[20],[30],[40]],"tasks":[[1],[2]],
			"node_device":[[0,0,1],[0,1,2]],"node_node":[[0,1],[1,0]],"node_node/edge":[2,2],"node_place":[[1],[0]],"node_place/edge":[3],
			"device_device":[[0,1],[1,0]],"device_device/edge":[0,0],"device_nic":[[1],[0]],"device_nic/edge":[1],"device_numa":[[],[]],"device_numa/edge":[],"nic_nic":[[],[]],"nic_nic/edge":[],
			"nic_numa":[[],[]],"nic_numa/edge":[],"numa_numa":[[],[]],"numa_numa/edge":[],"task_node":[[0,1],[0,1]],"task_device":[[0],[1]],
			"version":`+fmt.Sprint(t0)+`,"placed":{"tick":`+fmt.Sprint(t0)+`,"known":`+fmt.Sprint(t0+8000)+`,"tasks":2,"late":false}}`), &want); err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if !reflect.DeepEqual(seen[k], want[k]) {
				t.Errorf("%s: %s is %v, want %v", name, k, seen[k], want[k])
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%s: %d parts, want %d: %v", name, len(seen), len(want), seen)
		}
		// A cluster that was not there yet is one without nodes.
		out, err = exec.CommandContext(t.Context(), interpreter, "../../docs/examples/graph_arrow.py", server.URL+"/v1/graph?as_of="+now.Add(-time.Hour).UTC().Format(time.RFC3339)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "nodes (0, 1)") {
			t.Errorf("%s: an hour before: %s", name, out)
		}
	}
}

// bindTasks binds the task one on the day before t0, and two just behind it.
func bindTasks(t *testing.T, db *DB) {
	t.Helper()
	came(t, db, -100, happened("one", schema.Submitted, -200), happened("one", schema.Scheduled, -150, on("a", "GPU-2")), happened("two", schema.Submitted, -150))
	came(t, db, 3, happened("two", schema.Started, -1, on("b")))
	came(t, db, 5, happened("one", schema.Finished, 1)) // behind the tick
}

// prepare carries the living tasks to the day of a tick, as its first evaluation does.
func prepare(t *testing.T, db *DB, at derive.At) {
	t.Helper()
	s := db.NewDeriveStore()
	if err := errors.Join(s.Prepare(t.Context(), at), s.Release(t.Context(), at)); err != nil {
		t.Fatal(err)
	}
}

// TestPlacedAtMidnight: until the living tasks are carried to the new day, those of the day
// before are where they were.
func TestPlacedAtMidnight(t *testing.T) {
	db := openDB(t)
	bindTasks(t, db)
	if t0%86400_000 != 0 {
		t.Fatal("t0 is not midnight")
	}
	placed := func() string {
		rows, err := db.Placed(t.Context(), t0, t0+8_000)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rows)
	}
	prepare(t, db, at(-3600))
	if got := placed(); got != "[{one a [GPU-2]}]" {
		t.Errorf("before the day is carried: %s", got)
	}
	prepare(t, db, at(0))
	if got := placed(); got != "[{one a [GPU-2]} {two b []}]" {
		t.Errorf("and then: %s", got)
	}
}
