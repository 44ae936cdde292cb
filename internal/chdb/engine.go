package chdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Engine is a running ClickHouse on one data directory.
type Engine struct {
	c    *symbols
	dir  string
	lock *os.File

	// keeper holds the engine up: it stops with its last connection. It also
	// runs KILL QUERY, one at a time.
	keeperMu sync.Mutex
	keeper   unsafe.Pointer

	mu    sync.Mutex
	open  int  // guarded by mu: connections that Connect gave out
	ended bool // guarded by mu
}

// running guards against a second engine, which the library cannot have.
var running sync.Mutex

// ErrBusy says that a data directory is in use, or that this process already runs an engine.
var ErrBusy = errors.New("in use")

// quietInserts silences one of the engine's loggers. The thread of the library that
// carries out an Insert holds a ThreadStatus, and the job it gets makes a second one
// inside. The inner one leaves "no current thread" behind, and the outer one then logs
// "<Fatal> current_thread contains invalid address" on the terminal at the end of every
// insert. Both end there and then, so nothing dangles; the report is the only harm. It is
// also the only thing of weight that this logger has to say.
const quietInserts = "--logger.levels.ThreadStatus=none"

// Open starts the engine on dir, which is created if need be and locked until
// Close. args are engine options, such as --config-file=PATH or --max_threads=2;
// a query-level setting among them holds for the engine's own connection only.
// A directory that another process holds is an error that wraps ErrBusy.
func Open(dir string, args ...string) (*Engine, error) {
	c, err := loaded()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if !running.TryLock() {
		return nil, fmt.Errorf("open %s: %w: this process already runs an engine, and libchdb allows one", dir, ErrBusy)
	}
	e := &Engine{c: c, dir: dir}
	if err := e.start(args); err != nil {
		e.unlock()
		running.Unlock()
		return nil, err
	}
	return e, nil
}

func (e *Engine) start(args []string) error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	// Our own lock, because the engine's answer to a held directory is a line on
	// stderr and a null pointer.
	path := filepath.Join(e.dir, "sextant.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	e.lock = f
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner := make([]byte, 64)
		n, _ := f.ReadAt(owner, 0)
		return fmt.Errorf("open %s: %w by process %s (%s is locked)", e.dir, ErrBusy, strings.TrimSpace(string(owner[:n])), path)
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "%d\n", os.Getpid()); err != nil {
		return err
	}
	if e.keeper, err = e.connect(append([]string{quietInserts}, args...)...); err != nil {
		return fmt.Errorf("open %s: %w; the engine's reason is on stderr", e.dir, err)
	}
	return nil
}

func (e *Engine) unlock() {
	if e.lock != nil {
		e.lock.Close() // releases the flock
	}
}

// connect opens a C connection; the arguments of the first one start the engine.
func (e *Engine) connect(args ...string) (unsafe.Pointer, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	argv := make([]unsafe.Pointer, 0, len(args)+2)
	for _, a := range append([]string{"clickhouse", "--path=" + e.dir}, args...) {
		b := append([]byte(a), 0)
		pin.Pin(&b[0])
		argv = append(argv, pointer(b))
	}
	conn := e.c.connect(int32(len(argv)), unsafe.Pointer(unsafe.SliceData(argv)))
	runtime.KeepAlive(argv)
	if conn == nil {
		return nil, errors.New("libchdb refused to connect")
	}
	return conn, nil
}

// Version is the version of the library, such as "26.7.3"; the SQL function
// version() gives the engine's.
func (e *Engine) Version() string { return e.c.version() }

// Setting is one query-level setting. The engine converts the text to the setting's type.
type Setting struct{ Name, Value string }

// Connect opens a session with these settings, applied in order. A name or value
// that the engine does not take is its own *Error.
func (e *Engine) Connect(settings ...Setting) (*Conn, error) {
	e.mu.Lock()
	if e.ended {
		e.mu.Unlock()
		return nil, fmt.Errorf("connect to %s: the engine is closed", e.dir)
	}
	e.open++
	e.mu.Unlock()
	p, err := e.connect()
	if err != nil {
		e.forget()
		return nil, fmt.Errorf("connect to %s: %w", e.dir, err)
	}
	c := &Conn{engine: e, c: e.c, p: p, tag: "sextant-" + rand.Text()}
	if err := c.set(settings); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (e *Engine) forget() {
	e.mu.Lock()
	e.open--
	e.mu.Unlock()
}

// kill ends the statement that runs under tag, if one does; it does not wait for the end.
func (e *Engine) kill(tag string) {
	e.keeperMu.Lock()
	defer e.keeperMu.Unlock()
	if e.keeper == nil {
		return
	}
	keeper := &Conn{engine: e, c: e.c, p: e.keeper}
	r, err := keeper.run("KILL QUERY WHERE endsWith(Settings['log_comment'], {tag:String}) ASYNC", "Null", []Param{{"tag", tag}})
	if err == nil {
		r.Close()
	}
}

// killUntil kills whatever runs under tag until stop is closed. Once is not
// enough: a statement that was just handed over is not in the process list yet.
func (e *Engine) killUntil(tag string, stop <-chan struct{}) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		e.kill(tag)
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
	}
}

// watch ends tag's statement when ctx is done. The caller calls the returned
// function after the C call came back; it waits for the watcher to be gone.
func (e *Engine) watch(ctx context.Context, tag string) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		defer close(gone)
		e.killUntil(tag, ended)
	})
	return func() {
		close(ended)
		if !unregister() {
			<-gone
		}
	}
}

// Close stops the engine and unlocks the directory. Every connection must be
// closed before, or it does nothing and returns an error.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.ended {
		e.mu.Unlock()
		return nil
	}
	if e.open > 0 {
		n := e.open
		e.mu.Unlock()
		return fmt.Errorf("close %s: %d connections are open", e.dir, n)
	}
	e.ended = true
	e.mu.Unlock()
	e.keeperMu.Lock()
	e.c.closeConn(e.keeper)
	e.keeper = nil
	e.keeperMu.Unlock()
	e.unlock()
	running.Unlock()
	return nil
}
