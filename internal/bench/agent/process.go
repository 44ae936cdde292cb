package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a contender's program, watched from /proc.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan error
	rss  []int64 // bytes, one reading a second
	anon []int64
}

func startProcess(binary string, args []string, dir string) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), log: filepath.Join(dir, "log"), done: make(chan error, 1)}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p, nil
}

// stop ends the process, at first politely.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	p.done <- <-p.done
}

// wait lets d pass, reads the memory each second, and fails when the process ends.
func (p *process) wait(ctx context.Context, d time.Duration) error {
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-p.done:
			p.done <- err
			return fmt.Errorf("it ended: %w: %s", errors.Join(errors.New("exit"), err), p.tail())
		case <-tick.C:
			status := p.status()
			p.rss, p.anon = append(p.rss, status["VmRSS"]), append(p.anon, status["RssAnon"])
		case <-end.C:
			return nil
		}
	}
}

// cpu is what the process used so far in seconds, user and system. /proc counts in steps
// of 10 ms, which is more than a quiet agent uses in a scrape; the process's own clock
// counts nanoseconds.
func (p *process) cpu() float64 {
	var t unix.Timespec
	clock := int32(^p.cmd.Process.Pid)<<3 | 2 // as clock_getcpuclockid(3) makes it
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano()).Seconds()
}

// status is /proc/PID/status, in bytes.
func (p *process) status() map[string]int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return nil
	}
	out := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		key, rest, _ := strings.Cut(line, ":")
		if f := strings.Fields(rest); len(f) == 2 && f[1] == "kB" {
			n, _ := strconv.ParseInt(f[0], 10, 64)
			out[key] = n << 10
		}
	}
	return out
}

// memory is the median of the last n readings, and the peak since the start.
func (p *process) memory(n int) (rss, anon, peak int64) {
	return median(last(p.rss, n)), median(last(p.anon, n)), p.status()["VmHWM"]
}

func last(v []int64, n int) []int64 { return v[max(0, len(v)-n):] }

func median(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// tail is the end of what the process printed.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-1000):])
}
