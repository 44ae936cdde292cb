package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v3"

	"sextant/internal/httpserve"
	"sextant/internal/openapi"
	"sextant/internal/testkit/apitest"
)

func schemas(t *testing.T) *apitest.Schemas {
	t.Helper()
	s, err := apitest.Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// walk calls f for every object of the description, with its JSON pointer.
func walk(node any, at string, f func(at string, object map[string]any)) {
	switch n := node.(type) {
	case map[string]any:
		f(at, n)
		for key, value := range n {
			walk(value, at+"/"+apitest.Escape(key), f)
		}
	case []any:
		for i, value := range n {
			walk(value, fmt.Sprintf("%s/%d", at, i), f)
		}
	}
}

func document(t *testing.T) any {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(openapi.Text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// Every example fits the schema beside it, and every schema compiles.
func TestExamplesFitTheirSchemas(t *testing.T) {
	s, examples, compiled := schemas(t), 0, 0
	walk(document(t), "", func(at string, object map[string]any) {
		schema, hasSchema := object["schema"].(map[string]any)
		if hasSchema {
			compiled++
			if err := s.Compile(at + "/schema"); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
		list, ok := object["examples"].(map[string]any)
		if !ok || schema == nil {
			return
		}
		for name, example := range list {
			text, err := json.Marshal(example.(map[string]any)["value"])
			if err == nil {
				err = s.Check(at+"/schema", text)
			}
			if err != nil {
				t.Errorf("%s/examples/%s: %v", at, name, err)
			}
			examples++
		}
	})
	walk(document(t), "", func(at string, object map[string]any) {
		if list, ok := object["examples"].([]any); ok && strings.Contains(at, "/schemas/") {
			for _, example := range list {
				text, _ := json.Marshal(example)
				if err := s.Check(at, text); err != nil {
					t.Errorf("%s: %v", at, err)
				}
				examples++
			}
		}
	})
	if examples < 20 || compiled < 80 {
		t.Errorf("checked %d examples and %d schemas", examples, compiled)
	}
}

// Every reference leads somewhere, every operation has a name of its own and says what
// is answered to a caller who may not ask.
func TestDescriptionIsWhole(t *testing.T) {
	s, ids := schemas(t), map[string]string{}
	walk(document(t), "", func(at string, object map[string]any) {
		if ref, ok := object["$ref"].(string); ok {
			if _, _, ok := s.At(strings.TrimPrefix(ref, "#")); !ok {
				t.Errorf("%s: %s leads nowhere", at, ref)
			}
		}
		id, ok := object["operationId"].(string)
		if !ok {
			return
		}
		if ids[id] != "" {
			t.Errorf("%s and %s are both called %s", ids[id], at, id)
		}
		ids[id] = at
		if _, open := object["security"]; open {
			return // it asks for nothing
		}
		for _, status := range []string{"401", "403", "429", "503"} {
			if _, ok := object["responses"].(map[string]any)[status]; !ok {
				t.Errorf("%s: no response %s", at, status)
			}
		}
	})
	routes, err := openapi.Routes()
	if err != nil || len(routes) != len(ids) || len(routes) < 30 {
		t.Errorf("%d operations, %d routes: %v", len(ids), len(routes), err)
	}
}

func refuse(w http.ResponseWriter, _ *http.Request, status int, why string) {
	http.Error(w, why, status)
}

// What is not served is not described, and what is left can be read.
func TestServeLeavesOutWhatIsOff(t *testing.T) {
	mux := httpserve.NewMux(refuse)
	mux.Route("/healthz", http.NotFoundHandler(), http.MethodGet)
	mux.Route("/v1/views/{view}", http.NotFoundHandler(), http.MethodGet)
	if err := openapi.Serve(mux, func(h http.Handler) http.Handler { return h }); err != nil {
		t.Fatal(err)
	}
	asYAML, asJSON := apitest.Ask(mux, "GET", openapi.YAMLPath, "", ""), apitest.Ask(mux, "GET", openapi.JSONPath, "", "")
	var one, other struct {
		OpenAPI string                    `yaml:"openapi" json:"openapi"`
		Paths   map[string]map[string]any `yaml:"paths" json:"paths"`
	}
	if err := yaml.Unmarshal(asYAML.Body.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(asJSON.Body.Bytes(), &other); err != nil {
		t.Fatal(err)
	}
	for _, doc := range []any{one.Paths, other.Paths} {
		var paths []string
		for path := range doc.(map[string]map[string]any) {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		if want := []string{"/healthz", openapi.JSONPath, openapi.YAMLPath, "/v1/views/{view}"}; !slices.Equal(paths, want) {
			t.Errorf("%v, want %v", paths, want)
		}
	}
	if one.OpenAPI != "3.1.0" || asYAML.Header().Get("Content-Type") != "application/yaml" || asJSON.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%s, %v, %v", one.OpenAPI, asYAML.Header(), asJSON.Header())
	}
}

// A description of everything is the file itself, comments and all.
func TestServeAll(t *testing.T) {
	routes, err := openapi.Routes()
	if err != nil {
		t.Fatal(err)
	}
	mux, methods := httpserve.NewMux(refuse), map[string][]string{}
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		if path != openapi.YAMLPath && path != openapi.JSONPath {
			methods[path] = append(methods[path], method)
		}
	}
	for path, list := range methods {
		mux.Route(path, http.NotFoundHandler(), list...)
	}
	if err := openapi.Serve(mux, func(h http.Handler) http.Handler { return h }); err != nil {
		t.Fatal(err)
	}
	if got := apitest.Ask(mux, "GET", openapi.YAMLPath, "", "").Body.String(); got != string(openapi.Text) {
		t.Error("it is not the file")
	}
	if !slices.Equal(mux.Routes(), routes) {
		t.Errorf("routes %v, want %v", mux.Routes(), routes)
	}
}
