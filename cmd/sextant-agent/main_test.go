package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sextant/collectors/plugins"
	"sextant/internal/exit"
)

// TestBecomesTheProgramWithPlugins builds both programs of the agent: the small one has to
// do what the configuration asks for, and to say what is missing where it cannot.
func TestBecomesTheProgramWithPlugins(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/", "sextant/cmd/sextant-agent", "sextant/cmd/"+plugins.Program).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	cfg := write("agent.yaml", "telegraf: {config: "+write("telegraf.conf", "[[inputs.mem]]\n")+"}\n")
	once := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "sextant-agent"), "once", "--collector", "telegraf", "--config", cfg).CombinedOutput()
		return string(out), err
	}
	if out, err := once(); err != nil || !strings.Contains(out, "\nmem_used_percent{host=") {
		t.Errorf("%v: %s", err, out)
	}
	other := filepath.Join(dir, plugins.Program)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	out, err := once()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != exit.StatusConfig || !strings.Contains(out, "telegraf.config: ") || !strings.Contains(out, other+": no such file") {
		t.Errorf("%v: %s", err, out)
	}
}
