package agent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMeasuresTheAgent builds the agent from source and measures it for a few seconds: all
// that it scraped has to arrive.
func TestMeasuresTheAgent(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "sextant-agent")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "sextant/cmd/sextant-agent").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	o := Options{Targets: 2, Interval: time.Second, Warm: 2, Intervals: 3, Gzip: true, Only: []string{"sextant-agent"}, Agent: binary}
	var text strings.Builder
	r, err := Run(t.Context(), o, &text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if len(r.Rows) != 2 || !strings.Contains(text.String(), "CPU s/M samples") {
		t.Fatalf("%d rows:\n%s", len(r.Rows), text.String())
	}
	for _, row := range r.Rows {
		if row.Scraped < 6*pageSeries*9/10 || row.CPUSeconds <= 0 || row.RSS < 1<<20 || row.Peak < row.RSS || row.Anon >= row.RSS {
			t.Errorf("row %+v", row)
		}
	}
	// The window may cut one scrape of each target off at either end.
	if whole := r.Rows[1]; whole.Delivered < whole.Scraped-2*pageSeries {
		t.Errorf("%d samples delivered of %d", whole.Delivered, whole.Scraped)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, o := range []Options{{Targets: -1}, {Interval: 1}, {Warm: -1}, {Intervals: -1}} {
		if _, err := Run(t.Context(), o, io.Discard); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestProcessThatEndsIsAnErrorWithItsLastWords(t *testing.T) {
	p, err := startProcess("/bin/sh", []string{"-c", "echo no such option >&2; exit 3"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	var exit *exec.ExitError
	if err := p.wait(t.Context(), time.Minute); !errors.As(err, &exit) || !strings.Contains(err.Error(), "no such option") {
		t.Fatalf("wait = %v", err)
	}
}

func TestReadsItsOwnProcess(t *testing.T) {
	p := &process{cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}}
	if s := p.status(); s["VmRSS"] <= s["RssAnon"] || s["RssAnon"] < 1<<20 {
		t.Fatalf("status %v", s)
	}
	before := p.cpu()
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		newPage(1)
	}
	if used := p.cpu() - before; used <= 0 || used > 5 {
		t.Fatalf("used %v s of CPU", used)
	}
}
