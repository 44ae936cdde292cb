package api

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"
)

// The hand decoder of keys must read what encoding/json reads, or refuse.
func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{
		`{"features":["box:load"],"entities":{"node":["a","b"]},"full_feature_names":true}`,
		`{"features":["a:b"],"entities":{"n":["\u00e9\"\\","\ud800",1,-20]}}`,
		`{"features":["a:b"],"entities":{"n":[ "a" , "b" ],"m":[]}}`,
		`{"features":["a:b"],"entities":{"n":[[],{},null,1e9,true]}}`,
		`{"entities":{"":[""]},"features":[""]}`,
		`[`, `{"features":`, "{\"entities\":{\"n\":[\"\xff\"]},\"features\":[\"a\"]}",
	} {
		f.Add([]byte(seed))
	}
	limits := Limits{}.withDefaults()
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := decodeRequest(slices.Clone(body), limits)
		if err != nil {
			if !utf8.ValidString(err.Error()) && utf8.Valid(body) {
				t.Errorf("error is no text: %q", err)
			}
			return
		}
		var plain struct {
			Entities map[string][]any `json:"entities"`
		}
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatalf("decoded what encoding/json refuses: %v", err)
		}
		for key, values := range plain.Entities {
			if len(req.keys[key]) != len(values) {
				t.Fatalf("%s: %d values, want %d", key, len(req.keys[key]), len(values))
			}
			for i, v := range values {
				if want, ok := v.(string); ok && req.keys[key][i] != want {
					t.Errorf("%s[%d] = %q, want %q", key, i, req.keys[key][i], want)
				}
			}
		}
	})
}
