package collectors

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/collectors/scrape"
	"sextant/internal/embedded/broker"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agentConfig returns a configuration for one test: a fixed /proc, a spool of its own, any
// port, four scrapes a second.
func agentConfig(t *testing.T, brokers, more string) *Config {
	t.Helper()
	proc, err := filepath.Abs("host/testdata/proc")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, fmt.Sprintf("node: n1\nkafka: {brokers: [%q]}\nspool: {dir: %q}\nweb: {listen: '127.0.0.1:0'}\n"+
		"host: {proc_path: %q, collectors: [loadavg]}\nglobal: {scrape_interval: 250ms}\n%s", brokers, t.TempDir(), proc, more))
}

// running is an agent in this process.
type running struct {
	t    *testing.T
	url  string
	stop func() error
}

func start(t *testing.T, cfg *Config, d Deps) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	listening, ended := make(chan string, 1), make(chan error, 1)
	d.Listening = func(addr string) { listening <- addr }
	d.Log = slog.New(slog.DiscardHandler)
	go func() { ended <- Run(ctx, cfg, d) }()
	select {
	case addr := <-listening:
		r := &running{t: t, url: "http://" + addr}
		var err error
		stopped := false
		r.stop = func() error {
			if !stopped {
				stopped = true
				cancel()
				err = <-ended
			}
			return err
		}
		t.Cleanup(func() {
			if err := r.stop(); err != nil {
				t.Error(err)
			}
		})
		return r
	case err := <-ended:
		cancel()
		t.Fatalf("the agent ended: %v", err)
		return nil
	}
}

func (r *running) do(method, path string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+path, http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (r *running) targets() []scrape.Status {
	r.t.Helper()
	_, body := r.do("GET", "/targets")
	var out struct{ Targets []scrape.Status }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		r.t.Fatal(err)
	}
	return out.Targets
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within 15s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func exporter(t *testing.T, text string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func job(name, target string) string {
	return fmt.Sprintf("- job_name: %s\n  static_configs: [{targets: [%q]}]\n", name, target)
}

// TestWhatIsScrapedArrives runs the agent against a real broker and reads the records.
func TestWhatIsScrapedArrives(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	b, err := broker.Start(t.Context(), broker.Config{Dir: t.TempDir(), Logger: quiet, Topics: topics.All()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	target := exporter(t, "gpu_temp{gpu=\"0\"} 41\nbad line\n")
	r := start(t, agentConfig(t, b.Addr(), "scrape_configs:\n"+job("dcgm", target)), Deps{})

	var mu sync.Mutex          // partitions are read together
	want := map[string]string{ // guarded by mu
		"dcgm/" + target:   `gpu_temp{gpu="0"} 41, partial`,
		"node/n1":          "node_load1 0.21, ok",
		"inventory/n1":     "inventory_links_left_out 0, ok",
		"sextant-agent/n1": "sextant_agent_config_last_reload_successful 1, ok",
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err = kafka.Consume(ctx, kafka.Config{Brokers: []string{b.Addr()}}, kafka.ConsumerOptions{Group: "g", Topic: topics.Samples, Logger: quiet},
		func(ctx context.Context, p *kafka.Partition) error {
			for ctx.Err() == nil {
				records, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				mu.Lock()
				for _, rec := range records {
					settle(t, rec, want)
				}
				if len(want) == 0 {
					cancel()
				}
				mu.Unlock()
			}
			return nil
		})
	if err != nil || len(want) > 0 {
		t.Fatalf("not seen: %v: %v", want, err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// settle strikes the targets out of want whose sample the record holds.
func settle(t *testing.T, rec wire.Record, want map[string]string) {
	env, err := wire.ParseEnvelope(rec.Headers, nil)
	if err != nil || env.Node != "n1" || string(rec.Key) != "n1" {
		t.Errorf("record %d: %+v: %v", rec.Offset, env, err)
		return
	}
	var d wire.Decoder
	if err := d.Scan(rec.Value); err != nil {
		t.Errorf("record %d: %v", rec.Offset, err)
		return
	}
	for i, v := range d.Values {
		name, extra := "", ""
		if err := d.Labels(i, func(n, v []byte) bool {
			switch string(n) {
			case "__name__":
				name = string(v)
			case "job", "instance":
			default:
				extra = fmt.Sprintf("{%s=%q}", n, v)
			}
			return true
		}); err != nil {
			t.Error(err)
		}
		if fmt.Sprintf("%s%s %v, %s", name, extra, v, env.State) == want[env.Target] {
			delete(want, env.Target)
		}
	}
}

func TestPages(t *testing.T) {
	target := exporter(t, "a 1\n")
	r := start(t, agentConfig(t, "127.0.0.1:1", "scrape_configs:\n"+job("j", target)), Deps{})
	for path, want := range map[string]string{"/-/healthy": "healthy", "/healthz": "healthy", "/-/ready": "ready", "/readyz": "ready",
		"/metrics": "sextant_agent_config_last_reload_successful 1", "/": "/targets"} {
		if code, body := r.do("GET", path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := r.do("GET", "/-/reload"); code != http.StatusMethodNotAllowed {
		t.Errorf("GET /-/reload: %d", code)
	}
	if code, body := r.do("POST", "/-/reload"); code != 500 || !strings.Contains(body, errNoReload.Error()) {
		t.Errorf("POST /-/reload: %d %s", code, body)
	}
	eventually(t, "scrape of each target", func() bool {
		n := 0
		for _, s := range r.targets() {
			if s.State == "ok" && s.Error == "" && !s.LastScrape.IsZero() && s.Samples > 0 {
				n++
			}
		}
		return n == 4
	})
}

func TestReload(t *testing.T) {
	a, b := exporter(t, "a 1\n"), exporter(t, "b 1\n")
	first := agentConfig(t, "127.0.0.1:1", "scrape_configs:\n"+job("a", a))
	var next atomic.Pointer[Config]
	hangup := make(chan os.Signal, 1)
	r := start(t, first, Deps{Hangup: hangup, Reload: func() (*Config, error) {
		if c := next.Load(); c != nil {
			return c, nil
		}
		return nil, fmt.Errorf("agent.yaml:7: unknown key %q", "x")
	}})
	jobs := func() string {
		var names []string
		for _, s := range r.targets() {
			names = append(names, s.Job)
		}
		return strings.Join(names, " ")
	}
	eventually(t, "targets", func() bool { return jobs() == "a inventory node sextant-agent" })

	if code, body := r.do("POST", "/-/reload"); code != 500 || !strings.Contains(body, `agent.yaml:7: unknown key "x"`) {
		t.Fatalf("%d %s", code, body)
	}
	if _, body := r.do("GET", "/metrics"); !strings.Contains(body, "sextant_agent_config_last_reload_successful 0") {
		t.Fatal("the metric does not show the failed reload")
	}
	if jobs() != "a inventory node sextant-agent" {
		t.Fatalf("a bad configuration changed the targets to %s", jobs())
	}

	second := *first
	second.Scrape = agentConfig(t, "127.0.0.1:1", "scrape_configs:\n"+job("b", b)).Scrape
	second.Self = false
	next.Store(&second)
	hangup <- syscall.SIGHUP
	eventually(t, "new targets", func() bool { return jobs() == "b inventory node" })
	if _, body := r.do("GET", "/metrics"); !strings.Contains(body, "sextant_agent_config_last_reload_successful 1") {
		t.Fatal("the metric does not show the good reload")
	}

	third := second
	third.Node, third.Spool.Dir = "other", "/elsewhere"
	next.Store(&third)
	if code, body := r.do("POST", "/-/reload"); code != 200 || !strings.Contains(body, "restart the agent for what changed in: node, spool") {
		t.Fatalf("%d %s", code, body)
	}
	if got := r.targets()[1].Labels["instance"]; got != "n1" {
		t.Fatalf("the node changed its name to %s without a restart", got)
	}
}

func TestStartFailsWithAReason(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		change     func(*Config)
	}{
		{"port in use", "address already in use", func(c *Config) { c.Web.Listen = taken.Addr().String() }},
		{"open listener", "leaves this host", func(c *Config) { c.Web.Listen = "0.0.0.0:0" }},
		{"spool in the way", "not a directory", func(c *Config) { c.Spool.Dir = filepath.Join(file, "spool") }},
		{"host settings", "restart the agent", func(c *Config) { c.Host.SysPath = "/other" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			start(t, agentConfig(t, "127.0.0.1:1", ""), Deps{}).stop() // fixes the host settings
			cfg := agentConfig(t, "127.0.0.1:1", "")
			c.change(cfg)
			if err := Run(t.Context(), cfg, Deps{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestStopsSoonWhileBrokerAndTargetHang(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := start(t, agentConfig(t, l.Addr().String(), "scrape_configs:\n"+job("hang", l.Addr().String())), Deps{})
	eventually(t, "failed scrape", func() bool {
		for _, s := range r.targets() {
			if s.Job == "hang" && s.State == "failed" {
				return true
			}
		}
		return false
	})
	begin := time.Now()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Fatalf("the stop took %s", d)
	}
}
