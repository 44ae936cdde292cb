package host

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// procfs names a small /proc. One process has one host configuration, so all tests of
// this package that gather share it.
func procfs(t *testing.T) Config {
	t.Helper()
	dir, err := filepath.Abs("testdata/proc")
	if err != nil {
		t.Fatal(err)
	}
	c := Defaults()
	c.ProcPath = dir
	c.Collectors = []string{"loadavg", "meminfo", "stat"}
	c.Exclude = []string{"stat"}
	return c
}

func gather(t *testing.T, g prometheus.Gatherer) map[string]*dto.MetricFamily {
	t.Helper()
	fs, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range fs {
		out[f.GetName()] = f
	}
	return out
}

func TestCollectorsReadTheGivenPathsAndFailAlone(t *testing.T) {
	var log bytes.Buffer
	g, err := New(procfs(t), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	got := gather(t, g)
	if v := got["node_load1"].GetMetric()[0].GetGauge().GetValue(); v != 0.21 {
		t.Fatalf("node_load1 is %v", v)
	}
	success := map[string]float64{}
	for _, m := range got["node_scrape_collector_success"].GetMetric() {
		success[m.Label[0].GetValue()] = m.GetGauge().GetValue()
	}
	// testdata has no meminfo: that collector fails, and only that one.
	if len(success) != 2 || success["loadavg"] != 1 || success["meminfo"] != 0 {
		t.Fatalf("success %v", success)
	}
	gather(t, g)
	if n := strings.Count(log.String(), "collector failed"); n != 1 {
		t.Fatalf("the failure was logged %d times:\n%s", n, log.String())
	}
}

func TestHostSettingsAreFixedWhileTheProcessRuns(t *testing.T) {
	if _, err := New(procfs(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(procfs(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatalf("the same settings again: %v", err)
	}
	c := procfs(t)
	c.SysPath = "/other"
	if _, err := New(c, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrFixed) {
		t.Fatalf("got %v", err)
	}
}

func TestCheckReportsEveryFault(t *testing.T) {
	c := Defaults()
	c.ProcPath = "proc"
	c.Collectors = []string{"cpu", "gpus"}
	c.Exclude = []string{"nothing"}
	c.Flags = []string{"--collector.filesystem.mount-points-exclude=^/x", "--no-collector.wifi", "--web.listen-address=:1", "--collector.nosuch=1"}
	got := c.Check("host").Error()
	want := `host.collectors: node_exporter has no collector "gpus"
host.exclude: node_exporter has no collector "nothing"
host.flags: "--collector.nosuch=1" is not one of node_exporter's --collector flags
host.flags: "--web.listen-address=:1" is not one of node_exporter's --collector flags
host.proc_path: "proc" is not an absolute path`
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if err := Defaults().Check("host"); err != nil {
		t.Fatal(err)
	}
}

func TestANodeIsKnownByItsCPUsAndNUMANodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"by default", func(*Config) {}, "--collector.cpu.info --collector.meminfo_numa"},
		{"chosen collectors", func(c *Config) { c.Collectors = []string{"cpu"} }, "--collector.cpu --collector.cpu.info"},
		{"left out", func(c *Config) { c.Exclude = []string{"meminfo_numa"} }, "--no-collector.meminfo_numa --collector.cpu.info"},
		{"turned off", func(c *Config) { c.Flags = []string{"--no-collector.cpu.info", "--no-collector.meminfo_numa"} },
			"--no-collector.cpu.info --no-collector.meminfo_numa"},
		{"said again", func(c *Config) { c.Flags = []string{"--collector.cpu.info", "--collector.cpu.info.flags-include=avx"} },
			"--collector.meminfo_numa --collector.cpu.info --collector.cpu.info.flags-include=avx"},
	} {
		cfg := Defaults()
		c.change(&cfg)
		args := slices.DeleteFunc(cfg.args(), func(a string) bool { return strings.HasPrefix(a, "--path.") })
		if got := strings.Join(args, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTurnsLogsFirstFailureAndRecovery(t *testing.T) {
	var buf bytes.Buffer
	log := slog.New(newTurns(slog.NewTextHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))).With("collector", "x")
	bad := errors.New("open /proc/x: no such file")
	log.Error("collector failed", "name", "x", "err", bad)
	log.Error("collector failed", "name", "x", "err", bad)
	log.Debug("collector succeeded", "name", "x")
	log.Debug("collector succeeded", "name", "x")
	log.Debug("something else")
	log.Error("collector failed", "name", "x", "err", bad)
	want := `level=ERROR msg="collector failed" collector=x name=x err="open /proc/x: no such file"
level=INFO msg="collector works again" collector=x name=x
level=ERROR msg="collector failed" collector=x name=x err="open /proc/x: no such file"
`
	if buf.String() != want {
		t.Fatalf("got\n%s", buf.String())
	}
}
