package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// screen shows a block of lines that is redrawn in place, with lines that stay above it.
// Where the output is no terminal the block is printed when it is told to, and nothing is
// redrawn.
type screen struct {
	tty bool

	mu    sync.Mutex // guards what follows
	out   io.Writer
	block []string // what stands at the bottom now
}

func newScreen(out io.Writer) *screen {
	f, ok := out.(*os.File)
	return &screen{out: out, tty: ok && term.IsTerminal(int(f.Fd()))}
}

// Print adds a line that stays.
func (s *screen) Print(format string, args ...any) {
	fmt.Fprintf(s, format+"\n", args...)
}

// Write adds text that stays, above the block. It makes the screen a sink of log lines.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	block := s.block
	s.erase()
	n, err := s.out.Write(p)
	if s.tty && bytes.HasSuffix(p, []byte("\n")) {
		s.draw(block)
	}
	return n, err
}

// Show replaces the block.
func (s *screen) Show(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tty {
		fmt.Fprintln(s.out, strings.Join(lines, "  "))
		return
	}
	s.erase()
	s.draw(lines)
}

// Close takes the block away.
func (s *screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *screen) erase() {
	if s.tty && len(s.block) > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", len(s.block))
	}
	s.block = nil
}

func (s *screen) draw(lines []string) {
	width := 120
	if f, ok := s.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	for _, l := range lines {
		// A line that wraps would be two, and the next redraw would leave one behind.
		if r := []rune(l); len(r) >= width {
			l = string(r[:width-1])
		}
		fmt.Fprintln(s.out, l)
	}
	s.block = lines
}
