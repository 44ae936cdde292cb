package agentcmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sextant/collectors"
	"sextant/internal/exit"
)

// checked is a configuration with a target that answers, and what more is asked for.
func checked(t *testing.T, more string) string {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# TYPE q gauge\nq{a=\"1\"} 1\nq{a=\"2\"} 2\nbusy 3\ndropped 4\n")
	}))
	t.Cleanup(page.Close)
	return file(t, "node: n9\nself: false\nkafka: {brokers: ['k:9092']}\nhost: {enabled: false}\ninventory: {enabled: false}\nscrape_configs:\n"+
		"- job_name: app\n  metric_relabel_configs: [{source_labels: [__name__], regex: dropped, action: drop}]\n"+
		"  relabel_configs: [{target_label: rack, replacement: r7}]\n"+
		"  static_configs: [{targets: ['"+strings.TrimPrefix(page.URL, "http://")+"']}]\n"+more)
}

func TestCheckShowsTargetsAndMetrics(t *testing.T) {
	out, err := execute(t, "check", checked(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ok: node n9, every 10s, to kafka [k:9092] topic telemetry.samples", "node off", "1 target\n", "ok", "3 series", `rack="r7"`,
		"job app: 2 metrics, 3 series\n       1  busy\n       2  q\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestCheckAsJSON(t *testing.T) {
	out, err := execute(t, "check", "--json", checked(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	var p collectors.Plan
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Targets) != 1 || p.Targets[0].Labels["rack"] != "r7" || p.Targets[0].Metrics["q"] != 2 || p.Targets[0].Series != 3 {
		t.Errorf("%+v", p)
	}
}

func TestCheckOfATargetThatDoesNotAnswer(t *testing.T) {
	cfg := checked(t, "- job_name: gone\n  static_configs: [{targets: ['127.0.0.1:1']}]\n")
	out, err := execute(t, "check", cfg)
	if exit.Status(err) != exit.StatusFailure || !strings.Contains(err.Error(), "1 of 2 targets did not answer") || !strings.Contains(out, "connection refused") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = execute(t, "check", "--no-scrape", cfg); err != nil || !strings.Contains(out, "http://127.0.0.1:1/metrics") || !strings.Contains(out, "not read") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheckReadsOwnCollectors(t *testing.T) {
	out, err := execute(t, "check", file(t, "kafka: {brokers: ['k:9092']}\nself: false\ninventory: {enabled: false}\nhost: {collectors: [loadavg]}\n"))
	if err != nil || !strings.Contains(out, "1  node_load1\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
