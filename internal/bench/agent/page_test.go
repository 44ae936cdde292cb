package agent

import (
	"bytes"
	"strconv"
	"testing"
)

func TestPagesHaveTheirSeriesAndChangeEachTime(t *testing.T) {
	for _, c := range []struct {
		job    job
		series int
	}{{jobs[0], nodeSeries}, {jobs[1], 33 * nodeGPUs}, {jobs[2], 22*nodePods + 2}} {
		t.Run(c.job.name, func(t *testing.T) {
			p, err := c.job.page(1)
			if err != nil {
				t.Fatal(err)
			}
			first, _ := p.next(nil, 1000)
			second, seen := p.next(nil, 2000)
			a, b := readPage(t, first), readPage(t, second)
			if len(a) < c.series || len(a) != p.series() || len(b) != len(a) || len(a) > c.series*5/4 {
				t.Fatalf("%d and %d distinct series of %d, want about %d", len(a), len(b), p.series(), c.series)
			}
			for name, v := range a {
				if b[name] == v {
					t.Errorf("%s stays %v", name, v)
				}
			}
			var read tally
			for series, v := range b {
				name, _, _ := bytes.Cut([]byte(series), []byte("{"))
				read.add(string(name), v)
			}
			if read != seen {
				t.Errorf("who reads the page sees %+v, served were %+v", read, seen)
			}
		})
	}
}

// readPage gives the values by series.
func readPage(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for line := range bytes.Lines(text) {
		if line[0] == '#' {
			continue
		}
		end := bytes.LastIndexByte(line, '}') + 1
		if end == 0 {
			end = bytes.IndexByte(line, ' ')
		}
		v, err := strconv.ParseFloat(string(bytes.Fields(line[end:])[0]), 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out[string(line[:end])] = v
	}
	return out
}

func TestTallyTellsWhatIsAnother(t *testing.T) {
	of := func(pairs ...any) (s tally) {
		for i := 0; i < len(pairs); i += 2 {
			s.add(pairs[i].(string), pairs[i+1].(float64))
		}
		return s
	}
	want := of("a", 1.0, "b", 2.0)
	if of("b", 2.0, "a", 1.0) != want {
		t.Error("the order counts")
	}
	for name, other := range map[string]tally{"lost": of("a", 1.0), "doubled": of("a", 1.0, "b", 2.0, "b", 2.0), "one lost and one doubled": of("a", 1.0, "a", 1.0),
		"names changed places": of("a", 2.0, "b", 1.0), "a value rounded": of("a", 1.0, "b", 2.0000000001), "a value cut": of("a", 1.0, "b", 2.00001)} {
		if other == want {
			t.Errorf("%s: not told from what was served", name)
		}
		if same := other.samples == want.samples && other.sum == want.sum; same != (name == "a value rounded") {
			t.Errorf("%s: the same but for the last bits is %v", name, same)
		}
	}
}
