package training_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sextant/features"
	"sextant/features/training"
	"sextant/internal/access"
)

func TestHTTP(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	defs := &features.Set{Views: []*features.View{pointView, everyType},
		Services: []*features.Service{{Name: "point_state", Version: 1, Keys: []string{"entity"}, Columns: pointColumns}}}
	gate, err := access.NewGate(access.Options{TokenFile: token, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h, err := training.NewHandler(knownRows{}, training.HTTPOptions{Set: defs, MaxBody: 200, Access: gate})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	const labels = "entity,event_timestamp\nB,2026-01-01T00:00:00Z\nA,2026-01-01T08:00:05+08:00\n"
	for name, tt := range map[string]struct {
		query, labels, media, accept, token string
		status                              int
		want                                string
	}{
		"service":        {"service=point_state", labels, "text/csv", "text/csv", "", 200, "entity,event_timestamp,busy,mem_used,seq\nB,2026-01-01T00:00:00Z,,,\nA,2026-01-01T08:00:05+08:00,1,1,1\n"},
		"features":       {"features=types@v2:text&statuses=true&full_feature_names=true", labels, "text/csv; charset=utf-8", "text/csv", "", 200, "types@v2__text,types@v2__text__status\nB,2026-01-01T00:00:00Z,,NOT_FOUND\n"},
		"parquet is all": {"service=point_state@v1", labels, "text/csv", "*/*", "", 200, "PAR1"},
		"naive":          {"service=point_state", "entity,event_timestamp\nA,2026-01-01T00:00:00\n", "text/csv", "text/csv", "", 400, "row 1: event_timestamp"},
		"no service":     {"", labels, "text/csv", "", "", 400, "want a service"},
		"unknown":        {"service=nope", labels, "text/csv", "", "", 400, `service \"nope\" is not defined`},
		"flag":           {"service=point_state&statuses=maybe", labels, "text/csv", "", "", 400, "neither true nor false"},
		"misspelt":       {"servce=point_state", labels, "text/csv", "", "", 400, `\"servce\" is no parameter: want service, features, timestamp`},
		"twice":          {"service=point_state&service=other", labels, "text/csv", "", "", 400, "service: is there 2 times"},
		"empty":          {"service=point_state&statuses=", labels, "text/csv", "", "", 400, "statuses: is empty"},
		"many features":  {"features=" + strings.Repeat("a:b,", 1000) + "a:b", labels, "text/csv", "", "", 400, "features: 1001, at most 1000"},
		"media":          {"service=point_state", labels, "text/plain", "", "", 415, "want one of"},
		"accept":         {"service=point_state", labels, "text/csv", "image/png", "", 406, "want one of"},
		"large":          {"service=point_state", labels + strings.Repeat("A,2026-01-01T00:00:00Z\n", 20), "text/csv", "", "", 413, "larger than 200 bytes"},
		"no parquet":     {"service=point_state", labels, "application/vnd.apache.parquet", "", "", 400, "read as Parquet"},
		"token":          {"service=point_state", labels, "text/csv", "", "wrong", 401, "Bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodPost, srv.URL+"/v1/training-set?"+tt.query, strings.NewReader(tt.labels))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", tt.media)
			r.Header.Set("Accept", tt.accept)
			r.Header.Set("Authorization", "Bearer "+"0123456789abcdef"+tt.token)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("%d %s", resp.StatusCode, body)
			}
			if tt.status == 200 {
				if got := fmt.Sprint(resp.Header.Get(training.CutoffHeader), ", rows ", resp.Trailer.Get(training.RowsTrailer)); got != "known at event_timestamp, rows 2" {
					t.Errorf("said %q", got)
				}
			}
		})
	}
}
