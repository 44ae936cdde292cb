package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxValue is the most bytes of an entity's key value.
const maxValue = 1024

// request is the body of /get-online-features. Fields that are not here are ignored, as
// Feast's own server does.
type request struct {
	Features         []string                   `json:"features"`
	FeatureService   *string                    `json:"feature_service"` // "name" is its newest version, "name@v1" that one
	Entities         map[string]json.RawMessage `json:"entities"`
	FullFeatureNames truth                      `json:"full_feature_names"`
	ViewMetadata     truth                      `json:"include_feature_view_version_metadata"` // answer with name and version of each view

	keys map[string][]string // Entities, decoded: join key to one value an entity
}

// truth is true or false. encoding/json leaves a bool as it is where the body has null.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *truth) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return &json.UnmarshalTypeError{Value: "null", Type: reflect.TypeFor[bool]()}
	}
	return json.Unmarshal(b, (*bool)(t))
}

// readBody reads the body into the scratch buffer.
func (sc *scratch) readBody(w http.ResponseWriter, r *http.Request, limit int64) error {
	body := bytes.NewBuffer(sc.body[:0])
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	sc.body = body.Bytes()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &requestError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body: larger than %d bytes", limit)}
	case err != nil:
		return badRequest("body: %v", err)
	}
	return nil
}

// decodeRequest reads a body. Nothing of the result points into it.
func decodeRequest(body []byte, limits Limits) (*request, error) {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, jsonError(err)
	}
	if err := req.check(len(req.Entities), limits); err != nil {
		return nil, err
	}
	req.keys = make(map[string][]string, len(req.Entities))
	for _, key := range sortedKeys(req.Entities) {
		values, err := decodeKeys(req.Entities[key], limits.Entities)
		if err != nil {
			return nil, badRequest("entities: %s: %v", clip(key), err)
		}
		req.keys[key] = values
	}
	return &req, nil
}

// check says what is missing or too much, entities being the number of join keys.
func (req *request) check(entities int, limits Limits) error {
	switch {
	case req.FeatureService != nil && req.Features != nil:
		return badRequest("features: a feature_service is named too, want one of them")
	case req.FeatureService == nil && len(req.Features) == 0:
		return badRequest("features: want at least one, like \"view:feature\", or a feature_service")
	case len(req.Features) > limits.Features:
		return badRequest("features: %d, at most %d", len(req.Features), limits.Features)
	case entities == 0:
		return badRequest("entities: want the values of the join keys, like {\"node\": [\"a\"]}")
	}
	return nil
}

func jsonError(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typ) && typ.Field != "":
		return badRequest("%s: want %s, not %s", typ.Field, words(typ.Type.Kind().String()), typ.Value)
	case errors.As(err, &typ):
		return badRequest("body: want an object, not %s", typ.Value)
	case errors.As(err, &syntax):
		return badRequest("body: byte %d: %v", syntax.Offset, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest("body: cut off")
	}
	return badRequest("body: %v", err)
}

// words says a Go kind in JSON's words.
func words(kind string) string {
	switch kind {
	case "slice":
		return "an array of strings"
	case "map", "struct":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a string"
}

// decodeKeys reads an array of strings; an integer counts as its digits, since join keys
// are labels and so text. The JSON is known to be well formed. A plain string is cut out
// of one copy of the whole, so that a thousand of them cost no thousand allocations.
func decodeKeys(raw json.RawMessage, limit int) ([]string, error) {
	text := string(raw)
	if !strings.HasPrefix(text, "[") {
		return nil, errors.New("want an array of strings")
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("want UTF-8")
	}
	var values []string
	if n := strings.Count(text, ",") + 1; n > limit {
		values = make([]string, 0, limit)
	} else {
		values = make([]string, 0, n)
	}
	for rest := skipSpace(text[1:]); rest[0] != ']'; {
		if len(values) == limit {
			return nil, fmt.Errorf("more than %d", limit)
		}
		value, after, err := nextKey(rest)
		if err != nil {
			return nil, fmt.Errorf("entity %d: %w", len(values), err)
		}
		if len(value) > maxValue {
			return nil, fmt.Errorf("entity %d: longer than %d bytes", len(values), maxValue)
		}
		values = append(values, value)
		rest = skipSpace(after)
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
	}
	return values, nil
}

// nextKey reads the value that text begins with.
func nextKey(text string) (value, rest string, err error) {
	if text[0] != '"' {
		end := strings.IndexAny(text, ",] \t\r\n")
		if number := text[:end]; strings.Trim(number, "-0123456789") == "" {
			return number, text[end:], nil
		}
		return "", "", errors.New("want a string")
	}
	end, escaped := 1, false
	for ; text[end] != '"'; end++ {
		if text[end] == '\\' {
			escaped = true
			end++
		}
	}
	if escaped {
		value, err = unescape(text[:end+1])
		return value, text[end+1:], err
	}
	return text[1:end], text[end+1:], nil
}

// unescape is apart, so that a string without escapes costs no allocation.
func unescape(quoted string) (string, error) {
	var s string
	err := json.Unmarshal([]byte(quoted), &s)
	return s, err
}

func skipSpace(s string) string { return strings.TrimLeft(s, " \t\r\n") }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
