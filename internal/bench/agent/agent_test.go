package agent

import (
	"context"
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
	o := Options{Workloads: []Workload{{Name: "one node", Nodes: 1, Together: true}}, Interval: time.Second, Warm: 2, Intervals: 2, Gzip: true,
		Only: []string{"sextant-agent"}, Agent: binary}
	var text strings.Builder
	r, err := Run(t.Context(), o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Print(&text); err != nil || len(r.Tables) != 1 || len(r.Tables[0].Rows) != 3 || !strings.Contains(text.String(), "CPU s/M samples") {
		t.Fatalf("%v\n%s", err, text.String())
	}
	for _, row := range r.Tables[0].Rows {
		if row.Scraped < 1000 || row.CPUSeconds <= 0 || row.RSS < 1<<20 || row.Peak < row.RSS || row.Anon >= row.RSS || row.Binary < 1<<20 {
			t.Errorf("row %+v", row)
		}
	}
	if whole := r.Tables[0].Rows[1]; !whole.Verdict.Same || whole.Bytes == 0 || whole.Delivered == 0 {
		t.Errorf("to Kafka: %+v\n%s", whole, text.String())
	}
}

// TestPeerThatCannotBeBuiltCostsNoOtherRow asks for a version that does not exist.
func TestPeerWithoutAProgramIsNamed(t *testing.T) {
	missing := errors.New("go build app: no such module")
	b := &bench{progress: io.Discard}
	peer := contender{name: "vmagent, remote write", peer: true}
	if err := b.miss(t.Context(), peer, missing); err != nil || len(b.failed) != 1 {
		t.Fatalf("%v, failed %v", err, b.failed)
	}
	var text strings.Builder
	if err := (Report{Failed: b.failed}).Print(&text); err != nil || !strings.Contains(text.String(), "no row of vmagent, remote write: go build app: no such module") {
		t.Errorf("%v: %s", err, text.String())
	}
	if err := b.miss(t.Context(), contender{name: "sextant-agent"}, missing); !errors.Is(err, missing) {
		t.Errorf("our own program may be missing: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.miss(ended, peer, ended.Err()); err == nil {
		t.Error("an interrupted run goes on")
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, o := range []Options{{Workloads: []Workload{{Nodes: 0}}}, {Interval: 1}, {Warm: -1}, {Intervals: -1}, {Rounds: -1}} {
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
		newNodePage(1)
	}
	if used := p.cpu() - before; used <= 0 || used > 5 {
		t.Fatalf("used %v s of CPU", used)
	}
}
