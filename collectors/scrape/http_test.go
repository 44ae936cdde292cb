package scrape

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sextant/collectors/promconfig"
	"sextant/collectors/spool"
	"sextant/schema/wire"
)

func of(target string) func(spool.Entry) bool {
	return func(e spool.Entry) bool { return e.Target == target }
}

func failed(target string) func(spool.Entry) bool {
	return func(e spool.Entry) bool { return e.Target == target && e.State == wire.StateFailed }
}

// quick is a job that is scraped five times a second.
func quick(t testing.TB, name, more string, hosts ...string) *promconfig.ScrapeConfig {
	t.Helper()
	return jobConfig(t, fmt.Sprintf("job_name: %s\nscrape_interval: 200ms\nscrape_timeout: 150ms\n%s\nstatic_configs:\n- targets: [%s]\n",
		name, more, strings.Join(hosts, ", ")))
}

// TestBadTargetsAreToldApartAndStopNoOther runs one target for each way to be bad beside
// a good one.
func TestBadTargetsAreToldApartAndStopNoOther(t *testing.T) {
	hang := make(chan struct{})
	huge := hundredMegabytes(t)
	mux := http.NewServeMux()
	page := func(path string, h http.HandlerFunc) { mux.HandleFunc(path, h) }
	page("/good", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, "good 1\n")
	})
	page("/status", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "sorry", http.StatusInternalServerError) })
	page("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>login</html>")
	})
	page("/untyped", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		fmt.Fprint(w, "a 1\n")
	})
	page("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	page("/huge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(huge)
	})
	page("/hang", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	page("/samples", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "a 1\nb 1\nc 1\n")
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer close(hang)
	nobody := httptest.NewServer(mux)
	nobody.Close()

	sink := newSink()
	s, reg := newScraper(t, sink)
	cases := []struct{ job, more, reason, message string }{
		{"status", "", "status", "server returned HTTP status 500"},
		{"html", "", "content_type", `unsupported Content-Type "text/html"`},
		{"untyped", "", "content_type", "no Content-Type"},
		{"loop", "", "redirect", "redirects"},
		{"huge", "body_size_limit: 1MB", "body_size_limit", "body size limit exceeded"},
		{"hang", "", "timeout", "deadline exceeded"},
		{"samples", "sample_limit: 2", "limit", "sample_limit exceeded"},
		{"over", "target_limit: 1", "target_limit", "target_limit exceeded: 2 targets, limit 1"},
		{"nobody", "", "connect", "refused"},
	}
	jobs := []*promconfig.ScrapeConfig{quick(t, "good", "metrics_path: /good", host(srv))}
	for _, c := range cases {
		hosts := []string{host(srv)}
		switch c.job {
		case "over":
			hosts = append(hosts, "127.0.0.1:1")
		case "nobody":
			hosts = []string{host(nobody)}
		}
		jobs = append(jobs, quick(t, c.job, "metrics_path: /"+c.job+"\n"+c.more, hosts...))
	}
	if err := s.Apply(Set{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		from := host(srv)
		if c.job == "nobody" {
			from = host(nobody)
		}
		e := sink.until(t, "failed scrape of "+c.job, failed(c.job+"/"+from))
		if got := strings.Join(lines(t, e), "\n"); !strings.Contains(got, `up{instance="`+from+`",job="`+c.job+`"} 0`) {
			t.Errorf("%s: got\n%s", c.job, got)
		}
	}
	good := sink.until(t, "good scrape", of("good/"+host(srv)))
	equal(t, own(lines(t, good)), fmt.Sprintf(`good{instance="%s",job="good"} 1`, host(srv)))
	s.Close()
	for _, c := range cases {
		if v := metric(t, reg, "sextant_agent_scrape_failures_total", "job="+c.job, "reason="+c.reason); !(v >= 1) {
			t.Errorf("%s: counter of reason %s is %v", c.job, c.reason, v)
		}
	}
}

// hundredMegabytes returns a body of 100 MB that travels as 100 KB.
func hundredMegabytes(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("a", 1<<20) + "\n")
	for range 100 {
		if _, err := z.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStatusesSayWhatIsWrong(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	sink := newSink()
	s, _ := newScraper(t, sink)
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{quick(t, "j", "", host(srv))}}); err != nil {
		t.Fatal(err)
	}
	sink.until(t, "failure", failed("j/"+host(srv)))
	waitFor(t, "error in the status", func() bool { return strings.Contains(s.Targets()[0].Error, "404 Not Found") })
	if st := s.Targets()[0]; st.State != "failed" || st.URL != srv.URL+"/metrics" || st.Labels["job"] != "j" {
		t.Fatalf("%+v", st)
	}
}

func TestRequestIsWhatThePageAsksFor(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "pw")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan *http.Request, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "# TYPE a counter\na_total 1.5 2.5\n# EOF\n")
		z.Close()
	}))
	defer srv.Close()
	sink := newSink()
	s, _ := newScraper(t, sink)
	job := quick(t, "j", "metrics_path: /m\nparams: {q: [x]}\nbasic_auth: {username: u, password_file: "+secret+"}", host(srv))
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{job}}); err != nil {
		t.Fatal(err)
	}
	e := sink.until(t, "scrape", func(e spool.Entry) bool { return e.State == wire.StateOK })
	equal(t, own(lines(t, e)), fmt.Sprintf(`a_total{instance="%s",job="j"} 1.5 @2500`, host(srv)))
	r := <-got
	user, password, _ := r.BasicAuth()
	if user != "u" || password != "s3cret" || r.URL.RequestURI() != "/m?q=x" || r.Header.Get("Accept-Encoding") != "identity" ||
		r.Header.Get("X-Prometheus-Scrape-Timeout-Seconds") != "0.15" {
		t.Fatalf("%v %v", r.URL, r.Header)
	}
	const accept = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4," +
		"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
	if a := r.Header.Get("Accept"); a != accept {
		t.Fatalf("Accept %q", a)
	}
}

func TestOnlyTheNetworkIsSparedByCompression(t *testing.T) {
	for _, c := range []struct{ url, more, want string }{
		{"http://10.0.0.1/metrics", "", "gzip"},
		{"http://10.0.0.1/metrics", "enable_compression: false", "identity"},
		{"http://127.0.0.1:9100/metrics", "", "identity"},
		{"http://[::1]:9100/metrics", "", "identity"},
		{"http://localhost:9100/metrics", "", "identity"},
		{"http://local.example/metrics", "", "gzip"},
	} {
		f, err := newFetcher(http.DefaultClient, c.url, jobConfig(t, "job_name: j\n"+c.more), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.request.Header.Get("Accept-Encoding"); got != c.want {
			t.Errorf("%s %s: Accept-Encoding %s, want %s", c.url, c.more, got, c.want)
		}
	}
}

func TestFallbackProtocolReadsAnUntypedPage(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		fmt.Fprint(w, "a 1\n")
	}))
	defer srv.Close()
	sink := newSink()
	s, _ := newScraper(t, sink)
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{quick(t, "j", "fallback_scrape_protocol: PrometheusText0.0.4", host(srv))}}); err != nil {
		t.Fatal(err)
	}
	sink.until(t, "scrape", func(e spool.Entry) bool { return e.State == wire.StateOK })
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within 10s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
