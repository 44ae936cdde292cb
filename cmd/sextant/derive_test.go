package main

import "testing"

// TestClosed reads commits as the views of SQL wait for them.
func TestClosed(t *testing.T) {
	for _, c := range []struct {
		name    string
		meta    string
		written int64
		enough  bool
	}{
		{"the tick is closed", "sx1 written=20 watermark=70000 start=0", 20, true},
		{"the tick is open", "sx1 written=20 watermark=69999 start=0", 20, false},
		{"an operator moved the offset", "", 10, false},
		{"of another program", "written up to here", 10, false},
	} {
		if written, enough := closed(70_000)(10, c.meta); written != c.written || enough != c.enough {
			t.Errorf("%s: written %d, enough %v; want %d, %v", c.name, written, enough, c.written, c.enough)
		}
	}
}
