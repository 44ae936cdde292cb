package wire

import "fmt"

// String returns the text that stands in the sx-state header.
func (s State) String() string {
	switch s {
	case StateOK:
		return "ok"
	case StatePartial:
		return "partial"
	case StateFailed:
		return "failed"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// ParseState reads the text of a sx-state header.
func ParseState(text []byte) (State, error) {
	for s := StateOK; s <= StateFailed; s++ {
		if s.String() == string(text) {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown state %q, want ok, partial or failed", clip(string(text)))
}
