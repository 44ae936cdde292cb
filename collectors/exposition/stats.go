package exposition

import (
	"errors"
	"fmt"
	"strings"
)

// Stats counts what one page held.
type Stats struct {
	Lines     int
	Samples   int     // good sample lines; a series given twice counts twice
	BadLines  int     // lines that were given up
	FirstBad  BadLine // the first of them
	Truncated bool    // the page ended in mid-line, or an OpenMetrics page without # EOF
}

// Partial says that something of the page is missing.
func (s Stats) Partial() bool { return s.BadLines > 0 || s.Truncated }

// BadLine is a line that could not be used.
type BadLine struct {
	Number int // from 1
	Reason error
	Text   string // shortened, valid UTF-8
}

func (b BadLine) String() string {
	return fmt.Sprintf("line %d: %v: %q", b.Number, b.Reason, b.Text)
}

// The faults of a line that need no detail.
var (
	errNoName   = errors.New("no metric name")
	errNoValue  = errors.New("no value")
	errExtra    = errors.New("text behind the timestamp")
	errAfterEOF = errors.New("text behind # EOF")
)

func (s *Scanner) bad(line []byte, reason error) {
	if s.stats.BadLines++; s.stats.BadLines == 1 {
		s.stats.FirstBad = BadLine{Number: s.stats.Lines, Reason: reason, Text: clip(line)}
	}
}

// clip shortens text from outside for a message.
func clip(text []byte) string {
	const most = 120
	if len(text) <= most {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:most]), "\uFFFD") + "…"
}
