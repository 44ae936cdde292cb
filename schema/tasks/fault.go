package tasks

import (
	"fmt"
	"strings"
)

// Fault is what is wrong with one field of an event.
type Fault struct {
	Field   string `json:"field"` // path, such as slo.deadline; empty: the event as a whole
	Message string `json:"message"`
}

func (f Fault) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// Faults are all that is wrong with an event. They are permanent: the same bytes fail
// again.
type Faults []Fault

// maxFaults bounds the answer to an event that is wrong throughout.
const maxFaults = 32

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return "task event: " + strings.Join(lines, "; ")
}

func (fs *Faults) add(field, format string, args ...any) {
	if len(*fs) < maxFaults {
		*fs = append(*fs, Fault{field, fmt.Sprintf(format, args...)})
	}
}
