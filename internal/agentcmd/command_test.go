package agentcmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sextant/collectors/telegraf"
)

func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := command(telegraf.Runner{}, &out, &out)
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

func file(t *testing.T, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCheckConfig(t *testing.T) {
	good := file(t, "kafka: {brokers: ['k:9092']}\nscrape_configs:\n- job_name: a\n- job_name: b\n")
	out, err := execute(t, "check", "--no-scrape", "--config", good, "--node", "n9")
	if err != nil || !strings.Contains(out, "ok: node n9, every 10s, to kafka [k:9092] topic telemetry.samples") {
		t.Fatalf("%v: %s", err, out)
	}
	bad := file(t, "kafk: {}\nscrape_configs:\n- job_nam: a\n")
	_, err = execute(t, "check", "--config", bad)
	if err == nil || !strings.Contains(err.Error(), bad+`:1: unknown key "kafk"`) || !strings.Contains(err.Error(), bad+`:3: unknown key "job_nam"`) {
		t.Fatalf("got %v", err)
	}
	if _, err = execute(t, "check", "--config", "/no/such/file"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Fatalf("got %v", err)
	}
}

func TestVariablesOfNobodyAndOfTheOtherProgram(t *testing.T) {
	good := file(t, "kafka: {brokers: ['127.0.0.1:1']}\nhost: {enabled: false}\nspool: {dir: '"+t.TempDir()+"'}\n")
	t.Setenv("SEXTANT_PIPELINE_LATENESS", "2s")
	var out bytes.Buffer
	c := command(telegraf.Runner{}, &out, &out)
	c.SetArgs([]string{"--listen", "127.0.0.1:0", "--config", good})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.ExecuteContext(ctx); err != nil || !strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), "SEXTANT_PIPELINE_LATENESS") {
		t.Errorf("%v: %s", err, out.String())
	}
	t.Setenv("SEXTANT_SPOL_DIR", "/x")
	if _, err := execute(t, "check", "--config", good); err == nil || !strings.Contains(err.Error(), "SEXTANT_SPOL_DIR: no key has this variable; the nearest is SEXTANT_SPOOL_DIR") {
		t.Errorf("got %v", err)
	}
}

func TestHelpTeaches(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"check", "--help"}, {"once", "--help"}, {"version", "--help"}, {"health", "--help"}} {
		out, err := execute(t, args...)
		if err != nil || !strings.Contains(out, "Examples:\n") {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

func TestOncePrintsOneCollection(t *testing.T) {
	cfg := file(t, "host: {collectors: [loadavg]}\n")
	out, err := execute(t, "once", "--collector", "node", "--config", cfg)
	if err != nil || !strings.Contains(out, "# TYPE node_load1 gauge\nnode_load1 ") {
		t.Fatalf("%v: %s", err, out)
	}
	out, err = execute(t, "once", "--collector", "dcgm", "--config", cfg)
	if err != nil || !strings.Contains(out, "collector_up{collector=\"dcgm\"} 0\n") || !strings.Contains(out, "level=WARN") {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestVersion(t *testing.T) {
	out, err := execute(t, "version")
	if err != nil || !strings.HasPrefix(out, "sextant-agent ") {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestWrongWords(t *testing.T) {
	for _, args := range [][]string{{"runn"}, {"--confg", "x"}, {"--log-level", "loud"}, {"--log-format", "xml"}, {"once"}, {"once", "--collector", "gpu"}} {
		if _, err := execute(t, args...); err == nil {
			t.Errorf("%v passed", args)
		}
	}
}

// TestRunUntilTold runs the command as a service would, without a broker, and stops it.
func TestRunUntilTold(t *testing.T) {
	var out bytes.Buffer
	c := command(telegraf.Runner{}, &out, &out)
	c.SetArgs([]string{"run", "--listen", "127.0.0.1:0", "--node", "n1", "--log-format", "json", "--config",
		file(t, "kafka: {brokers: ['127.0.0.1:1']}\nspool: {dir: '"+t.TempDir()+"'}\nhost: {enabled: false}\n")})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.ExecuteContext(ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"msg":"agent runs","node":"n1"`) || !strings.Contains(out.String(), `"msg":"agent stops"`) {
		t.Fatal(out.String())
	}
}
