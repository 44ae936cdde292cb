package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

func TestListViews(t *testing.T) {
	w := do(serve(t, start.Add(61*time.Second), Options{}), "GET", "/v1/views", "")
	got := decode[struct{ Views []viewSummary }](t, w.Body.Bytes()).Views
	if w.Code != 200 || len(got) != 3 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	box1, box, gpu := got[0], got[1], got[2]
	if box1.Ref != "box@v1" || box1.Latest || !box.Latest || box.Kind != "promql" || box.Table != "features_box_v2" || box.TTL != 60 || box.Interval != 10 {
		t.Errorf("%+v\n%+v", box1, box)
	}
	if strings.Join(gpu.Services, " ") != "clash@v1 mix@v1 mix@v2" || strings.Join(gpu.JoinKeys, " ") != "node gpu" || strings.Join(gpu.Names, " ") != "load share fit" {
		t.Errorf("%+v", gpu)
	}
	// box has a row that is a millisecond younger than the tick of box1.
	if f := box.Freshness; f.Rows != 3 || f.Newest != "2026-03-01T12:00:00Z" || *f.Age != 60.999 || f.Fresh {
		t.Errorf("freshness %+v", f)
	}
	w = do(serve(t, start, Options{}), "GET", "/v1/views/gpu", "")
	if f := decode[viewDetail](t, w.Body.Bytes()).Freshness; !f.Fresh || *f.Age != 0 {
		t.Errorf("freshness of now: %+v", f)
	}
}

func TestDescribeView(t *testing.T) {
	h := serve(t, start, Options{Engines: map[string]Engine{"box@v2:load": {Name: EngineCompiled}, "box@v2:up": {EngineReference, "topk"}}})
	w := do(h, "GET", "/v1/views/box@v2", "")
	v := decode[viewDetail](t, w.Body.Bytes())
	if w.Code != 200 || v.Ref != "box@v2" || len(v.Features) != 5 || len(v.Hash) != 64 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	load := v.Features[0]
	if load.Expression != "max by (node) (load)" || load.Unit != "ratio" || load.Range != "any" || strings.Join(load.Metrics, " ") != "load" {
		t.Errorf("%+v", load)
	}
	if c := load.Computed; c.Name != EngineCompiled || c.Where != "memory of the pipeline" || c.Reach != 60 || len(c.Windows) != 1 || c.Windows[0].Text != "load" {
		t.Errorf("computed %+v", c)
	}
	if c := v.Features[3].Computed; c.Name != EngineReference || c.Why != "topk" {
		t.Errorf("by the reference: %+v", c)
	}
	if again := do(h, "GET", "/v1/views/box", ""); again.Body.String() != w.Body.String() {
		t.Errorf("the bare name is another version: %s", again.Body)
	}
	if share := decode[viewDetail](t, do(h, "GET", "/v1/views/gpu", "").Body.Bytes()).Features[1]; *share.Default != 0.5 {
		t.Errorf("%+v", share)
	}
	if w := do(h, "GET", "/v1/views/box@v9", ""); w.Code != 404 || strings.TrimSpace(w.Body.String()) != `{"detail":"view: box@v9 is not defined"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestDescribeService(t *testing.T) {
	h := serve(t, start, Options{})
	w := do(h, "GET", "/v1/services/mix", "")
	s := decode[serviceDetail](t, w.Body.Bytes())
	if w.Code != 200 || s.Ref != "mix@v2" || !strings.Contains(w.Body.String(), `"shape":[null,3]`) || len(s.Columns) != 3 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if c := s.Columns[1]; c.Place != 1 || c.Ref != "gpu@v1:share" || c.Name != "share" || c.FullName != "gpu__share" || *c.Default != 0.5 || c.DType != "float32" {
		t.Errorf("%+v", c)
	}
	if s := decode[serviceDetail](t, do(h, "GET", "/v1/services/mix@v1", "").Body.Bytes()); s.Version != 1 || s.Latest {
		t.Errorf("%+v", s)
	}
	if w := do(h, "GET", "/v1/services/mux", ""); w.Code != 404 || strings.TrimSpace(w.Body.String()) != `{"detail":"service: mux is not defined"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestListEntities(t *testing.T) {
	w := do(serve(t, start, Options{}), "GET", "/v1/entities", "")
	// world's third view names its first key as its entity.
	want := `{"entities":[{"entity":"node","join_keys":["node"],"rows":3,"views":["box@v1","box@v2"],"features":5},` +
		`{"entity":"node","join_keys":["node","gpu"],"rows":2,"views":["gpu@v1"],"features":3}]}`
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
}

func TestLineage(t *testing.T) {
	h := serve(t, start.Add(5*time.Second), Options{})
	w := do(h, "GET", "/v1/lineage?feature=box:load", "")
	f := decode[traced](t, w.Body.Bytes())
	if w.Code != 200 || f.Ref != "box@v2:load" || len(f.Reads) != 1 || f.Reads[0].Metric != "load" || *f.Freshness.Age != 4.999 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	m := decode[tracedMetric](t, do(h, "GET", "/v1/lineage?metric=accel_power_watts", "").Body.Bytes())
	if len(m.Origins) < 5 || len(m.Features) != 0 {
		t.Errorf("%+v", m)
	}
	s := decode[tracedService](t, do(h, "GET", "/v1/lineage?service=mix@v1", "").Body.Bytes())
	if s.Ref != "mix@v1" || len(s.Features) != 2 || s.Features[1].Ref != "box@v2:count" || s.Features[1].Freshness.Rows != 3 {
		t.Errorf("%+v", s)
	}
	for query, want := range map[string]struct {
		status int
		detail string
	}{
		"":                              {400, "query: want feature=view:name, metric=canonical_name or service=name"},
		"?feature=":                     {400, "feature: is empty"},
		"?feature=box:load&service=mix": {400, "query: want one of feature, metric and service, once"},
		"?metric=a&metric=b":            {400, "query: want one of feature, metric and service, once"},
		"?feature=box:nothing":          {404, `feature: view box@v2 has no feature "nothing"`},
		"?feature=load":                 {404, `feature: "load" has no view: want view:feature`},
		"?metric=no_such_metric":        {404, `metric: metric "no_such_metric" is not in the catalogue, and no feature reads it`},
		"?service=mux":                  {404, `service: service "mux" is not defined`},
	} {
		w := do(h, "GET", "/v1/lineage"+query, "")
		if got := decode[struct{ Detail string }](t, w.Body.Bytes()).Detail; w.Code != want.status || got != want.detail {
			t.Errorf("%q: %d %s, want %+v", query, w.Code, w.Body, want)
		}
	}
}

// Metadata stands behind the gate as features do.
func TestMetadataNeedsRead(t *testing.T) {
	h := serve(t, start, Options{Access: gate(t, "tokens:\n  - {name: p, sha256: 9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f, scopes: [push]}\n")})
	for _, path := range []string{"/v1/views", "/v1/views/box", "/v1/entities", "/v1/services/mix", "/v1/lineage?feature=box:load"} {
		if w := do(h, "GET", path, ""); w.Code != 401 {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
		if w := do(h, "GET", path, "", "Authorization", "Bearer 0123456789abcdef"); w.Code != 403 {
			t.Errorf("%s with the scope push: %d %s", path, w.Code, w.Body)
		}
	}
}
