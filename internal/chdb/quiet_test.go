package chdb

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// TestQuiet runs sessions as a server does, many at once and each call from another
// thread, in a process of its own on a terminal: the engine logs to a terminal only.
// Nothing may come out. The engine keeps its state of a thread within a call, so no
// session is bound to one, and threads may end.
func TestQuiet(t *testing.T) {
	terminal, child := openTerminal(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CHDB_TEST_CHURN="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = child, child, child
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child.Close()
	out, _ := io.ReadAll(terminal) // ends in EIO when the process has ended
	if err := cmd.Wait(); err != nil || len(out) > 0 {
		t.Errorf("%v, and on the terminal:\n%.3000s", err, out)
	}
}

// openTerminal gives both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (terminal, child *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	var locked, n int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &n} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), request, uintptr(unsafe.Pointer(value))); e != 0 {
			t.Fatal(e)
		}
	}
	if child, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return terminal, child
}

// churn is the other process of TestQuiet.
func churn(dir string) error {
	e, err := Open(dir)
	if err != nil {
		return err
	}
	c, err := e.Connect()
	if err != nil {
		return err
	}
	if err := c.Exec(context.Background(), "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a"); err != nil {
		return err
	}
	c.Close()
	errs := make(chan error, 8)
	var wg sync.WaitGroup
	for w := range cap(errs) {
		wg.Go(func() {
			for i := range 12 {
				if err := visit(e, w*100+i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return e.Close()
	}
}

// visit is one session of all kinds of statements. Each call has a goroutine of its own,
// and for every other session a thread that ends with it.
func visit(e *Engine, n int) (err error) {
	ctx := context.Background()
	var c *Conn
	var s *Stream
	var in *Insert
	for _, step := range []func(){
		func() { c, err = e.Connect(Setting{"max_threads", "2"}) },
		func() { err = c.Exec(ctx, "INSERT INTO t SELECT {n:UInt64}", Param{"n", fmt.Sprint(n)}) },
		func() {
			if failed := c.Exec(ctx, "SELECT throwIf(1)"); code(failed) != 395 {
				err = fmt.Errorf("throwIf: %w", failed)
			}
		},
		func() { s, err = c.Stream(ctx, "SELECT number FROM numbers(200000)", "TabSeparated") },
		func() { _, err = s.Next(ctx) },
		func() { s.Close() }, // in the middle
		func() { in, err = c.Insert(ctx, "INSERT INTO t (a)", "TabSeparated") },
		func() { in.Append([]byte(strings.Repeat("1\n", 1000))) },
		func() { _, err = in.Done() },
		func() { in.Close() },
		func() { in, err = c.Insert(ctx, "INSERT INTO t (a)", "TabSeparated") },
		func() { in.Append([]byte("1\n")) },
		func() { in.Close() }, // cancelled
		func() { c.Close() },
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if n%2 == 0 {
				runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			}
			step()
		}()
		if <-done; err != nil {
			return err
		}
		if n%10 == 0 {
			runtime.GC()
		}
	}
	return nil
}
