package collectors

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"sextant/collectors/telegraf"
)

// TestAgentGoesOnWithoutDCGM: on a host that has no libdcgm.so.4 the target is scraped and
// says that it is not up, and the others do not notice.
func TestAgentGoesOnWithoutDCGM(t *testing.T) {
	r := start(t, agentConfig(t, "127.0.0.1:1", "dcgm: {enabled: true}\n"), Deps{})
	jobs := map[string]int{}
	eventually(t, "scrape of all jobs", func() bool {
		for _, s := range r.targets() {
			jobs[s.Job] = s.Samples
		}
		return jobs[DCGMJob] > 0 && jobs[HostJob] > 0 && jobs[SelfJob] > 0
	})
	if jobs[DCGMJob] != 1 {
		t.Fatalf("%d samples, want collector_up alone", jobs[DCGMJob])
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

func TestDCGMNeedsARestart(t *testing.T) {
	now, next := parse(t, brokers), parse(t, brokers+"dcgm: {enabled: true, interval: 5s}\n")
	if got := strings.Join(fixed(now, next), ","); got != "dcgm" {
		t.Fatalf("restart for %q", got)
	}
	after := now.with(next)
	if after.DCGM.Enabled || after.dcgmInterval().String() != "5s" || now.dcgmInterval().String() != "10s" {
		t.Fatalf("%+v", after.DCGM)
	}
}

func TestNVMLIsNotBesideDCGM(t *testing.T) {
	_, err := Parse("a.yaml", []byte(brokers+"nvml: {enabled: true}\ndcgm: {enabled: true}\n"), environ(), telegraf.Runner{})
	if err == nil || !strings.Contains(err.Error(), "nvml.enabled: not beside dcgm") {
		t.Fatal(err)
	}
	r := start(t, agentConfig(t, "127.0.0.1:1", "nvml: {enabled: true}\n"), Deps{})
	eventually(t, "scrape of nvml", func() bool {
		for _, s := range r.targets() {
			if s.Job == NVMLJob && s.Samples == 1 { // collector_up alone: there is no driver here
				return true
			}
		}
		return false
	})
}

func TestOnce(t *testing.T) {
	cfg := agentConfig(t, "127.0.0.1:1", "")
	var out, log bytes.Buffer
	quiet := slog.New(slog.NewTextHandler(&log, nil))
	if err := Once(cfg, HostJob, quiet, &out); err != nil || !strings.Contains(out.String(), "\nnode_load1 ") {
		t.Fatalf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := Once(cfg, DCGMJob, quiet, &out); err != nil || !strings.HasSuffix(out.String(), "collector_up{collector=\"dcgm\"} 0\n") {
		t.Fatalf("%v: %s", err, out.String())
	}
	if !strings.Contains(log.String(), "DCGM is not read") {
		t.Fatal(log.String())
	}
	if err := Once(cfg, "tpu", quiet, io.Discard); err == nil || err.Error() != `collector "tpu" is unknown, want one of [node dcgm nvml telegraf pod-resources inventory inventory-series]` {
		t.Fatal(err)
	}
}
