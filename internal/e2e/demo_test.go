package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemo does what the README tells a user to do: it starts the demo, runs the command
// that it prints, and compares the answer with /proc; then again on the same data.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	args := []string{"demo", "--dir", filepath.Join(dir, "data"), "--listen", freeAddr(t), "--clickhouse", freeAddr(t)}

	first := start(t, dir, "first", nil, "sextant", args...)
	answer := runPrintedCurl(t, first)
	compareWithProc(t, answer)
	if out := runPrinted(t, first, `curl -s \S+ -d "SELECT`); !strings.Contains(out, "cpu_utilization_1m:") {
		t.Errorf("the printed SQL says %q", out)
	}
	compareWithPrometheus(t, runPrinted(t, first, `curl -s \S+/api/v1/query`), args[4])
	began := time.Now()
	interrupt(t, first)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to stop", took)
	}
	stored := ledgerLine(t, first)

	second := start(t, dir, "second", nil, "sextant", append(args, "--duration", "30s")...)
	compareWithProc(t, runPrintedCurl(t, second))
	if err := <-second.done; err != nil {
		t.Errorf("after --duration: %v", err)
	}
	second.done <- nil // its end was seen here
	if now := ledgerLine(t, second); now <= stored {
		t.Errorf("%d records are stored after the second run, %d after the first", now, stored)
	}
}

// TestDemoWithoutFeature: a demo that served nothing did not work, and its exit status
// says so.
func TestDemoWithoutFeature(t *testing.T) {
	dir := t.TempDir()
	out, status := run(t, nil, "sextant", "demo", "--dir", dir, "--listen", freeAddr(t), "--clickhouse", freeAddr(t), "--duration", "2s")
	if status != 1 || !strings.Contains(out, "no feature was served") {
		t.Errorf("status %d: %s", status, out)
	}
}

func interrupt(t *testing.T, p *process) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := <-p.done
	p.done <- err
	if err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

// runPrinted waits until the program says that every feature is served and prints a
// command line that begins like this, and runs it.
func runPrinted(t *testing.T, p *process, begin string) string {
	t.Helper()
	pattern := regexp.MustCompile(`(?ms)^every feature is served.*?^ *(` + begin + `[^\n]*)$`)
	var line string
	eventually(t, 60*time.Second, "a line "+begin, func() error {
		text, err := os.ReadFile(p.log)
		if m := pattern.FindSubmatch(text); m != nil {
			line = string(m[1])
			return nil
		}
		return fmt.Errorf("not printed yet: %w", err)
	})
	out, err := exec.Command("sh", "-c", line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out)
}

// runPrintedCurl returns the features that the printed command answers with.
func runPrintedCurl(t *testing.T, p *process) map[string]json.RawMessage {
	t.Helper()
	text := runPrinted(t, p, `curl -s \S+/get-online-features`)
	var a struct {
		Metadata struct {
			Names []string `json:"feature_names"`
		}
		Results []struct {
			Values   []json.RawMessage
			Statuses []string
		}
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := map[string]json.RawMessage{}
	for i, name := range a.Metadata.Names {
		if a.Results[i].Statuses[0] != "PRESENT" {
			t.Errorf("%s is %s", name, a.Results[i].Statuses[0])
			continue
		}
		out[name] = a.Results[i].Values[0]
	}
	return out
}

// compareWithProc wants the features to agree with what the kernel says now.
func compareWithProc(t *testing.T, answer map[string]json.RawMessage) {
	t.Helper()
	memory := meminfo(t)
	total, available := memory["MemTotal"], memory["MemAvailable"]
	load := loadAverage(t) / float64(runtime.NumCPU())
	for _, c := range []struct {
		feature   string
		want, off float64
	}{
		{"cpu_count", float64(runtime.NumCPU()), 0},
		{"memory_bytes", total, 0},
		{"memory_used_ratio", 1 - available/total, 0.05},
		{"load_per_core_1m", load, max(1, load)}, // tests beside this one move it fast
		{"cpu_utilization_1m", 0.5, 0.5},
	} {
		var got float64
		if err := json.Unmarshal(find(answer, c.feature), &got); err != nil {
			t.Errorf("%s: %v in %s", c.feature, err, answer)
			continue
		}
		if got < c.want-c.off || got > c.want+c.off {
			t.Errorf("%s is %v, /proc says %v (within %v)", c.feature, got, c.want, c.off)
		}
	}
}

// find looks for a feature with or without the name of its view.
func find(answer map[string]json.RawMessage, feature string) json.RawMessage {
	for name, v := range answer {
		if name == feature || strings.HasSuffix(name, ":"+feature) {
			return v
		}
	}
	return nil
}

// meminfo is /proc/meminfo in bytes.
func meminfo(t *testing.T) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		kib, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(f[0], ":")] = kib * 1024
	}
	return out
}

func loadAverage(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	v, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ledgerLine is the number of stored records that a demo reports at its end, where
// nothing may be lost or doubled.
func ledgerLine(t *testing.T, p *process) int {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`ledger: (\d+) records and \d+ samples stored, lost 0 and 0, duplicate 0`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no balanced ledger at the end of\n%s", text)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
