package telegraf

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sextant/collectors/plugins"
)

func TestPrometheus(t *testing.T) {
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "jobs_total", Help: "h"}, []string{"q"})
	c.WithLabelValues("x").Add(7)
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "wait_seconds", Help: "h", Buckets: []float64{1, 2}})
	h.Observe(1.5)
	reg.MustRegister(c, h)
	srv := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer srv.Close()
	o := open(t, fmt.Sprintf("[[inputs.prometheus]]\n urls = [%q]\n metric_version = 2\n", srv.URL), plugins.Config{})
	url := srv.URL + "/metrics"
	tags := fmt.Sprintf(`host="n1",q="x",url=%q`, url)
	wantLines(t, o.read(t), `jobs_total{`+tags+`} 7`+"\n",
		fmt.Sprintf(`wait_seconds_bucket{host="n1",url=%q,le="2"} 1`, url)+"\n", fmt.Sprintf(`wait_seconds_sum{host="n1",url=%q} 1.5`, url)+"\n")
}

// guarded answers those who bring what it wants.
func guarded(t *testing.T, want string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, "# TYPE g gauge\ng{a=\"b\"} 3\nold 4 1700000000000\n")
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestPrometheusCredentialsAndVersions(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t0k"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ want, options, page string }{
		"token file":   {"Bearer t0k", fmt.Sprintf("bearer_token = %q\nmetric_version = 2\n", token), "g{a=\"b\"} 3\nold 4 1700000000000\n"},
		"token":        {"Bearer s", "bearer_token_string = 's'\nmetric_version = 2\nignore_timestamp = true\n", "g{a=\"b\"} 3\nold 4\n"},
		"user":         {"Basic dTpw", "username = 'u'\npassword = 'p'\n", "g_gauge{a=\"b\"} 3\nold_value 4 1700000000000\n"},
		"first format": {"", "", "g_gauge{a=\"b\"} 3\nold_value 4 1700000000000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := guarded(t, c.want)
			o := open(t, fmt.Sprintf("[agent]\nomit_hostname = true\n[[inputs.prometheus]]\nurls = [%q]\nurl_tag = ''\n%s", srv.URL, c.options), plugins.Config{})
			if got := o.read(t); got != c.page {
				t.Errorf("got\n%swant\n%s", got, c.page)
			}
		})
	}
}

// TestPrometheusPagesFailAlone: of two pages one is not there.
func TestPrometheusPagesFailAlone(t *testing.T) {
	srv := guarded(t, "")
	o := open(t, fmt.Sprintf("[[inputs.prometheus]]\nurls = [%q, 'http://127.0.0.1:1/metrics']\nmetric_version = 2\n", srv.URL), plugins.Config{})
	fs, err := o.Gather()
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(page(t, fs), "g{") {
		t.Fatalf("%v: %s", err, page(t, fs))
	}
}
