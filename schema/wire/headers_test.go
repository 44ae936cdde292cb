package wire

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func testEnvelope() Envelope {
	return Envelope{
		Version: 1, Node: "node-17.example.com", Agent: "f3b1c29a5d7e4a60", Target: "node/127.0.0.1:9100",
		Seq: 4711, Oldest: 4690, Dropped: 12, Scrape: now, State: StatePartial,
	}
}

func TestEnvelopeRoundTrip(t *testing.T) {
	for _, e := range []Envelope{
		testEnvelope(),
		{Version: 1, Node: "n", Agent: "a", Target: "t", Seq: 1, Oldest: 1},
		{Version: 1, Node: "ｎöde", Agent: "a", Target: strings.Repeat("t", MaxTarget), Seq: math.MaxUint64,
			Oldest: math.MaxUint64, Dropped: math.MaxUint64, Scrape: math.MaxInt64, State: StateFailed},
	} {
		headers := append(e.AppendHeaders([]Header{{"traceparent", []byte("00-1")}}), Header{Key: "x"})
		slices.Reverse(headers) // order says nothing
		got, err := ParseEnvelope(headers, nil)
		if err != nil || got != e {
			t.Errorf("%+v: got %+v, error %v", e, got, err)
		}
	}
}

// TestTextsAreOne reads the same headers twice: the second time allocates nothing, and a text
// that is too long for its header is refused whatever was read before.
func TestTextsAreOne(t *testing.T) {
	texts := Texts{}
	e := testEnvelope()
	headers := e.AppendHeaders(nil)
	if _, err := ParseEnvelope(headers, texts); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if got, err := ParseEnvelope(headers, texts); err != nil || got != e {
			t.Errorf("got %+v, error %v", got, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	e.Target = strings.Repeat("t", MaxTarget)
	if _, err := ParseEnvelope(e.AppendHeaders(nil), texts); err != nil {
		t.Fatal(err)
	}
	e.Node = e.Target
	if _, err := ParseEnvelope(e.AppendHeaders(nil), texts); MaxNode < MaxTarget && err == nil {
		t.Errorf("a node of %d bytes is taken", len(e.Node))
	}
}

func TestZeroVersionIsTheCurrentOne(t *testing.T) {
	e := testEnvelope()
	e.Version = 0
	got, err := ParseEnvelope(e.AppendHeaders(nil), nil)
	if err != nil || got.Version != EnvelopeVersion {
		t.Fatalf("version %d, error %v", got.Version, err)
	}
}

func TestParseEnvelopeFaults(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"sx-v", "2", "header sx-v: version 2 is not supported"},
		{"sx-v", "one", `header sx-v: value "one" is not`},
		{"sx-v", "", `header sx-v: value ""`},
		{"sx-node", "", "header sx-node: empty"},
		{"sx-node", strings.Repeat("n", MaxNode+1), "header sx-node: 254 bytes, at most 253"},
		{"sx-node", "a\nb", "header sx-node: value \"a\\nb\""},
		{"sx-node", "a\xffb", "header sx-node: value"},
		{"sx-agent", strings.Repeat("a", MaxAgent+1), "header sx-agent: 65 bytes"},
		{"sx-target", strings.Repeat("a", MaxTarget+1), "header sx-target: 1025 bytes"},
		{"sx-seq", "0", "header sx-seq: value 0 is outside"},
		{"sx-seq", "-1", `header sx-seq: value "-1"`},
		{"sx-seq", "+1", `header sx-seq: value "+1"`},
		{"sx-seq", "01", `header sx-seq: value "01"`},
		{"sx-seq", " 1", `header sx-seq: value " 1"`},
		{"sx-seq", "18446744073709551616", "header sx-seq: value"},
		{"sx-seq", "99999999999999999999", "header sx-seq: value"},
		{"sx-seq", "4689", "header sx-oldest: 4690 is above sx-seq 4689"},
		{"sx-oldest", "0", "header sx-oldest: value 0"},
		{"sx-dropped", "1.5", "header sx-dropped: value"},
		{"sx-scrape", "9223372036854775808", "header sx-scrape: value 9223372036854775808 is outside"},
		{"sx-state", "OK", `header sx-state: unknown state "OK"`},
		{"sx-state", "", `header sx-state: unknown state ""`},
	} {
		headers := testEnvelope().AppendHeaders(nil)
		for i := range headers {
			if headers[i].Key == c.key {
				headers[i].Value = []byte(c.value)
			}
		}
		e, err := ParseEnvelope(headers, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || e != (Envelope{}) {
			t.Errorf("%s=%q: envelope %+v, error %v, want %q", c.key, c.value, e, err, c.want)
		}
		if len(err.Error()) > 300 {
			t.Errorf("%s: the error has %d bytes", c.key, len(err.Error()))
		}
	}
}

func TestEveryHeaderIsNeededOnce(t *testing.T) {
	all := testEnvelope().AppendHeaders(nil)
	for i, h := range all {
		_, err := ParseEnvelope(slices.Delete(slices.Clone(all), i, i+1), nil)
		if want := "header " + h.Key + ": missing"; err == nil || err.Error() != want {
			t.Errorf("without %s: error %v", h.Key, err)
		}
		_, err = ParseEnvelope(append(slices.Clone(all), h), nil)
		if want := "header " + h.Key + ": given twice"; err == nil || err.Error() != want {
			t.Errorf("with two %s: error %v", h.Key, err)
		}
	}
}

func TestUnknownStateHasAText(t *testing.T) {
	if got := State(9).String(); got != "State(9)" {
		t.Fatal(got)
	}
	e := Envelope{Node: "n", Agent: "a", Target: "t", Seq: 1, Oldest: 1, State: 9}
	if _, err := ParseEnvelope(e.AppendHeaders(nil), nil); err == nil {
		t.Fatal("state 9 passes")
	}
}

func FuzzParseEnvelope(f *testing.F) {
	f.Add("1", "node", "agent", "job/instance", "7", "3", "0", "1767225600123", "ok")
	f.Add("1", "n\x00", "", "\xff", "18446744073709551615", "0", "00", "-1", "partial")
	f.Fuzz(func(t *testing.T, v, node, agent, target, seq, oldest, dropped, scrape, state string) {
		var headers []Header
		for i, value := range []string{v, node, agent, target, seq, oldest, dropped, scrape, state} {
			headers = append(headers, Header{envelopeKeys[i], []byte(value)})
		}
		e, err := ParseEnvelope(headers, nil)
		if err != nil {
			return
		}
		// What is accepted has one spelling: writing it again gives the same headers.
		for i, h := range e.AppendHeaders(nil) {
			if h.Key != headers[i].Key || string(h.Value) != string(headers[i].Value) {
				t.Fatalf("%s: %q became %q", h.Key, headers[i].Value, h.Value)
			}
		}
	})
}
