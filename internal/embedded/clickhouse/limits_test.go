package clickhouse

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// front serves another configuration on the shared engine and gives its address.
func front(t *testing.T, cfg Config) (*Server, string) {
	t.Helper()
	s := withServer(t, cfg)
	h := httptest.NewServer(s.handler())
	t.Cleanup(h.Close)
	return s, strings.TrimPrefix(h.URL, "http://")
}

// One statement runs, one waits, the next is refused, and the one that waits runs in its turn.
func TestQueueIsFull(t *testing.T) {
	reg := prometheus.NewRegistry()
	s, addr := front(t, Config{Concurrency: 1, Queue: 1, Registerer: reg})
	s.slots.free <- struct{}{} // a statement that runs
	var wg sync.WaitGroup
	wg.Go(func() {
		if a := sendTo(t, addr, "POST", "", strings.NewReader("SELECT 1")); a.status != 200 {
			t.Errorf("the one that waited: %d %s", a.status, a.body)
		}
	})
	eventually(t, "the request does not wait", func() bool { return s.slots.waiting.Load() == 1 })
	a := sendTo(t, addr, "POST", "", strings.NewReader("SELECT 1"))
	if a.status != 503 || a.header.Get("X-ClickHouse-Exception-Code") != "202" || !strings.Contains(a.body, "1 run and 1 wait") {
		t.Errorf("the third: %d %s", a.status, a.body)
	}
	<-s.slots.free
	wg.Wait()
	want := `
# HELP sextant_embedded_clickhouse_requests_total Requests, by ClickHouse exception code (0: none).
# TYPE sextant_embedded_clickhouse_requests_total counter
sextant_embedded_clickhouse_requests_total{code="0"} 1
sextant_embedded_clickhouse_requests_total{code="202"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sextant_embedded_clickhouse_requests_total"); err != nil {
		t.Error(err)
	}
}

func TestBodyLimits(t *testing.T) {
	tbl := table(t, "a UInt64")
	_, addr := front(t, Config{MaxBody: 1000, MaxBuffered: 1000})
	insert := form("query", "INSERT INTO "+tbl+" FORMAT CSV")
	large := strings.Repeat("1\n", 501)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	io.WriteString(z, large)
	z.Close()
	for name, a := range map[string]answer{
		"body":     sendTo(t, addr, "POST", insert, strings.NewReader(large)),
		"unfolded": sendTo(t, addr, "POST", insert, &bomb, "Content-Encoding", "gzip"),
		"whole":    sendTo(t, addr, "POST", "", strings.NewReader("SELECT number FROM numbers(1000) FORMAT JSON")),
		"wait":     sendTo(t, addr, "POST", "wait_end_of_query=1", strings.NewReader("SELECT number FROM numbers(1000)")),
	} {
		if a.status != 413 || a.header.Get("X-ClickHouse-Exception-Code") != "396" || !strings.Contains(a.body, "1000") {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
	}
	if a := sendTo(t, addr, "POST", insert, strings.NewReader(large[:1000])); a.status != 200 {
		t.Errorf("at the limit: %d %s", a.status, a.body)
	}
	if got := post(t, shared.Addr(), "SELECT count() FROM "+tbl); got != "500\n" {
		t.Errorf("%s rows", got)
	}
}

func TestPassword(t *testing.T) {
	_, addr := front(t, Config{Password: "secret"})
	for name, c := range map[string]struct {
		params  string
		headers []string
		status  int
	}{
		"none":          {"", nil, 401},
		"header":        {"", []string{"X-ClickHouse-User", "default", "X-ClickHouse-Key", "secret"}, 200},
		"basic":         {"", []string{"Authorization", "Basic ZGVmYXVsdDpzZWNyZXQ="}, 200},
		"URL":           {"user=default&password=secret", nil, 200},
		"wrong":         {"", []string{"X-ClickHouse-Key", "secret2"}, 403},
		"header is it":  {"password=secret", []string{"X-ClickHouse-Key", "x"}, 403},
		"another user":  {"user=bob&password=secret", nil, 403},
		"an empty user": {"user=&password=secret", nil, 200},
	} {
		t.Run(name, func(t *testing.T) {
			a := sendTo(t, addr, "POST", c.params, strings.NewReader("SELECT 1"), c.headers...)
			if a.status != c.status || a.status == 401 && a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("status %d: %s", a.status, a.body)
			}
			if strings.Contains(a.body, "secret") {
				t.Errorf("the answer tells the password: %s", a.body)
			}
		})
	}
}

func TestLoopback(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		":8123": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "localhost.example:1": false, "127.0.0.1": false,
	} {
		if err := loopback(addr); (err == nil) != want {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
