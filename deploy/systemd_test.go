package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"
)

// TestUnitsAreHardened reads each unit as systemd does and wants what keeps a service that
// talks to the network from harming its host.
func TestUnitsAreHardened(t *testing.T) {
	for _, file := range units(t) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		options, err := unit.DeserializeOptions(f)
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		have := map[string]string{}
		for _, o := range options {
			if _, twice := have[o.Section+"."+o.Name]; twice {
				t.Errorf("%s: %s stands twice", file, o.Name)
			}
			have[o.Section+"."+o.Name] = o.Value
		}
		for key, want := range map[string]string{
			"Service.DynamicUser": "yes", "Service.NoNewPrivileges": "yes", "Service.ProtectSystem": "strict",
			"Service.CapabilityBoundingSet": "", "Service.Restart": "always", "Service.RestartPreventExitStatus": "64 78",
			"Service.SystemCallFilter": "@system-service", "Install.WantedBy": "multi-user.target",
		} {
			if got, ok := have[key]; !ok || got != want {
				t.Errorf("%s: %s=%s, want %q", file, key, got, want)
			}
		}
		for _, key := range []string{"Service.MemoryMax", "Service.MemoryHigh", "Service.TasksMax", "Service.TimeoutStopSec"} {
			if have[key] == "" {
				t.Errorf("%s: no %s", file, key)
			}
		}
	}
}

// TestUnitsAreValid lets systemd judge them, with a program that exists in the place of
// ours, which are not installed here. It finds misspelt keys, which the reader above takes.
func TestUnitsAreValid(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Logf("systemd-analyze is not here: the keys' names are checked against a list instead")
		checkKeys(t)
		return
	}
	dir := t.TempDir()
	args := []string{"verify"}
	for _, file := range units(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(file))
		stand := strings.NewReplacer("/usr/local/bin/sextant-agent", "/bin/true", "/usr/local/bin/sextant", "/bin/true").Replace(string(text))
		if err := os.WriteFile(path, []byte(stand), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil || strings.Contains(string(out), dir) {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}

// checkKeys wants each key to stand in every unit or to be one that differs by design.
func checkKeys(t *testing.T) {
	own := []string{"ExecReload", "StateDirectory", "StateDirectoryMode", "PrivateUsers", "ProtectProc", "ProcSubset"}
	count, files := map[string]int{}, units(t)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		options, err := unit.DeserializeOptions(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range options {
			count[o.Name]++
		}
	}
	for name, n := range count {
		if n != len(files) && !slices.Contains(own, name) {
			t.Errorf("%s stands in %d of %d units: misspelt?", name, n, len(files))
		}
	}
}

func units(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("systemd/*.service")
	if err != nil || len(files) != 5 {
		t.Fatalf("units: %v %v", files, err)
	}
	return files
}
