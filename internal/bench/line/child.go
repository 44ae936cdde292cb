package line

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is a part of the line as a process of its own, so that its CPU time and memory
// can be told from the others'.
type child struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan error
}

// startChild runs this very program with other arguments and waits until it prints the
// line ready (or does not wait, when ready is empty).
func startChild(ctx context.Context, dir, name, ready string, env []string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{name: name, cmd: exec.Command(self, args...), log: filepath.Join(dir, name+".log"), done: make(chan error, 1)}
	logFile, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = logFile
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	seen := make(chan struct{})
	go func() {
		if c.await(out, ready) {
			close(seen)
		}
		_, _ = io.Copy(io.Discard, out)
		c.done <- c.cmd.Wait()
	}()
	select {
	case <-seen:
		return c, nil
	case err := <-c.done:
		c.done <- err
		return nil, fmt.Errorf("%s ended before it was ready: %w: %s", name, err, c.tail())
	case <-ctx.Done():
		c.stop()
		return nil, ctx.Err()
	}
}

func (c *child) await(out io.Reader, ready string) bool {
	if ready == "" {
		return true
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == ready {
			return true
		}
	}
	return false
}

// stop ends the child, at first politely.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	timer := time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	c.done <- <-c.done
}

// cpu is what the child used so far, user and system, in steps of 10 ms.
func (c *child) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
	system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// peak is the most memory that was resident, in bytes.
func (c *child) peak() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(b)) {
		if f := strings.Fields(l); len(f) == 3 && f[0] == "VmHWM:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

func (c *child) tail() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}
