// Package child runs parts of the line as processes of their own, so that the CPU time and
// memory of each can be told from the others'.
package child

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is one part.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan error
}

// Start runs this very program with other arguments, logs to dir/name.log, and waits until
// it prints the line ready; it does not wait when ready is empty.
func Start(ctx context.Context, dir, name, ready string, env []string, args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return StartProgram(ctx, dir, name, ready, env, append([]string{self}, args...))
}

// StartProgram is Start of another program, by its path and arguments.
func StartProgram(ctx context.Context, dir, name, ready string, env, command []string) (*Process, error) {
	c := &Process{name: name, cmd: exec.Command(command[0], command[1:]...), log: filepath.Join(dir, name+".log"), done: make(chan error, 1)}
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
		return nil, fmt.Errorf("%s ended before it was ready: %w: %s", name, err, c.Tail())
	case <-ctx.Done():
		c.Stop()
		return nil, ctx.Err()
	}
}

func (c *Process) await(out io.Reader, ready string) bool {
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

// Stop ends the process, at first politely.
func (c *Process) Stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	timer := time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	c.done <- <-c.done
}

// CPU is what the process used so far, user and system, in steps of 10 ms.
func (c *Process) CPU() time.Duration { return cpuOf(c.cmd.Process.Pid, 11, 12) }

// cpuOf adds up fields of the stat of a process, counted behind its name.
func cpuOf(pid int, wanted ...int) (sum time.Duration) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	for _, f := range wanted {
		ticks, _ := strconv.ParseInt(string(fields[f]), 10, 64)
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}

// CPUOfAll is CPU with that of the processes that it started, those that have ended among
// them.
func (c *Process) CPUOfAll() time.Duration {
	total, pids := time.Duration(0), []int{c.cmd.Process.Pid}
	for i := 0; i < len(pids); i++ {
		total += cpuOf(pids[i], 11, 12, 13, 14)
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[i])) // the pattern is right
		for _, file := range threads {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // it has ended
			}
			for _, field := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(field); err == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return total
}

// Peak is the most memory that was resident, in bytes.
func (c *Process) Peak() int64 {
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

// PeakAtEnd is Peak of a process that has ended: see Wait.
func (c *Process) PeakAtEnd() int64 {
	if use, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return use.Maxrss << 10
	}
	return 0
}

// CPUAtEnd is CPU of a process that has ended: see Wait.
func (c *Process) CPUAtEnd() time.Duration {
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

// Tail is the end of what the process logged.
func (c *Process) Tail() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

// Failed is an error once the process has ended.
func (c *Process) Failed() error {
	select {
	case err := <-c.done:
		c.done <- err
		return fmt.Errorf("%s ended: %w: %s", c.name, err, c.Tail())
	default:
		return nil
	}
}

// Wait waits for the end and returns the exit with the end of the log.
func (c *Process) Wait() error {
	err := <-c.done
	c.done <- err
	if err != nil {
		return fmt.Errorf("%s: %w: %s", c.name, err, c.Tail())
	}
	return nil
}

// FreeAddr is a loopback address that nobody listens on now.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
