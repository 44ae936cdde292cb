package events

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestThing tells what a thing says of its scrapes, ten seconds apart. A scrape is the
// codes that stand, "-" for an exporter that says none, and counts as code=n, "code=gone" where
// the series ended, "code:n" for a total since the exporter started.
func TestThing(t *testing.T) {
	for _, c := range []struct {
		name    string
		scrapes []string
		want    string
	}{
		{"the same twice", []string{"0", "31 31=1", "31 31=1", "31 31=2"}, "1:31 3:31"},
		{"a first scrape is a state", []string{"31 31=4", "31 31=4"}, ""},
		{"the gauge alone", []string{"0", "31", "31", "43", "31"}, "1:31? 3:43? 4:31?"},
		{"the exporter starts again", []string{"0", "31 31=1", "0 31=gone", "0"}, "1:31"},
		{"a falling window", []string{"0", "31 31=3", "31 31=2", "31 31=1", "31 31=gone"}, "1:31x3"},
		{"again after the window is empty", []string{"0", "31 31=1", "31 31=gone", "31 31=1"}, "1:31 3:31"},
		{"two codes in one scrape", []string{"0", "43 31=1 43=2"}, "1:31 1:43x2"},
		{"the code comes before its count", []string{"0", "31 79=0", "31 31=1", "31 31=2"}, "1:31? 3:31"},
		{"the count comes before its code", []string{"0", "0 31=1", "31 31=1", "43 31=1"}, "1:31 3:43?"},
		{"a total falls when the exporter starts again", []string{"0 31:5", "0 31:7", "0 31:1"}, "1:31x2 2:31"},
		{"a window and a total of one code", []string{"0", "31 31=1 31:1", "31 31=2 31:2"}, "1:31 2:31"},
		{"the target does not answer", []string{"31 31=2", "- 31=gone", "31 31=2"}, ""},
		{"a count without a gauge", []string{"- =0", "- 31=1", "- 31=1"}, "1:31"},
		{"a code that was not told for a while", []string{"31", "-", "31"}, ""},
		{"a pause longer than the memory", []string{"0", "pause", "31 31=3", "31 31=4"}, "15:31"},
		{"several codes stand, and change places", []string{"5,0", "7,5", "5,7"}, "1:7?"},
		{"a total that is no number of events", []string{"0 31:1", "0 31:+Inf", "0 31:+Inf", "0 31:2"}, "3:31"},
		{"a code above 32 bits", []string{"0", "2164260864"}, "1:2164260864?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tellAll(t, &Thing{}, c.scrapes, 0); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestReplayTellsTheSame: a thing that begins anywhere says of what comes Memory later
// what the one from the start says.
func TestReplayTellsTheSame(t *testing.T) {
	var scrapes []string
	for i := range 200 {
		scrapes = append(scrapes, fmt.Sprintf("%d 31=%d 43:%d", []int{0, 31, 43}[i*7%11%3], i*5%17%4, i/9%5))
	}
	told := func(from int) (out []string) {
		for _, e := range strings.Fields(tellAll(t, &Thing{}, scrapes[from:], from)) {
			var at int
			if _, err := fmt.Sscanf(e, "%d:", &at); err != nil {
				t.Fatal(err)
			}
			if at >= from+int(memory/10_000) {
				out = append(out, e)
			}
		}
		return out
	}
	whole := strings.Fields(tellAll(t, &Thing{}, scrapes, 0))
	if len(whole) < 50 {
		t.Fatalf("%d events: too few", len(whole))
	}
	for from := 1; from < 150; from++ {
		got := told(from)
		if want := whole[len(whole)-len(got):]; len(got) == 0 || !slices.Equal(got, want) {
			t.Fatalf("from scrape %d: got %v, want %v", from, got, want)
		}
	}
}

func tellAll(t *testing.T, thing *Thing, scrapes []string, first int) string {
	t.Helper()
	var told []string
	at := first
	for _, text := range scrapes {
		if text == "pause" {
			at += int(memory/10_000) + 1
			continue
		}
		for _, e := range thing.Step(scrapeOf(t, text, at), nil) {
			told = append(told, fmt.Sprintf("%d:%s", at, e.text()))
		}
		at++
	}
	return strings.Join(told, " ")
}

func (e Event) text() string {
	s := e.Code
	if e.N != 1 {
		s += fmt.Sprintf("x%v", e.N)
	}
	if e.ByCode {
		s += "?"
	}
	return s
}

func scrapeOf(t *testing.T, text string, at int) *Scrape {
	t.Helper()
	words := strings.Fields(text)
	s := &Scrape{At: 1_000_000 + int64(at)*10_000, Coded: words[0] != "-"}
	for c := range strings.SplitSeq(words[0], ",") {
		if s.Coded {
			s.Codes = append(s.Codes, number(t, c))
		}
	}
	for _, w := range words[1:] {
		i := strings.IndexAny(w, "=:")
		c := Count{Key: w[:i+1], Label: "code", Code: w[:i], Total: w[i] == ':', Ended: w[i+1:] == "gone"}
		if !c.Ended {
			c.Value = number(t, w[i+1:])
		}
		s.Counts = append(s.Counts, c)
	}
	return s
}

func number(t *testing.T, text string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}
