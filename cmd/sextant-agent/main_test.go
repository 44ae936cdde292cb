package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sextant/collectors/plugins"
	"sextant/internal/exit"
)

// TestBecomesTheProgramWithPlugins builds both programs of the agent: the small one has to
// do what the configuration asks for, and to say what is missing where it cannot.
func TestBecomesTheProgramWithPlugins(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "CGO_ENABLED=0", "sextant/cmd/sextant-agent")
	build(t, dir, "GOWORK=off", "sextant/cmd/"+plugins.Program)
	small, other := filepath.Join(dir, "sextant-agent"), filepath.Join(dir, plugins.Program)
	without(t, small, "github.com/NVIDIA/go-dcgm", "github.com/NVIDIA/go-nvml", "github.com/influxdata/telegraf")
	cfg := filepath.Join(dir, "agent.yaml")
	write(t, cfg, "telegraf: {config: telegraf.conf}\ndcgm: {enabled: true}\n")
	write(t, filepath.Join(dir, "telegraf.conf"), "[[inputs.mem]]\n")
	once := func(collector string) (string, error) {
		out, err := exec.CommandContext(t.Context(), small, "once", "--collector", collector, "--config", cfg).CombinedOutput()
		return string(out), err
	}
	for collector, want := range map[string]string{"telegraf": "\nmem_used_percent{host=", "dcgm": "\ncollector_up{collector=\"dcgm\"} 0\n", "nvml": "\ncollector_up{collector=\"nvml\"} 0\n"} {
		if out, err := once(collector); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v: %s", collector, err, out)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	out, err := once("telegraf")
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != exit.StatusConfig || !strings.Contains(out, "telegraf.config: what runs it is in "+plugins.Program) ||
		!strings.Contains(out, "\ndcgm: what reads it is in ") || !strings.Contains(out, other+": no such file") {
		t.Errorf("%v: %s", err, out)
	}
	write(t, cfg, "node: n1\n")
	if out, err = once("dcgm"); err == nil || !strings.Contains(out, other+": no such file") {
		t.Errorf("a collector that is off: %v: %s", err, out)
	}
}

func build(t *testing.T, dir, env, pkg string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/", pkg)
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v: %s", pkg, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// without fails where the program links a package of one of the modules.
func without(t *testing.T, program string, modules ...string) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil || len(info.Deps) < 10 {
		t.Fatalf("%v: %v", info, err)
	}
	for _, d := range info.Deps {
		if slices.Contains(modules, d.Path) {
			t.Errorf("%s links %s", filepath.Base(program), d.Path)
		}
	}
}
