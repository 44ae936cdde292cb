package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sextant/features"
	"sextant/features/lineage"
	"sextant/internal/httpserve"
)

// Engine is what computes a feature, and where its windows are kept.
type Engine struct {
	Name string `json:"engine"`        // EngineCompiled, EngineReference, EngineSQL, EnginePanes or EnginePush
	Why  string `json:"why,omitempty"` // the part of the expression that keeps it with the reference engine
}

// The engines.
const (
	EngineCompiled  = "compiled"  // the pipeline, by the compiled expression
	EngineReference = "reference" // the pipeline, by Prometheus' own engine
	EngineSQL       = "sql"       // the store, at each tick
	EnginePanes     = "panes"     // the store, at each tick, by its expression over panes and samples
	EnginePush      = "push"      // nobody here
)

// Where says where the samples or rows of the windows are.
func (e Engine) Where() string {
	switch e.Name {
	case EngineCompiled, EngineReference:
		return "memory of the pipeline"
	case EngineSQL, EnginePanes:
		return "ClickHouse"
	case EnginePush:
		return "outside"
	}
	return "not known"
}

// whereOf says where one window is.
func (e Engine) whereOf(sel lineage.Selector) string {
	if e.Name == EnginePanes && sel.Range() > features.StreamWindow {
		return fmt.Sprintf("%s, from panes of %s", e.Where(), features.PaneLength)
	}
	return e.Where()
}

// freshness is how old the rows of a view are that are served.
type freshness struct {
	Rows   int      `json:"rows"`                  // entities in memory
	Newest string   `json:"newest_tick,omitempty"` // the last tick of any
	Age    *float64 `json:"age_seconds,omitempty"` // of that
	Fresh  bool     `json:"fresh"`                 // there is a row that is not older than the TTL
}

func (s *server) freshness(v *features.View) freshness {
	snapshot, now := s.store.Snapshot(v), s.now().UnixMilli()
	f := freshness{Rows: snapshot.Len()}
	if f.Rows > 0 {
		age := float64(now-snapshot.Newest) / 1000
		f.Age, f.Newest, f.Fresh = &age, tickText(snapshot.Newest), !v.Expired(snapshot.Newest, now)
	}
	return f
}

func tickText(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// viewSummary is a view in the list of /v1/views.
type viewSummary struct {
	Ref         string    `json:"ref"`
	Name        string    `json:"name"`
	Version     int       `json:"version"`
	Latest      bool      `json:"latest"` // the bare name means this version
	Entity      string    `json:"entity"`
	JoinKeys    []string  `json:"join_keys"`
	Tier        string    `json:"tier"`
	Interval    float64   `json:"interval_seconds"`
	TTL         float64   `json:"ttl_seconds"`
	Owner       string    `json:"owner"`
	Description string    `json:"description"`
	Kind        string    `json:"kind"`  // promql, sql or push
	Table       string    `json:"table"` // of the store
	Freshness   freshness `json:"freshness"`
	Names       []string  `json:"feature_names"`
	Services    []string  `json:"services"` // that read it
}

func (s *server) summary(v *features.View) viewSummary {
	d := viewSummary{Ref: v.Ref(), Name: v.Name, Version: v.Version, Latest: s.catalog.latest(v), Entity: v.Entity, JoinKeys: v.Keys, Tier: v.Tier,
		Interval: v.Interval.Seconds(), TTL: v.TTL.Seconds(), Owner: v.Owner, Description: v.Description, Kind: kindOf(v), Table: v.Table(),
		Freshness: s.freshness(v), Names: make([]string, len(v.Features)), Services: []string{}}
	for i := range v.Features {
		d.Names[i] = v.Features[i].Name
	}
	for _, x := range s.catalog.Services {
		if slices.ContainsFunc(x.Columns, func(c features.ServiceColumn) bool { return c.View == v }) {
			d.Services = append(d.Services, x.Ref())
		}
	}
	return d
}

func kindOf(v *features.View) string {
	switch {
	case v.Push:
		return lineage.KindPush
	case v.SQL != "":
		return lineage.KindSQL
	}
	return lineage.KindPromQL
}

func (s *server) listViews(w http.ResponseWriter, _ *http.Request) {
	list := []viewSummary{}
	for _, v := range s.catalog.Views {
		list = append(list, s.summary(v))
	}
	httpserve.Answer(w, http.StatusOK, struct {
		Views []viewSummary `json:"views"`
	}{list})
}

// viewDetail is the answer of /v1/views/{view}.
type viewDetail struct {
	viewSummary
	Hash     string          `json:"hash"`          // of what its rows mean: see features.View.Hash
	SQL      string          `json:"sql,omitempty"` // computes all features
	Features []featureDetail `json:"features"`
}

// featureDetail is one feature of a view.
type featureDetail struct {
	Ref         string   `json:"ref"` // what /get-online-features takes
	Name        string   `json:"name"`
	DType       string   `json:"dtype"`
	Unit        string   `json:"unit"`
	Description string   `json:"description"`
	Default     *float64 `json:"default,omitempty"`
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	Range       string   `json:"range"`           // in words
	Label       string   `json:"label,omitempty"` // of the result that holds a string
	Expression  string   `json:"expression"`      // empty where SQL computes the view, or somebody else
	Computed    computed `json:"computed"`
	Metrics     []string `json:"metrics"` // canonical ones that it is made of: /v1/lineage has the rest
}

// computed is what computes a feature, and where each of its windows is.
type computed struct {
	Engine
	Where   string           `json:"where"`
	Reach   float64          `json:"looks_back_seconds"` // the longest window
	Windows []computedWindow `json:"windows"`
}

type computedWindow struct {
	lineage.Selector
	Where string `json:"where"`
}

func (s *server) describeView(w http.ResponseWriter, r *http.Request) {
	v, ok := s.catalog.byRef[r.PathValue("view")]
	if !ok {
		writeError(w, &requestError{http.StatusNotFound, "view: " + clip(r.PathValue("view")) + " is not defined"})
		return
	}
	d := viewDetail{viewSummary: s.summary(v), Hash: v.Hash(), SQL: v.SQL, Features: make([]featureDetail, len(v.Features))}
	for i := range v.Features {
		d.Features[i] = s.detail(v, i)
	}
	httpserve.Answer(w, http.StatusOK, d)
}

func (s *server) detail(v *features.View, i int) featureDetail {
	f := &v.Features[i]
	d := featureDetail{Ref: v.Ref() + ":" + f.Name, Name: f.Name, DType: f.DType.String(), Unit: f.Unit, Description: f.Description,
		Default: f.Default, Min: f.Min, Max: f.Max, Range: f.Range(), Label: f.Label, Expression: f.Expr, Metrics: []string{}}
	d.Computed = computed{Engine: s.engineOf(v, d.Ref), Windows: []computedWindow{}}
	d.Computed.Where = d.Computed.Engine.Where()
	from, err := s.lineage.Feature(d.Ref)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, read := range from.Reads {
		d.Metrics = append(d.Metrics, read.Metric)
		for _, sel := range read.Selectors {
			d.Computed.Windows = append(d.Computed.Windows, computedWindow{sel, d.Computed.Engine.whereOf(sel)})
			d.Computed.Reach = max(d.Computed.Reach, sel.Seconds)
		}
	}
	return d
}

// engineOf is what the options say, or what the view alone decides.
func (s *server) engineOf(v *features.View, ref string) Engine {
	if e, ok := s.engines[ref]; ok {
		return e
	}
	switch {
	case v.Push:
		return Engine{Name: EnginePush}
	case v.SQL != "":
		return Engine{Name: EngineSQL}
	case v.Long:
		return Engine{Name: EnginePanes}
	}
	return Engine{Name: EngineReference}
}

// entity is one entity of /v1/entities: what has features, and by which keys.
type entity struct {
	Name     string   `json:"entity"`
	JoinKeys []string `json:"join_keys"`
	Rows     int      `json:"rows"` // known in memory: of the view that has most
	Views    []string `json:"views"`
	Features int      `json:"features"` // of the newest version of each view
}

func (s *server) listEntities(w http.ResponseWriter, _ *http.Request) {
	list := []*entity{}
	for _, v := range s.catalog.Views {
		i := slices.IndexFunc(list, func(e *entity) bool { return e.Name == v.Entity && slices.Equal(e.JoinKeys, v.Keys) })
		if i < 0 {
			i = len(list)
			list = append(list, &entity{Name: v.Entity, JoinKeys: v.Keys})
		}
		e := list[i]
		e.Views, e.Rows = append(e.Views, v.Ref()), max(e.Rows, s.store.Snapshot(v).Len())
		if s.catalog.latest(v) {
			e.Features += len(v.Features)
		}
	}
	slices.SortStableFunc(list, func(a, b *entity) int { return strings.Compare(a.Name, b.Name) })
	httpserve.Answer(w, http.StatusOK, struct {
		Entities []*entity `json:"entities"`
	}{list})
}
