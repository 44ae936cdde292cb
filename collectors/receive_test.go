package collectors

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"

	"sextant/schema/wire"
)

// TestReceives: what others write to the agent goes into its spool, also while the broker
// is away.
func TestReceives(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	cfg := agentConfig(t, "127.0.0.1:1", fmt.Sprintf("self: false\nreceive: {listen: %q, relabel_configs: [{regex: replica, action: labeldrop}]}\n", addr))
	r := start(t, cfg, Deps{})
	body := wire.NewTemplate([]wire.SeriesDef{{Labels: []wire.Label{{Name: "__name__", Value: "a"}, {Name: "node", Value: "other"}, {Name: "replica", Value: "r1"}}}}).
		AppendAt(nil, time.Now().UnixMilli(), []float64{1})
	req, err := http.NewRequest("POST", "http://"+addr+"/api/v1/write", bytes.NewReader(snappy.Encode(nil, body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Content-Encoding", "snappy")
	req.Header.Set("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("X-Prometheus-Remote-Write-Samples-Written") != "1" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	for _, want := range []string{`sextant_agent_receive_samples_total{protocol="2.0"} 1`, "sextant_agent_receive_records_total 1"} {
		if _, body := r.do("GET", "/metrics"); !strings.Contains(body, want) {
			t.Fatalf("no %s in\n%s", want, body)
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

func TestReceiveSection(t *testing.T) {
	const rules = "receive: {listen: 127.0.0.1:1, relabel_configs: [{source_labels: [a], regex: '(b|c)+', target_label: node}]}\n"
	a, b := agentConfig(t, "x:1", rules), agentConfig(t, "x:1", rules)
	b.Spool = a.Spool
	if got := fixed(a, b); len(got) != 0 {
		t.Fatalf("the same configuration needs a restart for %v", got)
	}
	if c := agentConfig(t, "x:1", ""); c.Receive.Enabled() {
		t.Fatal("it receives without being asked to")
	}
	b.Receive.Path = "/other"
	if got := fixed(a, b); len(got) != 1 || got[0] != "receive" {
		t.Fatalf("restart needed for %v", got)
	}
	_, err := LoadWith("", func(name string) (string, bool) { return "0", name == "SEXTANT_RECEIVE_MAX_SERIES" })
	if err == nil || !strings.Contains(err.Error(), "receive.max_series: 0, want 1 to") {
		t.Fatalf("got %v", err)
	}
}
