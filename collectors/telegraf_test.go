package collectors

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sextant/collectors/telegraf"
)

// withPlugins is an agent's section telegraf with a file of that text.
func withPlugins(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "telegraf: {config: " + file + "}\n"
}

// TestTelegrafPluginsAreTargets: each plugin is a target of its own, and the one that fails
// alone is down.
func TestTelegrafPluginsAreTargets(t *testing.T) {
	r := start(t, agentConfig(t, "127.0.0.1:1", withPlugins(t, "[[inputs.mem]]\n[[inputs.exec]]\ncommands = ['/no/such']\n")), Deps{})
	states := map[string]string{}
	eventually(t, "scrape of both plugins", func() bool {
		for _, s := range r.targets() {
			if s.Job == TelegrafJob {
				states[s.Labels["instance"]] = s.State
			}
		}
		return states["mem"] == "ok" && states["exec"] == "failed"
	})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

func TestTelegrafNeedsARestart(t *testing.T) {
	now, next := parse(t, brokers), parse(t, brokers+withPlugins(t, "[[inputs.mem]]\n"))
	if got := strings.Join(fixed(now, next), ","); got != "telegraf" {
		t.Fatalf("restart for %q", got)
	}
	if now.with(next).Telegraf.Enabled() {
		t.Fatal("the section changed without a restart")
	}
}

func TestTelegrafFaultsAreTheConfigurations(t *testing.T) {
	_, err := Parse("a.yaml", []byte(brokers+withPlugins(t, "[[inputs.mem]]\n[[inputs.redis]]\n")), environ(), telegraf.Runner{})
	if err == nil || !strings.Contains(err.Error(), "telegraf.config: telegraf.conf:2: inputs.redis is not a part of this agent") {
		t.Fatal(err)
	}
}

func TestOnceTelegraf(t *testing.T) {
	cfg := agentConfig(t, "127.0.0.1:1", withPlugins(t, "[[inputs.mem]]\n[[inputs.exec]]\ncommands = ['/no/such']\n"))
	var out, log bytes.Buffer
	if err := Once(cfg, TelegrafJob, slog.New(slog.NewTextHandler(&log, nil)), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\nmem_used_percent{host=") || !strings.Contains(log.String(), "plugin=exec line=2") {
		t.Fatalf("%s\n%s", out.String(), log.String())
	}
	if err := Once(parse(t, brokers), TelegrafJob, slog.Default(), io.Discard); err == nil || !strings.Contains(err.Error(), "telegraf.config: missing") {
		t.Fatal(err)
	}
}
