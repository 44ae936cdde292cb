package fetch

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// report tells what is being done, if it takes longer than quiet: on a terminal
// by one line that is written over, elsewhere by a line now and then.
type report struct {
	w        io.Writer // nil: silent
	terminal bool

	mu    sync.Mutex
	what  string    // guarded by mu
	file  string    // guarded by mu: the file that grows, "" if none does
	begun time.Time // guarded by mu

	done chan struct{}
	gone chan struct{}
}

// How often it speaks.
const (
	quiet      = 2 * time.Second // before the first line
	onTerminal = 200 * time.Millisecond
	onLines    = 10 * time.Second
)

func newReport(w io.Writer) *report {
	r := &report{w: w, done: make(chan struct{}), gone: make(chan struct{}), begun: time.Now()}
	if f, ok := w.(*os.File); ok {
		r.terminal = term.IsTerminal(int(f.Fd()))
	}
	go r.run()
	return r
}

// step begins a new thing to tell about; its file's size is told as it grows.
func (r *report) step(verb, what, file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.what, r.file, r.begun = verb+" "+what, file, time.Now()
}

func (r *report) run() {
	defer close(r.gone)
	every := onLines
	if r.terminal {
		every = onTerminal
	}
	for wait := quiet; ; wait = every {
		select {
		case <-r.done:
			return
		case <-time.After(wait):
			r.line()
		}
	}
}

func (r *report) line() {
	if r.w == nil {
		return
	}
	r.mu.Lock()
	what, file, took := r.what, r.file, time.Since(r.begun)
	r.mu.Unlock()
	text := fmt.Sprintf("%s: %d s", what, int(took.Seconds()))
	if info, err := os.Stat(file); err == nil {
		text += fmt.Sprintf(", %d MB", info.Size()/1_000_000)
	}
	if r.terminal {
		fmt.Fprintf(r.w, "\r\033[K%s", text)
	} else {
		fmt.Fprintln(r.w, text)
	}
}

// stop ends the report and clears its line.
func (r *report) stop() {
	close(r.done)
	<-r.gone
	if r.terminal {
		fmt.Fprint(r.w, "\r\033[K")
	}
}
