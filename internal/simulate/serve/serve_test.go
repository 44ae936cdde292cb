package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sextant/internal/simulate"
)

var start = time.UnixMilli(1_767_225_600_000)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = start.Add(after)
}

func serveCluster(t *testing.T, text string) (*Server, *httptest.Server, *clock) {
	t.Helper()
	cfg, err := simulate.Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := simulate.New(cfg, nil, start)
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{now: start}
	s := New(Options{Cluster: cluster, Clock: c.Now})
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, web, c
}

const twoNodes = `
groups: [{name: a, nodes: 2, devices: [{vendor: nvidia, model: L4}, {vendor: bluefield, model: BlueField-3}]}]
`

func get(t *testing.T, url string) (int, string, http.Header) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

func TestPages(t *testing.T) {
	_, web, _ := serveCluster(t, twoNodes)
	for _, tc := range []struct {
		path   string
		status int
		has    string
	}{
		{"/sim-a-00/dcgm-exporter/metrics", 200, "DCGM_FI_DEV_GPU_UTIL{"},
		{"/sim-a-01/node-exporter/metrics", 200, `nodename="sim-a-01"`},
		{"/sim-a-00/doca-telemetry/metrics", 200, "port_rcv_data{"},
		{"/sim-a-00/npu-exporter/metrics", 404, ""},
		{"/sim-b-00/node-exporter/metrics", 404, ""},
		{"/", 200, "Nothing here is real"},
		{"/nothing", 404, ""},
		{"/sd?node=[", 400, "not a pattern"},
	} {
		status, body, head := get(t, web.URL+tc.path)
		if status != tc.status || !strings.Contains(body, tc.has) {
			t.Errorf("%s: status %d, %.80q", tc.path, status, body)
		}
		if strings.HasSuffix(tc.path, "metrics") && status == 200 && !strings.HasPrefix(head.Get("Content-Type"), "text/plain; version=0.0.4") {
			t.Errorf("%s: content type %q", tc.path, head.Get("Content-Type"))
		}
	}
}

func TestDiscoveryCallsSimulatedSimulated(t *testing.T) {
	_, web, _ := serveCluster(t, twoNodes)
	for _, tc := range []struct {
		query string
		want  int
	}{{"", 8}, {"?node=sim-a-01", 4}, {"?node=sim-*", 8}, {"?exporter=cadvisor", 2}, {"?node=sim-a-00&exporter=dcgm-exporter", 1}, {"?node=none", 0}} {
		_, body, head := get(t, web.URL+"/sd"+tc.query)
		var groups []targetGroup
		if err := json.Unmarshal([]byte(body), &groups); err != nil || head.Get("Content-Type") != "application/json" {
			t.Fatalf("%q: %v", body, err)
		}
		if len(groups) != tc.want {
			t.Errorf("%q: %d targets, want %d", tc.query, len(groups), tc.want)
		}
		instances := map[string]bool{}
		for _, g := range groups {
			if g.Labels["simulated"] != "true" || g.Labels["sim_node"] == "" || g.Labels["job"] == "" || instances[g.Labels["instance"]] {
				t.Errorf("labels %v", g.Labels)
			}
			instances[g.Labels["instance"]] = true
			if status, _, _ := get(t, "http://"+g.Targets[0]+g.Labels["__metrics_path__"]); status != 200 {
				t.Errorf("%v: status %d", g.Labels, status)
			}
		}
	}
}

// TestTimeMovesTheModel and nothing else does.
func TestTimeMovesTheModel(t *testing.T) {
	_, web, c := serveCluster(t, twoNodes)
	url := web.URL + "/sim-a-00/node-exporter/metrics"
	_, first, _ := get(t, url)
	if _, again, _ := get(t, url); again != first {
		t.Error("the page changed while time stood still")
	}
	c.set(5 * time.Second)
	if _, later, _ := get(t, url); later == first || !strings.Contains(later, "node_time_seconds 1.767225605e+09\n") {
		t.Error("the page did not follow the clock")
	}
}

func TestAFrozenExporterRepeatsItsBody(t *testing.T) {
	_, web, c := serveCluster(t, twoNodes+"faults: [{kind: freeze, at: 1m, for: 1m, exporter: node-exporter}]\n")
	url := web.URL + "/sim-a-00/node-exporter/metrics"
	c.set(time.Minute)
	_, frozen, _ := get(t, url)
	for _, after := range []time.Duration{70, 90, 119} {
		c.set(after * time.Second)
		if _, body, _ := get(t, url); body != frozen {
			t.Errorf("the body changed %d s after the start", after)
		}
	}
	c.set(2 * time.Minute)
	if _, body, _ := get(t, url); body == frozen {
		t.Error("the body is still frozen")
	}
}

func TestALostNodeDoesNotAnswer(t *testing.T) {
	s, web, c := serveCluster(t, twoNodes+"faults: [{kind: node_loss, at: 1m, for: 1m, nodes: sim-a-00}]\n")
	c.set(time.Minute)
	resp, err := http.Get(web.URL + "/sim-a-00/node-exporter/metrics")
	if err == nil {
		resp.Body.Close()
		t.Errorf("it answered %s", resp.Status)
	} else if !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want a closed connection", err)
	}
	if !s.Lost("sim-a-00") || s.Lost("sim-a-01") || !s.Lost("sim-none") {
		t.Error("who is lost is not told right")
	}
	if status, _, _ := get(t, web.URL+"/sim-a-01/node-exporter/metrics"); status != 200 {
		t.Errorf("the other node: status %d", status)
	}
	c.set(2 * time.Minute)
	if status, body, _ := get(t, web.URL+"/sim-a-00/node-exporter/metrics"); status != 200 || !strings.Contains(body, "node_boot_time_seconds 1.76722572e+09\n") {
		t.Errorf("after it: status %d, or no reboot", status)
	}
}

// TestManyAtOnce is for the race detector.
func TestManyAtOnce(t *testing.T) {
	_, web, c := serveCluster(t, twoNodes)
	var wait sync.WaitGroup
	pages := make([][]byte, 8)
	for i := range pages {
		wait.Go(func() {
			for k := range 10 {
				c.set(time.Duration(k) * time.Second)
				resp, err := http.Get(web.URL + "/sim-a-01/dcgm-exporter/metrics")
				if err != nil {
					t.Error(err)
					return
				}
				pages[i], err = io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.HasSuffix(pages[i], []byte("\n")) {
					t.Errorf("page of %d bytes: %v", len(pages[i]), err)
				}
			}
		})
	}
	wait.Wait()
}
