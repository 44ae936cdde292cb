package wire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// TestGoldenRequest pins the bytes of a request. They are stored in topics: whoever
// changes them breaks readers of data that is already there.
func TestGoldenRequest(t *testing.T) {
	series, values := smallPage(), []float64{0.31, 417605.1, 1}
	got := NewTemplate(series).Append(nil, []int64{now, now, now - 2000}, values)
	golden(t, "request.hex", got)

	var d Decoder
	if err := d.Scan(got); err != nil {
		t.Fatal(err)
	}
	if refused := requireEqual(t, &d, unmarshal(t, got)); refused != 0 {
		t.Fatalf("%d series refused", refused)
	}
	if d.Times[2] != now-2000 || d.Values[1] != 417605.1 {
		t.Fatalf("read %v at %v", d.Values, d.Times)
	}
}

// TestGoldenEnvelope pins the header keys and their text.
func TestGoldenEnvelope(t *testing.T) {
	var text bytes.Buffer
	for _, h := range testEnvelope().AppendHeaders(nil) {
		fmt.Fprintf(&text, "%s: %s\n", h.Key, h.Value)
	}
	name := filepath.Join("testdata", "envelope.txt")
	if *update {
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Fatalf("headers:\n%swant:\n%s", &text, want)
	}
}

// golden compares b with a file of hex digits, 32 bytes a line.
func golden(t *testing.T, file string, b []byte) {
	t.Helper()
	var text bytes.Buffer
	for rest := b; len(rest) > 0; {
		n := min(32, len(rest))
		fmt.Fprintln(&text, hex.EncodeToString(rest[:n]))
		rest = rest[n:]
	}
	name := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Fatalf("%s:\n%swant:\n%s", file, &text, want)
	}
}
