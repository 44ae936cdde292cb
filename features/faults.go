package features

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a definition, and where it stands.
type Fault struct {
	File string
	Line int
	Text string
}

// String is "file:line: text", the form that editors jump to.
func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// Faults is the error of Load: all that is wrong, in the order of files and lines.
type Faults []Fault

// Error joins the faults, one a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// add notes one fault; a line below one means the first.
func (fs *Faults) add(file string, line int, format string, args ...any) {
	*fs = append(*fs, Fault{File: file, Line: max(line, 1), Text: fmt.Sprintf(format, args...)})
}

// err is the sorted list, or nil when nothing is wrong.
func (fs Faults) err() error {
	if len(fs) == 0 {
		return nil
	}
	slices.SortStableFunc(fs, func(a, b Fault) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return fs
}
