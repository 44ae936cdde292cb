package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestGetOnlineFeatures(t *testing.T) {
	tests := []struct {
		name, request, want string
		after               time.Duration // of the request, since the tick
	}{
		{
			name:    "one value",
			request: `{"features":["box:load"],"entities":{"node":["a"]}}`,
			want: `{"metadata":{"feature_names":["node","load"],"flags":{"box@v2":[0]}},"results":[
				{"values":["a"],"statuses":["PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z"]},
				{"values":[0.1],"statuses":["PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z"]}]}`,
		},
		{
			name:    "every type, and every way to lack a value",
			request: `{"features":["box:count","box:wide","box:load","box:up","box:kernel"],"entities":{"node":["a","b","ü\"1","x"]}}`,
			want: `{"metadata":{"feature_names":["node","count","wide","load","up","kernel"],"flags":{"box@v2":[0,32,256,0]}},"results":[
				{"values":["a","b","ü\"1","x"],"statuses":["PRESENT","PRESENT","PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[64,9007199254740992,-3,null],"statuses":["PRESENT","PRESENT","PRESENT","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z","2026-03-01T12:00:00.001Z","1970-01-01T00:00:00Z"]},
				{"values":[1e-07,1.5e+300,123456789.25,null],"statuses":["PRESENT","PRESENT","PRESENT","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z","2026-03-01T12:00:00.001Z","1970-01-01T00:00:00Z"]},
				{"values":[0.1,null,null,null],"statuses":["PRESENT","NULL_VALUE","NULL_VALUE","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z","2026-03-01T12:00:00.001Z","1970-01-01T00:00:00Z"]},
				{"values":[true,false,null,null],"statuses":["PRESENT","PRESENT","NULL_VALUE","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z","2026-03-01T12:00:00.001Z","1970-01-01T00:00:00Z"]},
				{"values":["6.8.0",null,"\u003c\"\\\n\u003e",null],"statuses":["PRESENT","NULL_VALUE","PRESENT","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z","2026-03-01T12:00:00.001Z","1970-01-01T00:00:00Z"]}]}`,
		},
		{
			name:    "versions and full names",
			request: `{"features":["box@v1:load","box:load","box@v2:load"],"entities":{"node":["a"]},"full_feature_names":true}`,
			want: `{"metadata":{"feature_names":["node","box@v1__load","box__load","box@v2__load"],"flags":{"box@v1":[0],"box@v2":[0]}},"results":[
				{"values":["a"],"statuses":["PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z"]},
				{"values":[0.125],"statuses":["PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z"]},
				{"values":[0.1],"statuses":["PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z"]},
				{"values":[0.1],"statuses":["PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z"]}]}`,
		},
		{
			name:    "two keys, and views with different ones",
			request: `{"features":["gpu:load","box:count"],"entities":{"gpu":["1",0,"7"],"node":["a","a","b"]}}`,
			want: `{"metadata":{"feature_names":["node","gpu","load","count"],"flags":{"gpu@v1":[0,0,0],"box@v2":[0,0,32]}},"results":[
				{"values":["a","a","b"],"statuses":["PRESENT","PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":["1","0","7"],"statuses":["PRESENT","PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[0.75,0.25,null],"statuses":["PRESENT","PRESENT","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T12:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[64,64,9007199254740992],"statuses":["PRESENT","PRESENT","PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T12:00:00Z","2026-03-01T11:59:30Z"]}]}`,
		},
		{
			name:    "a service is its features in its order",
			request: `{"feature_service":"mix","entities":{"gpu":["1","9"],"node":["a","b"]}}`,
			want: `{"metadata":{"feature_names":["node","gpu","count","share","load"],"flags":{"box@v2":[0,32],"gpu@v1":[0,0]}},"results":[
				{"values":["a","b"],"statuses":["PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":["1","9"],"statuses":["PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[64,9007199254740992],"statuses":["PRESENT","PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z"]},
				{"values":[0.5,null],"statuses":["NULL_VALUE","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[0.75,null],"statuses":["PRESENT","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","1970-01-01T00:00:00Z"]}]}`,
		},
		{
			name:    "an older version of a service, with full names",
			request: `{"feature_service":"mix@v1","entities":{"gpu":["1"],"node":["a"]},"full_feature_names":true}`,
			want: `{"metadata":{"feature_names":["node","gpu","gpu__load","box@v2__count"],"flags":{"gpu@v1":[0],"box@v2":[0]}},"results":[
				{"values":["a"],"statuses":["PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z"]},
				{"values":["1"],"statuses":["PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z"]},
				{"values":[0.75],"statuses":["PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z"]},
				{"values":[64],"statuses":["PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z"]}]}`,
		},
		{
			name:    "defaults",
			request: `{"features":["gpu:share","gpu:fit"],"entities":{"node":["a","a","x"],"gpu":["0","1","0"]}}`,
			want: `{"metadata":{"feature_names":["node","gpu","share","fit"],"flags":{"gpu@v1":[0,0,0]}},"results":[
				{"values":["a","a","x"],"statuses":["PRESENT","PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":["0","1","0"],"statuses":["PRESENT","PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[0.1,0.5,null],"statuses":["PRESENT","NULL_VALUE","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T12:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[false,true,null],"statuses":["PRESENT","NULL_VALUE","NOT_FOUND"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T12:00:00Z","1970-01-01T00:00:00Z"]}]}`,
		},
		{
			name:    "no entities",
			request: `{"features":["box:load"],"entities":{"node":[ ]}}`,
			want: `{"metadata":{"feature_names":["node","load"],"flags":{"box@v2":[]}},"results":[
				{"values":[],"statuses":[],"event_timestamps":[]},
				{"values":[],"statuses":[],"event_timestamps":[]}]}`,
		},
		{
			name:    "as old as the TTL",
			after:   time.Minute,
			request: `{"features":["box:count"],"entities":{"node":["a","b","ü\"1"]}}`,
			want: `{"metadata":{"feature_names":["node","count"],"flags":{"box@v2":[0,32,256]}},"results":[
				{"values":["a","b","ü\"1"],"statuses":["PRESENT","PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[64,null,-3],"statuses":["PRESENT","OUTSIDE_MAX_AGE","PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T11:59:30Z","2026-03-01T12:00:00.001Z"]}]}`,
		},
		{
			name:    "a millisecond older",
			after:   time.Minute + time.Millisecond,
			request: `{"features":["box:count"],"entities":{"node":["a","ü\"1"]}}`,
			want: `{"metadata":{"feature_names":["node","count"],"flags":{"box@v2":[0,256]}},"results":[
				{"values":["a","ü\"1"],"statuses":["PRESENT","PRESENT"],"event_timestamps":["1970-01-01T00:00:00Z","1970-01-01T00:00:00Z"]},
				{"values":[null,-3],"statuses":["OUTSIDE_MAX_AGE","PRESENT"],"event_timestamps":["2026-03-01T12:00:00Z","2026-03-01T12:00:00.001Z"]}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := do(serve(t, start.Add(tt.after), Options{}), "POST", "/get-online-features", tt.request)
			want := strings.NewReplacer("\n", "", "\t", "").Replace(tt.want) + "\n"
			if w.Code != 200 || w.Body.String() != want {
				t.Errorf("%d\n%swant\n%s", w.Code, w.Body, want)
			}
			if !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("not JSON: %s", w.Header())
			}
		})
	}
}

// Past the flush threshold an answer goes out in pieces, and they add up to the whole.
func TestLargeAnswer(t *testing.T) {
	const n = 5000
	nodes := strings.TrimSuffix(strings.Repeat(`"a","x",`, n/2), ",")
	w := &pieces{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest("POST", "/get-online-features", strings.NewReader(`{"features":["box:load","box:count"],"entities":{"node":[`+nodes+`]}}`))
	serve(t, start, Options{}).ServeHTTP(w, r)
	if w.largest > flushAt+1024 {
		t.Errorf("a piece of %d bytes", w.largest)
	}
	var got struct {
		Results []struct {
			Values   []any    `json:"values"`
			Statuses []string `json:"statuses"`
			Times    []string `json:"event_timestamps"`
		} `json:"results"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Body.Len() < 4*flushAt {
		t.Fatalf("%d bytes: %v", w.Body.Len(), err)
	}
	for c, r := range got.Results {
		if len(r.Values) != n || len(r.Statuses) != n || len(r.Times) != n {
			t.Fatalf("column %d has %d values, %d statuses, %d times", c, len(r.Values), len(r.Statuses), len(r.Times))
		}
	}
	if c := got.Results[2]; fmt.Sprint(c.Values[n-2:], c.Statuses[n-2:]) != "[64 <nil>] [PRESENT NOT_FOUND]" {
		t.Errorf("the end is %v %v", c.Values[n-2:], c.Statuses[n-2:])
	}
}

type pieces struct {
	*httptest.ResponseRecorder
	largest int
}

func (w *pieces) Write(b []byte) (int, error) {
	w.largest = max(w.largest, len(b))
	return w.ResponseRecorder.Write(b)
}

func TestBadRequests(t *testing.T) {
	limits := Limits{Body: 2000, Entities: 4, Features: 3, Values: 6}
	tests := []struct {
		name, body string
		status     int
		detail     string
	}{
		{"empty", ``, 400, `body: byte 0: unexpected end of JSON input`},
		{"cut off", `{"features":["box`, 400, `body: byte 17: unexpected end of JSON input`},
		{"no JSON", `features=box`, 400, `body: byte 2: invalid character 'e'`},
		{"trailing", `{} {}`, 400, `body: byte 4: invalid character '{' after top-level value`},
		{"array", `[]`, 400, `body: want an object, not array`},
		{"null", `null`, 400, `features: want at least one`},
		{"large", `{"features":["` + strings.Repeat("x", 2000) + `"]}`, 413, `body: larger than 2000 bytes`},
		{"no features", `{"entities":{"node":["a"]}}`, 400, `features: want at least one, like "view:feature"`},
		{"features no array", `{"features":"box:load"}`, 400, `features: want an array of strings, not string`},
		{"feature no string", `{"features":[7]}`, 400, `features: want a string, not number`},
		{"flag", `{"features":["box:load"],"full_feature_names":1}`, 400, `full_feature_names: want true or false, not number`},
		{"no flag", `{"features":["box:load"],"include_feature_view_version_metadata":null}`, 400, `include_feature_view_version_metadata: want true or false, not null`},
		{"unknown service", `{"feature_service":"s","entities":{"node":["a"]}}`, 404, `feature_service: "s" is not defined`},
		{"unknown version of a service", `{"feature_service":"mix@v3","entities":{"node":["a"]}}`, 404, `feature_service: "mix@v3" is not defined`},
		{"service and features", `{"feature_service":"mix","features":["box:load"],"entities":{"node":["a"]}}`, 400, `features: a feature_service is named too`},
		{"service no string", `{"feature_service":1,"entities":{"node":["a"]}}`, 400, `feature_service: want a string, not number`},
		{"service without a key", `{"feature_service":"mix","entities":{"node":["a"]}}`, 400, `entities: gpu is missing: gpu is keyed by node, gpu`},
		{"service whose names collide", `{"feature_service":"clash","entities":{"node":["a"],"gpu":["0"]}}`, 400, `features[1]: "gpu:load" and "box:load" are both called load`},
		{"many features", `{"features":["a:b","a:c","a:d","a:e"],"entities":{"node":["a"]}}`, 400, `features: 4, at most 3`},
		{"no view", `{"features":["load"],"entities":{"node":["a"]}}`, 400, `features[0]: "load" has no view: want "view:feature"`},
		{"unknown view", `{"features":["box:load","bax:load"],"entities":{"node":["a"]}}`, 404, `features[1]: view "bax" is not defined`},
		{"unknown version", `{"features":["box@v9:load"],"entities":{"node":["a"]}}`, 404, `features[0]: view "box@v9" is not defined`},
		{"unknown feature", `{"features":["box:lod"],"entities":{"node":["a"]}}`, 404, `features[0]: view "box" has no feature "lod"`},
		{"feature of another version", `{"features":["box@v1:up"],"entities":{"node":["a"]}}`, 404, `features[0]: view "box@v1" has no feature "up"`},
		{"long name", `{"features":["` + strings.Repeat("x", 500) + `"],"entities":{"node":["a"]}}`, 400, `xxx…`},
		{"collision", `{"features":["box:load","gpu:load"],"entities":{"node":["a"],"gpu":["0"]}}`, 400, `features[1]: "box:load" and "gpu:load" are both called load`},
		{"twice", `{"features":["box:load","box:load"],"entities":{"node":["a"]},"full_feature_names":true}`, 400, `are both called box__load`},
		{"no entities", `{"features":["box:load"]}`, 400, `entities: want the values of the join keys`},
		{"entities no object", `{"features":["box:load"],"entities":["a"]}`, 400, `entities: want an object, not array`},
		{"missing key", `{"features":["gpu:load"],"entities":{"node":["a"]}}`, 400, `entities: gpu is missing: gpu is keyed by node, gpu`},
		{"unknown key", `{"features":["box:load"],"entities":{"node":["a"],"rack":["r"]}}`, 400, `entities: rack is no join key of the features asked for: want node`},
		{"lengths", `{"features":["gpu:load"],"entities":{"node":["a","b"],"gpu":["0"]}}`, 400, `entities: node has 2 values and gpu has 1`},
		{"values no array", `{"features":["box:load"],"entities":{"node":"a"}}`, 400, `entities: node: want an array of strings`},
		{"null value", `{"features":["box:load"],"entities":{"node":["a",null]}}`, 400, `entities: node: entity 1: want a string`},
		{"fraction", `{"features":["box:load"],"entities":{"node":[1.5]}}`, 400, `entities: node: entity 0: want a string`},
		{"nested", `{"features":["box:load"],"entities":{"node":[["a"]]}}`, 400, `entities: node: entity 0: want a string`},
		{"object", `{"features":["box:load"],"entities":{"node":[{"a":1}]}}`, 400, `entities: node: entity 0: want a string`},
		{"long value", `{"features":["box:load"],"entities":{"node":["` + strings.Repeat("x", maxValue+1) + `"]}}`, 400, `entities: node: entity 0: longer than 1024 bytes`},
		{"no UTF-8", "{\"features\":[\"box:load\"],\"entities\":{\"node\":[\"\xff\"]}}", 400, `entities: node: want UTF-8`},
		{"many entities", `{"features":["box:load"],"entities":{"node":["a","b","c","d","e"]}}`, 400, `entities: node: more than 4`},
		{"many values", `{"features":["box:load","box:up"],"entities":{"node":["a","b","c","d"]}}`, 400, `4 entities times 2 features are 8 values, at most 6`},
	}
	h := serve(t, start, Options{Limits: limits})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := do(h, "POST", "/get-online-features", tt.body)
			var got struct{ Detail string }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Code != tt.status || !strings.Contains(got.Detail, tt.detail) {
				t.Errorf("%d %s\nwant %d %s", w.Code, got.Detail, tt.status, tt.detail)
			}
		})
	}
	// What stands exactly at the limits passes.
	w := do(h, "POST", "/get-online-features", `{"features":["box:load"],"entities":{"node":["a","b","c","d"]}}`)
	if w.Code != 200 {
		t.Errorf("at the limit: %d %s", w.Code, w.Body)
	}
}

// Feast's clients send more than we use.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	w := do(serve(t, start, Options{}), "POST", "/get-online-features",
		`{"features":["box:load"],"entities":{"node":["a"]},"request_context":{},"api_version":1,"feature_service":null}`)
	if w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
