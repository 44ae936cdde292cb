package api

import (
	"net/http"

	"sextant/features"
	"sextant/internal/httpserve"
)

// described is one feature in the answer of /v1/features.
type described struct {
	Ref         string   `json:"ref"` // what /get-online-features takes
	Name        string   `json:"name"`
	View        string   `json:"view"`
	Version     int      `json:"version"`
	Latest      bool     `json:"latest"` // "view:feature" means this version
	JoinKeys    []string `json:"join_keys"`
	DType       string   `json:"dtype"`
	Unit        string   `json:"unit"`
	Description string   `json:"description"`
	Tier        string   `json:"tier"`
	Owner       string   `json:"owner"`
	Interval    float64  `json:"interval_seconds"`
	TTL         float64  `json:"ttl_seconds"`
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	Default     *float64 `json:"default,omitempty"`
	Expr        string   `json:"expr"`
	Push        bool     `json:"push,omitempty"` // values come by /push, and expr is empty
}

// listFeatures answers with every feature, or those of ?view=NAME or ?view=NAME@vN.
func (s *server) listFeatures(w http.ResponseWriter, r *http.Request) {
	wanted := r.URL.Query().Get("view")
	list := []described{}
	found := wanted == ""
	for _, v := range s.catalog.Views {
		if wanted == "" || wanted == v.Name || wanted == v.Ref() {
			list, found = append(list, s.describe(v)...), true
		}
	}
	if !found {
		writeError(w, &requestError{http.StatusNotFound, "view: " + clip(wanted) + " is not defined"})
		return
	}
	httpserve.Answer(w, http.StatusOK, struct {
		Features []described `json:"features"`
	}{list})
}

func (s *server) describe(v *features.View) []described {
	list := make([]described, 0, len(v.Features))
	for i, f := range v.Features {
		list = append(list, described{
			Ref: v.Ref() + ":" + f.Name, Name: f.Name, View: v.Name, Version: v.Version, Latest: s.catalog.latest(v),
			JoinKeys: v.Keys, DType: f.DType.String(), Unit: f.Unit, Description: f.Description,
			Tier: v.Tier, Owner: v.Owner, Interval: v.Interval.Seconds(), TTL: v.TTL.Seconds(),
			Min: f.Min, Max: f.Max, Default: f.Default, Expr: v.Expression(i), Push: v.Push,
		})
	}
	return list
}

// describedService is one feature service in the answer of /v1/services.
type describedService struct {
	Ref         string   `json:"ref"` // what /get-online-features takes
	Name        string   `json:"name"`
	Version     int      `json:"version"`
	Latest      bool     `json:"latest"` // the bare name means this version
	Hash        string   `json:"hash"`   // of order and shape: see features.Service.Hash
	JoinKeys    []string `json:"join_keys"`
	Width       int      `json:"width"`
	Features    []string `json:"features"` // in the order in which they are served
	Description string   `json:"description"`
	Owner       string   `json:"owner"`
	Model       string   `json:"model,omitempty"` // that reads it, where the definition says one
}

func (s *server) describedService(x *features.Service) describedService {
	latest, _ := s.catalog.Service(x.Name)
	d := describedService{Ref: x.Ref(), Name: x.Name, Version: x.Version, Latest: latest == x, Hash: x.Hash(),
		JoinKeys: x.Keys, Width: len(x.Columns), Description: x.Description, Owner: x.Owner, Model: x.Model}
	for _, c := range x.Columns {
		d.Features = append(d.Features, c.Ref())
	}
	return d
}

// serviceDetail is the answer of /v1/services/{service}: the vector that a model reads.
type serviceDetail struct {
	describedService
	Shape   []*int          `json:"shape"`   // entities, which are the request's, as null; width
	Columns []serviceColumn `json:"columns"` // in the order in which they are served
}

// serviceColumn is one place of a service's vector.
type serviceColumn struct {
	Place    int      `json:"place"` // from 0
	Ref      string   `json:"ref"`
	Name     string   `json:"name"`      // in answers
	FullName string   `json:"full_name"` // in answers, with full_feature_names
	DType    string   `json:"dtype"`
	Unit     string   `json:"unit"`
	Default  *float64 `json:"default,omitempty"`
}

func (s *server) describeService(w http.ResponseWriter, r *http.Request) {
	x, ok := s.catalog.Service(r.PathValue("service"))
	if !ok {
		writeError(w, &requestError{http.StatusNotFound, "service: " + clip(r.PathValue("service")) + " is not defined"})
		return
	}
	width := len(x.Columns)
	d := serviceDetail{describedService: s.describedService(x), Shape: []*int{nil, &width}, Columns: make([]serviceColumn, width)}
	for i, c := range x.Columns {
		f := c.Def()
		d.Columns[i] = serviceColumn{Place: i, Ref: c.Ref(), Name: c.Name(false), FullName: c.Name(true), DType: f.DType.String(), Unit: f.Unit, Default: f.Default}
	}
	httpserve.Answer(w, http.StatusOK, d)
}

func (s *server) listServices(w http.ResponseWriter, _ *http.Request) {
	list := []describedService{}
	for _, x := range s.catalog.Services {
		list = append(list, s.describedService(x))
	}
	httpserve.Answer(w, http.StatusOK, struct {
		Services []describedService `json:"services"`
	}{list})
}

func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	httpserve.Answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readiness is the answer of /readyz: by view, what is in memory and how old it is.
type readiness struct {
	Status string      `json:"status"`
	Detail string      `json:"detail,omitempty"`
	Views  []viewState `json:"views"`
}

type viewState struct {
	View     string   `json:"view"`
	Entities int      `json:"entities"`
	Newest   string   `json:"newest_tick,omitempty"`
	Age      *float64 `json:"age_seconds,omitempty"`
}

func (s *server) readyz(w http.ResponseWriter, _ *http.Request) {
	answer, status := readiness{Status: "ready", Views: []viewState{}}, http.StatusOK
	if err := s.store.Ready(); err != nil {
		answer.Status, answer.Detail, status = "not ready", err.Error(), http.StatusServiceUnavailable
	}
	now := s.now().UnixMilli()
	for _, v := range s.catalog.Views {
		snapshot := s.store.Snapshot(v)
		state := viewState{View: v.Ref(), Entities: snapshot.Len()}
		if snapshot.Len() > 0 {
			age := float64(now-snapshot.Newest) / 1000
			state.Age = &age
			state.Newest = tickText(snapshot.Newest)
		}
		answer.Views = append(answer.Views, state)
	}
	httpserve.Answer(w, status, answer)
}
