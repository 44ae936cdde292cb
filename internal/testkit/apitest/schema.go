// Package apitest checks answers against the description of the API. It is for tests.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yaml "go.yaml.in/yaml/v3"

	"sextant/internal/openapi"
)

const docURL = "openapi.json"

// Schemas are those of the description, ready to check values.
type Schemas struct {
	doc      any
	compiler *jsonschema.Compiler
}

// Load reads the description that the program serves.
func Load() (*Schemas, error) {
	var doc any
	if err := yaml.Unmarshal(openapi.Text, &doc); err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	if doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	return &Schemas{doc, c}, c.AddResource(docURL, doc)
}

// Compile says whether what stands at a JSON pointer of the description is a schema.
func (s *Schemas) Compile(pointer string) error {
	_, err := s.compiler.Compile(docURL + "#" + pointer)
	return err
}

// Check checks JSON against the schema at a pointer.
func (s *Schemas) Check(pointer string, text []byte) error {
	schema, err := s.compiler.Compile(docURL + "#" + pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// At is what stands at a JSON pointer, references followed, and the pointer where it truly is.
func (s *Schemas) At(pointer string) (any, string, bool) {
	node, at := s.doc, ""
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if ref, ok := reference(node); ok {
			if node, at, ok = s.At(ref); !ok {
				return nil, "", false
			}
		}
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch n := node.(type) {
		case map[string]any:
			if node = n[key]; node == nil {
				return nil, "", false
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(n) {
				return nil, "", false
			}
			node = n[i]
		default:
			return nil, "", false
		}
		at += "/" + token
	}
	if ref, ok := reference(node); ok {
		return s.At(ref)
	}
	return node, at, true
}

func reference(node any) (string, bool) {
	m, ok := node.(map[string]any)
	if !ok {
		return "", false
	}
	ref, ok := m["$ref"].(string)
	return strings.TrimPrefix(ref, "#"), ok
}

// Escape makes a key of an object a token of a JSON pointer.
func Escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// CheckAnswer checks an answer of an operation, like "get /v1/views/{view}": the status and
// the content type are described, the headers are there and the body has its schema.
func (s *Schemas) CheckAnswer(operation string, w *httptest.ResponseRecorder) error {
	method, path, _ := strings.Cut(operation, " ")
	response, at, ok := s.At(fmt.Sprintf("/paths/%s/%s/responses/%d", Escape(path), strings.ToLower(method), w.Code))
	if !ok {
		return fmt.Errorf("%s: status %d is not described: %s", operation, w.Code, w.Body)
	}
	r := response.(map[string]any)
	if headers, ok := r["headers"].(map[string]any); ok {
		for name := range headers {
			if w.Header().Get(name) == "" {
				return fmt.Errorf("%s: %d without the header %s", operation, w.Code, name)
			}
		}
	}
	content, ok := r["content"].(map[string]any)
	if !ok {
		if w.Body.Len() > 0 {
			return fmt.Errorf("%s: %d has a body that is not described: %s", operation, w.Code, w.Body)
		}
		return nil
	}
	media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	body, ok := content[media].(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %d is %q, which is not described", operation, w.Code, media)
	}
	if !strings.HasSuffix(media, "json") || body["schema"] == nil {
		return nil
	}
	if err := s.Check(at+"/content/"+Escape(media)+"/schema", w.Body.Bytes()); err != nil {
		return fmt.Errorf("%s: %d: %w in %s", operation, w.Code, err, w.Body)
	}
	return nil
}

// Ask sends a request to a handler.
func Ask(h http.Handler, method, target, contentType, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
