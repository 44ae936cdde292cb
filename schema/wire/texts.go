package wire

// Texts holds texts that were read, so that one that comes again costs no memory. What
// agents send is mostly the same few names, again for each node and record. It is not safe
// for concurrent use.
type Texts map[string]string

// What Texts may hold: 10,000 nodes with their agents, targets and devices.
const (
	mostTexts   = 150_000
	longestText = 128 // bytes; a longer one is seldom seen again
)

// Of returns b as a string.
func (t Texts) Of(b []byte) string {
	if s, ok := t[string(b)]; ok {
		return s
	}
	s := string(b)
	t.keep(s)
	return s
}

func (t Texts) keep(s string) {
	if t == nil || len(s) > longestText {
		return
	}
	if len(t) >= mostTexts {
		clear(t)
	}
	t[s] = s
}

// parse is parseText, which has looked at a text that is known.
func (t Texts) parse(value []byte, most int) (string, error) {
	if s, ok := t[string(value)]; ok && len(s) <= most {
		return s, nil
	}
	s, err := parseText(value, most)
	if err == nil {
		t.keep(s)
	}
	return s, err
}
