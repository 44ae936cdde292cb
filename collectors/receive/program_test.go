//go:build prometheus

package receive

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"

	"sextant/internal/bench/agent"
	"sextant/schema/wire"
)

// TestPrometheusProgram runs Prometheus itself in agent mode, built from the module at the
// version that this project uses. It scrapes an exporter and writes to a receiver, which is
// away for a while. Each answer of the exporter has to be stored once or more under one
// time; when the exporter goes, its series end with a staleness marker.
func TestPrometheusProgram(t *testing.T) {
	program, err := agent.BuildPrometheus(t.Context(), "prometheus", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	both(t, func(t *testing.T, p protocol) {
		e := newCounting()
		defer e.Close()
		k := &kept{}
		cfg := Defaults()
		cfg.Listen = "127.0.0.1:0"
		stop := func() {}
		start := func() {
			r, err := Listen(cfg, options(k))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Listen = r.Addr()
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := r.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			stop = func() { cancel(); wg.Wait() }
		}
		start()
		defer func() { stop() }()
		runPrometheus(t, program, cfg.Listen, strings.TrimPrefix(e.URL, "http://"), p)

		eventually(t, "the first answers are stored", func() bool { return len(k.times(t, "answers_total")) >= 3 })
		stop()
		away := e.count()
		eventually(t, "answers while the receiver is away", func() bool { return e.count() >= away+3 })
		start()
		eventually(t, "answers after it is back", func() bool { return e.count() >= away+6 })
		last := e.count()
		eventually(t, "all answers are stored", func() bool { return len(k.times(t, "answers_total")) >= last })
		for n, times := range k.times(t, "answers_total") {
			if len(times) != 1 {
				t.Errorf("answer %v is stored under %d times", n, len(times))
			}
		}
		for n := 1; n <= last; n++ {
			if len(k.times(t, "answers_total")[float64(n)]) == 0 {
				t.Errorf("answer %d is not stored", n)
			}
		}
		e.gone.Store(true)
		eventually(t, "a staleness marker", func() bool { return k.stale(t, "answers_total") })
		for _, entry := range k.all() {
			if entry.Node != "gpu-7" || entry.Target != "exporter/gpu-7:9400" {
				t.Fatalf("an entry of %s %s", entry.Node, entry.Target)
			}
		}
		if p == v2 && !k.counter(t, "answers_total") {
			t.Error("the metadata is not kept")
		}
	})
}

// runPrometheus runs the program until the end of the test.
func runPrometheus(t *testing.T, program, receiver, exporter string, p protocol) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `
global: {scrape_interval: 500ms, scrape_timeout: 500ms}
scrape_configs:
- job_name: exporter
  static_configs: [{targets: [%q], labels: {instance: "gpu-7:9400"}}]
remote_write:
- url: http://%s/api/v1/write
  protobuf_message: %s
  queue_config: {batch_send_deadline: 200ms}
`, exporter, receiver, map[protocol]string{v1: messageV1, v2: messageV2}[p]), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--agent", "--config.file="+file, "--storage.agent.path="+filepath.Join(dir, "wal"),
		"--web.listen-address=127.0.0.1:0", "--enable-feature=metadata-wal-records")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		_ = cmd.Wait()
		log.Close()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("prometheus said:\n%s", b)
		}
	})
}

// counting is an exporter whose metric counts its answers.
type counting struct {
	*httptest.Server
	mu   sync.Mutex
	n    int // guarded by mu
	gone atomic.Bool
}

func newCounting() *counting {
	e := &counting{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if e.gone.Load() {
			http.Error(w, "gone", http.StatusServiceUnavailable)
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.n++
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintf(w, "# TYPE answers_total counter\n# HELP answers_total Answers.\nanswers_total{gpu=\"0\"} %d\n", e.n)
	}))
	return e
}

func (e *counting) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n
}

// each calls f with each stored sample of a metric.
func (k *kept) each(t *testing.T, metric string, f func(ts *writev2.TimeSeries, s writev2.Sample)) {
	t.Helper()
	b := labels.NewScratchBuilder(0)
	for _, e := range k.all() {
		var req writev2.Request
		if err := req.Unmarshal(e.Payload); err != nil {
			t.Fatal(err)
		}
		for i := range req.Timeseries {
			ts := &req.Timeseries[i]
			ls, err := ts.ToLabels(&b, req.Symbols)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range ts.Samples {
				if ls.Get("__name__") == metric {
					f(ts, s)
				}
			}
		}
	}
}

// times are the times under which each value of a metric is stored.
func (k *kept) times(t *testing.T, metric string) map[float64]map[int64]bool {
	out := map[float64]map[int64]bool{}
	k.each(t, metric, func(_ *writev2.TimeSeries, s writev2.Sample) {
		if value.IsStaleNaN(s.Value) {
			return
		}
		if out[s.Value] == nil {
			out[s.Value] = map[int64]bool{}
		}
		out[s.Value][s.Timestamp] = true
	})
	return out
}

func (k *kept) stale(t *testing.T, metric string) (found bool) {
	k.each(t, metric, func(_ *writev2.TimeSeries, s writev2.Sample) {
		found = found || math.Float64bits(s.Value) == value.StaleNaN
	})
	return found
}

func (k *kept) counter(t *testing.T, metric string) (found bool) {
	k.each(t, metric, func(ts *writev2.TimeSeries, _ writev2.Sample) {
		found = found || ts.Metadata.Type == writev2.Metadata_MetricType(wire.TypeCounter)
	})
	return found
}
