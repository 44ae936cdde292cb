package clickhouse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"reflect"
	"testing"
	"testing/fstest"
	"time"

	"sextant/features"
	"sextant/features/api"
	"sextant/features/online"
	"sextant/features/snapshot"
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
