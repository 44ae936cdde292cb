package clickhouse

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"sextant/features"
	"sextant/features/api"
	"sextant/features/api/feastpb/feast/serving"
	"sextant/features/api/feastpb/feast/types"
	"sextant/features/online"
	"sextant/internal/httpserve"
)

const boxViews = `
view: box
version: 1
entity: node
tier: monitoring
interval: 10s
ttl: 1m
owner: tests
description: Of a box.
features:
  - {name: busy, dtype: float32, unit: ratio, description: Busy., expr: max by (node) (a)}
  - {name: bytes, dtype: float64, unit: bytes, description: Bytes., expr: max by (node) (b)}
  - {name: jobs, dtype: int64, description: Jobs., expr: max by (node) (c)}
  - {name: up, dtype: bool, description: Up., expr: max by (node) (d)}
  - {name: kernel, dtype: string, label: release, description: Kernel., expr: "max by (node, release) (e)"}
`

const outsideView = `
view: outside
version: 1
entity: node
tier: business
interval: 10s
ttl: 1h
owner: tests
description: What somebody else computes.
source: push
features:
  - {name: score, dtype: float32, unit: ratio, min: 0, max: 1, description: Score.}
`

const bothService = `
service: both
version: 1
owner: tests
description: Of both views.
width: 2
features: [box:busy, outside:score]
`

// python is the interpreter that scripts/feast.sh fetched.
func python(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../../scripts/feast.sh", "python").Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%s", failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// featureServer serves three boxes as of now: one fresh, one whose features have no value, and one
// whose row is older than the TTL. Beside it, what somebody pushes.
func featureServer(t *testing.T, db *DB, served *api.ServedLog) (string, time.Time) {
	t.Helper()
	set, err := features.Read(features.Source{FS: fstest.MapFS{"box.yaml": {Data: []byte(boxViews)},
		"outside.yaml": {Data: []byte(outsideView)}, "both.yaml": {Data: []byte(bothService)}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.ApplyViews(t.Context(), set.Views); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(10 * time.Second)
	at, nan := now.UnixMilli(), math.NaN()
	box, _ := set.View("box")
	if err := db.WritePushed(t.Context(), &features.Rows{View: box, Tick: []int64{at, at, at - 300_000}, Known: []int64{at, at, at},
		Keys: [][]string{{"fresh", "empty", "expired"}},
		Cols: []features.Column{{Num: []float64{0.25, nan, 1}}, {Num: []float64{1 << 40, nan, 1}}, {Num: []float64{7, nan, 1}}, {Num: []float64{1, nan, 1}},
			{Str: []string{"6.8.0", "", "5"}}}}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	store, err := online.New(db, set.Views, online.Options{Refresh: 50 * time.Millisecond, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now.Add(30 * time.Second) } // else slow clients would see all expire
	handler, err := api.New(store, set, api.Options{Now: clock, Push: db, Served: served, Version: "test", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	server, err := httpserve.Listen(httpserve.Options{Addr: "127.0.0.1:0", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- server.Run(ctx, handler) }()
	go func() { ended <- store.Run(ctx) }()
	go func() {
		if served == nil {
			ended <- nil
			return
		}
		ended <- served.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		for range 3 {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	return server.Addr(), now
}

// The real SDK with this server as its remote online store, and the SDK's own gRPC stubs.
func TestFeastSDK(t *testing.T) {
	interpreter := python(t)
	db := openDB(t)
	addr, now := featureServer(t, db, nil)
	cmd := exec.CommandContext(t.Context(), interpreter, "testdata/feast_sdk.py", addr, now.Format("2006-01-02T15:04:05"))
	cmd.Env = append(os.Environ(), "FEAST_USAGE=False", "HOME="+t.TempDir())
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var seen map[string]any
	if err := json.Unmarshal(out.Bytes(), &seen); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	t.Run("protos", func(t *testing.T) { sameProtos(t, seen) })
	at, old := float64(now.UnixMilli()), float64(now.UnixMilli()-300_000)
	fresh := map[string]any{"busy": 0.25, "bytes": float64(1 << 40), "jobs": 7.0, "up": true, "kernel": "6.8.0"}
	statuses := []any{"PRESENT", "NULL_VALUE", "OUTSIDE_MAX_AGE", "NOT_FOUND"}
	values, states := map[string]any{"node": []any{"fresh", "empty", "expired", "nobody"}}, map[string]any{}
	grpc := map[string]any{"node": map[string]any{"values": values["node"], "statuses": []any{"PRESENT", "PRESENT", "PRESENT", "PRESENT"}, "times": []any{0.0, 0.0, 0.0, 0.0}}}
	for name, x := range fresh {
		values[name], states[name] = []any{x, nil, nil, nil}, statuses
		grpc[name] = map[string]any{"values": []any{x, nil, nil, nil}, "statuses": statuses, "times": []any{at, at, old, 0.0}}
	}
	for name, want := range map[string]any{
		"values": values, "statuses": states, "grpc": grpc, "version": "test", "push": 200.0,
		"full names":        []any{"box__busy", "node"},
		"service":           map[string]any{"node": []any{"fresh"}, "busy": []any{0.25}, "score": []any{nil}},
		"push out of range": map[string]any{"detail": "df: score: row 0: 1.5 is out of range: want 0 to 1"},
		"grpc error":        []any{"NOT_FOUND", `features[0]: view "box" has no feature "nothing"`},
	} {
		if !reflect.DeepEqual(seen[name], want) {
			t.Errorf("%s: %v, want %v", name, seen[name], want)
		}
	}
	// What was pushed, by the SDK and by hand, is served at the next refresh.
	want := `"values":[0.25,0.5,0.75],"statuses":["PRESENT","PRESENT","PRESENT"]`
	for deadline := time.Now().Add(20 * time.Second); ; {
		body := postJSON(t, "http://"+addr+"/get-online-features", `{"features":["outside:score"],"entities":{"node":["fresh","other","third"]}}`)
		if strings.Contains(body, want) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("pushed rows are not served: %s", body)
		}
	}
}

func postJSON(t *testing.T, url, body string) string {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sameProtos compares our protos with those of the SDK: every message, field, number, type
// and method. Only what names files and Go packages differs.
func sameProtos(t *testing.T, seen map[string]any) {
	for name, ours := range map[string]protoreflect.FileDescriptor{
		"ServingService": serving.File_feast_serving_serving_service_proto, "Value": types.File_feast_types_value_proto} {
		raw, err := hex.DecodeString(seen["descriptor of "+name].(string))
		if err != nil {
			t.Fatal(err)
		}
		theirs := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(raw, theirs); err != nil {
			t.Fatal(err)
		}
		got := protodesc.ToFileDescriptorProto(ours)
		for _, f := range []*descriptorpb.FileDescriptorProto{got, theirs} {
			f.Name, f.Options, f.Dependency, f.Syntax = nil, nil, nil, nil
			stripJSON(f.MessageType)
		}
		if !proto.Equal(got, theirs) {
			t.Errorf("%s differs from Feast's:\n%v\nwant\n%v", name, got, theirs)
		}
	}
}

// stripJSON removes the names that a compiler may or may not derive for JSON.
func stripJSON(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, f := range m.Field {
			f.JsonName = nil
		}
		stripJSON(m.NestedType)
	}
}
