package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/influxdata/toml"
	"go.yaml.in/yaml/v3"
)

// TestPeersAreToldAllTargets reads the configurations that are written, as their formats are read:
// a peer that scrapes less than the others would look cheap.
func TestPeersAreToldAllTargets(t *testing.T) {
	to := targets{addrs: map[string][]string{"node": {"127.0.0.1:1", "127.0.0.1:2"}, "dcgm": {"127.0.0.1:3"}, "cadvisor": {"127.0.0.1:4"}}, interval: "10s"}
	want := []string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"}
	type jobs struct {
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	told := func(j jobs) (out []string) {
		for _, c := range j.ScrapeConfigs {
			for _, s := range c.StaticConfigs {
				out = append(out, s.Targets...)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		start func(dir, to string, t targets) ([]string, error)
		file  string
	}{"vmagent": {startVmagent, "vmagent.yaml"}, "prometheus": {startPrometheusWrite("prometheus.WriteRequest"), "prometheus.yaml"}, "sextant": {startAgent, "agent.yaml"},
		"otelcol": {startCollector, "otelcol.yaml"}, "otelcol alone": {startCollectorAlone, "otelcol.yaml"}} {
		dir := t.TempDir()
		if _, err := c.start(dir, "127.0.0.1:9", to); err != nil {
			t.Fatal(err)
		}
		var file struct {
			jobs      `yaml:",inline"`
			Receivers struct{ Prometheus struct{ Config jobs } }
		}
		read(t, filepath.Join(dir, c.file), func(b []byte) error { return yaml.Unmarshal(b, &file) })
		if got := append(told(file.jobs), told(file.Receivers.Prometheus.Config)...); !slices.Equal(got, want) {
			t.Errorf("%s scrapes %v, want %v", name, got, want)
		}
	}
	for _, start := range []func(dir, to string, t targets) ([]string, error){startTelegraf, startTelegrafAlone} {
		dir := t.TempDir()
		if _, err := start(dir, "127.0.0.1:9", to); err != nil {
			t.Fatal(err)
		}
		read(t, filepath.Join(dir, "telegraf.conf"), func(b []byte) error {
			for _, target := range want {
				if !strings.Contains(string(b), `"http://`+target+`/metrics"`) {
					t.Errorf("telegraf is not told of %s:\n%s", target, b)
				}
			}
			_, err := toml.Parse(b)
			return err
		})
	}
}

func read(t *testing.T, path string, decode func([]byte) error) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = decode(b)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
}
