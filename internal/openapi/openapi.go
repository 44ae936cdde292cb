// Package openapi holds the description of what sextant serve answers, in OpenAPI 3.1, and
// serves it.
package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"sextant/internal/httpserve"
)

// Text is the description of all that can be served.
//
//go:embed openapi.yaml
var Text []byte

// Paths of the description itself.
const (
	YAMLPath = "/openapi.yaml"
	JSONPath = "/openapi.json"
)

// Serve adds the description to a mux, behind guard. What the configuration turns off, and so
// is no route of the mux, is left out of it.
func Serve(mux *httpserve.Mux, guard func(http.Handler) http.Handler) error {
	routes := append(mux.Routes(), http.MethodGet+" "+YAMLPath, http.MethodGet+" "+JSONPath)
	text, err := of(routes)
	if err != nil {
		return fmt.Errorf("openapi: %w", err)
	}
	asJSON, err := toJSON(text)
	if err != nil {
		return fmt.Errorf("openapi: %w", err)
	}
	mux.Route(YAMLPath, guard(fixed("application/yaml", text)), http.MethodGet)
	mux.Route(JSONPath, guard(fixed("application/json", asJSON)), http.MethodGet)
	return nil
}

func fixed(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(body) // a client that went away needs no answer
	})
}

// of is the description without the operations that are none of routes, like
// "GET /v1/views".
func of(routes []string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(Text, &doc); err != nil {
		return nil, err
	}
	paths := value(doc.Content[0], "paths")
	removed := false
	keep(paths, func(path string, item *yaml.Node) bool {
		keep(item, func(method string, _ *yaml.Node) bool {
			served := slices.Contains(routes, strings.ToUpper(method)+" "+path)
			removed = removed || !served
			return served
		})
		return len(item.Content) > 0
	})
	if !removed {
		return Text, nil
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(&doc)
	return b.Bytes(), err
}

// value is that of a key of a mapping. It must be there.
func value(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	panic("BUG: the description has no " + key)
}

// keep removes what is not wanted from a mapping.
func keep(mapping *yaml.Node, wanted func(key string, value *yaml.Node) bool) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if wanted(mapping.Content[i].Value, mapping.Content[i+1]) {
			kept = append(kept, mapping.Content[i], mapping.Content[i+1])
		}
	}
	mapping.Content = kept
}

func toJSON(text []byte) ([]byte, error) {
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// Routes are the operations that the description has, like "GET /v1/views", sorted.
func Routes() ([]string, error) {
	var doc struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(Text, &doc); err != nil {
		return nil, err
	}
	var routes []string
	for path, item := range doc.Paths {
		for method := range item {
			routes = append(routes, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(routes)
	return routes, nil
}
