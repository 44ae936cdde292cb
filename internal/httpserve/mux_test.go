package httpserve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text+r.PathValue("id")) })
}

func TestMux(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request, status int, why string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, why)
	}
	inner := NewMux(refuse)
	inner.Route("/v1/things/{id}", says("thing "), "GET", "DELETE")
	inner.Route("/v1/things", says("things"), "POST")
	outer := NewMux(refuse)
	outer.Route("/here", says("here"), "GET")
	outer.Mount("/", inner)
	for _, tt := range []struct {
		method, path, want, allow string
		status                    int
	}{
		{"GET", "/here", "here", "", 200},
		{"HEAD", "/here", "here", "", 200},
		{"GET", "/v1/things/7", "thing 7", "", 200},
		{"DELETE", "/v1/things/7", "thing 7", "", 200},
		{"POST", "/v1/things/7", "method POST: want GET or DELETE", "GET, DELETE", 405},
		{"HEAD", "/v1/things", "method HEAD: want POST", "POST", 405},
		{"GET", "/nowhere", "no such path", "", 404},
		{"GET", "/v1/things/7/8", "no such path", "", 404},
	} {
		w := httptest.NewRecorder()
		outer.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || w.Body.String() != tt.want || w.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d %q, allow %q; want %+v", tt.method, tt.path, w.Code, w.Body, w.Header().Get("Allow"), tt)
		}
	}
	want := []string{"DELETE /v1/things/{id}", "GET /here", "GET /v1/things/{id}", "POST /v1/things"}
	if got := outer.Routes(); !slices.Equal(got, want) {
		t.Errorf("routes %v, want %v", fmt.Sprint(got), want)
	}
}
