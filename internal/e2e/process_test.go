// Package e2e runs the programs as users run them, as processes of their own, kills them
// in mid-stream, and asks the store what became of what was measured.
package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sextant/internal/testkit/kafkatest"
)

var bin string // folder of the programs under test

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sextant-e2e-")
	if err != nil {
		panic(err)
	}
	bin = dir
	build := exec.Command("go", "build", "-o", dir+"/", "sextant/cmd/sextant", "sextant/cmd/sextant-agent")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	status := 1
	if err := build.Run(); err == nil {
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// process is one program. It may be killed and started again with the same arguments.
type process struct {
	t    *testing.T
	name string
	args []string
	env  []string
	log  string
	cmd  *exec.Cmd
	done chan error
}

// start runs a program of the build and stops it at the end of the test. A failed test
// shows the end of its log.
func start(t *testing.T, dir, name string, env []string, program string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: name, env: env, args: append([]string{filepath.Join(bin, program)}, args...), log: filepath.Join(dir, name+".log")}
	p.Start()
	t.Cleanup(func() {
		p.Kill9()
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			t.Logf("end of the log of %s:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
	return p
}

// Start runs the program; its output is added to its log.
func (p *process) Start() {
	p.t.Helper()
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	defer out.Close()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// A test that dies must not leave programs behind.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatalf("start %s: %v", p.name, err)
	}
	p.done = make(chan error, 1)
	go func(cmd *exec.Cmd, done chan error) { done <- cmd.Wait() }(p.cmd, p.done)
}

// Kill9 ends the program as a crash would.
func (p *process) Kill9() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.done
	p.cmd = nil
}

// Stop asks the program to end and fails the test unless it does so in time, well.
func (p *process) Stop(within time.Duration) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	select {
	case err := <-p.done:
		p.cmd = nil
		if err != nil {
			p.t.Errorf("%s ended with %v", p.name, err)
		}
	case <-time.After(within):
		p.t.Errorf("%s still runs %s after SIGTERM", p.name, within)
	}
}

// eventually polls until check is nil or time is over.
func eventually(t *testing.T, within time.Duration, what string, check func() error) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("%s: not within %s: %v", what, within, err)
		case <-poll.C:
		}
	}
}

// freeAddr is a loopback address that nobody listens on now.
func freeAddr(t *testing.T) string {
	t.Helper()
	ports, err := kafkatest.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}

// get returns the body of a 200 answer.
func get(url string) (string, error) { return answer(http.Get(url)) }

func post(url, body string) (string, error) {
	return answer(http.Post(url, "application/json", strings.NewReader(body)))
}

func answer(resp *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(text))
	}
	return string(bytes.TrimSpace(text)), nil
}

// run runs a program to its end and returns its output and exit status.
func run(t *testing.T, env []string, program string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, program), args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	return string(out), 0
}
