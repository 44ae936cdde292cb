package scrape

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sextant/collectors/promconfig"
	"sextant/collectors/spool"
	"sextant/schema/wire"
)

func TestTargetThatGoesLeavesStaleMarkers(t *testing.T) {
	srv := serve(t, "a 1\n")
	sink := newSink()
	s, reg := newScraper(t, sink)
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{quick(t, "j", "", host(srv))}}); err != nil {
		t.Fatal(err)
	}
	sink.until(t, "scrape", of("j/"+host(srv)))
	if err := s.Apply(Set{}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Targets()); n != 0 {
		t.Fatalf("%d targets", n)
	}
	es := sink.all()
	last := es[len(es)-1]
	in := fmt.Sprintf(`{instance="%s",job="j"} stale`, host(srv))
	equal(t, lines(t, last), "a"+in, "scrape_body_size_bytes"+in, "scrape_duration_seconds"+in, "scrape_samples_post_metric_relabeling"+in,
		"scrape_samples_scraped"+in, "scrape_series_added"+in, "up"+in)
	if v := metric(t, reg, "sextant_agent_targets", "job=j"); v != 0 {
		t.Fatalf("targets gauge %v", v)
	}
}

func TestApplyLeavesWhatStaysAlone(t *testing.T) {
	srv := serve(t, "a 1\nb 1\n")
	sink := newSink()
	s, _ := newScraper(t, sink)
	apply := func(jobs ...*promconfig.ScrapeConfig) {
		t.Helper()
		if err := s.Apply(Set{Jobs: jobs}); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "targets", func() bool { return len(s.Targets()) == len(jobs) })
	}
	slotOf := func(job string) *slot {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, t := range s.jobs[job].targets {
			return t
		}
		return nil
	}
	apply(quick(t, "j", "", host(srv)))
	first := slotOf("j")
	apply(quick(t, "j", "", host(srv)), quick(t, "k", "", host(srv)))
	if slotOf("j") != first {
		t.Fatal("a target was started anew for another's sake")
	}
	if p, q := slotOf("j").cfg.phase, slotOf("k").cfg.phase; p == q {
		t.Fatalf("both targets are scraped at %v of the interval", p)
	}
	sink.until(t, "scrape of j", of("j/"+host(srv)))
	apply(quick(t, "j", "metric_relabel_configs: [{action: drop, source_labels: [__name__], regex: b}]", host(srv)), quick(t, "k", "", host(srv)))
	second := slotOf("j")
	if second == first || second.cfg.phase != first.cfg.phase {
		t.Fatal("new rules must start the target anew, in its old place")
	}
	sink.until(t, "stale marker of b", func(e spool.Entry) bool {
		return e.Target == "j/"+host(srv) && strings.Contains(strings.Join(lines(t, e), "\n"), fmt.Sprintf(`b{instance="%s",job="j"} stale`, host(srv)))
	})
}

func TestFileDiscoveryFollowsItsFile(t *testing.T) {
	srv := serve(t, "a 1\n")
	file := filepath.Join(t.TempDir(), "targets.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf(`[{"targets":[%q],"labels":{"rack":"r1"}}]`, host(srv)))
	sink := newSink()
	s, _ := newScraper(t, sink)
	job := jobConfig(t, "job_name: j\nscrape_interval: 200ms\nscrape_timeout: 150ms\nfile_sd_configs: [{files: ["+file+"]}]\nrelabel_configs: [{source_labels: [rack], target_label: shelf}]\n")
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{job}}); err != nil {
		t.Fatal(err)
	}
	e := sink.until(t, "scrape", func(e spool.Entry) bool { return e.State == wire.StateOK })
	equal(t, own(lines(t, e)), fmt.Sprintf(`a{instance="%s",job="j",rack="r1",shelf="r1"} 1`, host(srv)))
	write(`[]`)
	waitFor(t, "end of the target", func() bool { return len(s.Targets()) == 0 })
}

func TestHTTPDiscoveryFollowsItsServer(t *testing.T) {
	srv := serve(t, "a 1\n")
	known := fmt.Sprintf(`[{"targets":[%q],"labels":{"rack":"r1"}}]`, host(srv))
	var answer atomic.Pointer[string] // nil: the server is in trouble
	var troubles atomic.Int32
	answer.Store(&known)
	sd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := answer.Load()
		if _, password, _ := r.BasicAuth(); text == nil || password != "s3cret" {
			troubles.Add(1)
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, *text)
	}))
	defer sd.Close()
	sink := newSink()
	s, _ := newScraper(t, sink)
	job := jobConfig(t, "job_name: j\nscrape_interval: 200ms\nscrape_timeout: 150ms\n"+
		"http_sd_configs: [{url: "+sd.URL+", refresh_interval: 50ms, basic_auth: {username: u, password: s3cret}}]\n")
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{job}}); err != nil {
		t.Fatal(err)
	}
	e := sink.until(t, "scrape", func(e spool.Entry) bool { return e.State == wire.StateOK })
	equal(t, own(lines(t, e)), fmt.Sprintf(`a{instance="%s",job="j",rack="r1"} 1`, host(srv)))

	answer.Store(nil)
	waitFor(t, "failing discovery", func() bool { return troubles.Load() >= 2 })
	if n := len(s.Targets()); n != 1 {
		t.Fatalf("%d targets are left while discovery does not answer, want what it last said", n)
	}
	none := "[]"
	answer.Store(&none)
	waitFor(t, "end of the target", func() bool { return len(s.Targets()) == 0 })
	sd.CloseClientConnections()
}

func TestBadTargetLabelsAreRejectedAndCounted(t *testing.T) {
	sink := newSink()
	s, reg := newScraper(t, sink)
	job := jobConfig(t, "job_name: j\nstatic_configs: [{targets: ['a:1', 'b:1']}]\nrelabel_configs: [{source_labels: [__address__], regex: 'b:1', target_label: __scrape_timeout__, replacement: soon}]\n")
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{job}}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "rejection", func() bool { return metric(t, reg, "sextant_agent_targets_rejected", "job=j") == 1 })
	waitFor(t, "the other target", func() bool { return len(s.Targets()) == 1 })
}
