package snapshot

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// watcher keeps what a client of a stream knows: the rows by key.
type watcher struct {
	t       *testing.T
	body    io.ReadCloser
	events  *bufio.Scanner // nil: raw frames
	rows    map[string]string
	version int64
	kinds   []string
	reason  string
}

func watching(t *testing.T, url string) *watcher {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	w := &watcher{t: t, body: res.Body, rows: map[string]string{}}
	if res.Header.Get("Content-Type") == mediaEvents {
		w.events = bufio.NewScanner(res.Body)
		w.events.Buffer(nil, 1<<20)
	}
	return w
}

// next takes one message, and says whether there was one.
func (w *watcher) next() bool {
	w.t.Helper()
	var x table
	var gone []string
	if w.events != nil {
		data := ""
		for w.events.Scan() && w.events.Text() != "" {
			if text, ok := strings.CutPrefix(w.events.Text(), "data: "); ok {
				data = text
			}
		}
		if data == "" {
			return false
		}
		x = readJSON(w.t, []byte(data))
		removed, _ := x.header["removed_keys"].(map[string]any)
		for _, list := range removed { // one key
			for _, k := range list.([]any) {
				gone = append(gone, k.(string))
			}
		}
	} else {
		var size [4]byte
		if _, err := io.ReadFull(w.body, size[:]); err != nil {
			return false
		}
		file := make([]byte, binary.LittleEndian.Uint32(size[:]))
		if _, err := io.ReadFull(w.body, file); err != nil {
			w.t.Fatal(err)
		}
		x = readRaw(w.t, file)
		sections, _ := x.header["sections"].([]any)
		for _, s := range sections {
			if s := s.(map[string]any); s["name"] == "removed/node" {
				n, at := int(s["shape"].([]any)[0].(float64)), int(s["offset"].(float64))
				u32 := func(at int) int { return int(binary.LittleEndian.Uint32(file[at:])) }
				for i := range n {
					text := at + 4*(n+1)
					gone = append(gone, string(file[text+u32(at+4*i):text+u32(at+4*i+4)]))
				}
			}
		}
	}
	kind := x.header["kind"].(string)
	w.kinds = append(w.kinds, kind)
	switch kind {
	case "snapshot":
		w.rows = map[string]string{}
	case "delta":
		if since := int64(x.header["since"].(float64)); since != w.version {
			w.t.Errorf("a change from %d for who has %d", since, w.version)
		}
	case "end":
		w.reason = x.header["reason"].(string)
		return true
	}
	for _, k := range gone {
		if _, ok := w.rows[k]; !ok {
			w.t.Errorf("%s is gone, and was never there", k)
		}
		delete(w.rows, k)
	}
	for i, line := range (table{keys: x.keys, values: x.values, status: x.status, ages: make([][]float32, len(x.keys))}).rowsOf() {
		w.rows[x.keys[i]] = line
	}
	w.version = int64(x.header["version"].(float64))
	return true
}

// step makes the next version of a world in which some rows change, come and go.
func step(w *world, s *Server, r *rand.Rand, i int) {
	now := start.Add(time.Duration(i) * Step)
	w.at(now.Add(8 * time.Second))
	for n := range 12 {
		if r.IntN(4) > 0 {
			w.add(w.view("fast"), now.UnixMilli(), now.UnixMilli(), []float64{float64(r.IntN(2)), float64(n)}, fmt.Sprintf("n%d", (n+i/5)%20))
		}
	}
	_ = s.store.Refresh(context.Background())
	s.publish(momentAt(w.clock().UnixMilli(), s.opts.Settle))
	s.feedVersion(s.current.Load())
}

// want is all rows of the current version, without ages.
func want(t *testing.T, s *Server) map[string]string {
	x := ask(t, s, "service=boxes", "raw")
	out := map[string]string{}
	for i, line := range (table{keys: x.keys, values: x.values, status: x.status, ages: make([][]float32, len(x.keys))}).rowsOf() {
		out[x.keys[i]] = line
	}
	return out
}

// TestChangesAddUp: a client that applies every change has what a snapshot has, in both
// formats, also when it came back after it missed some.
func TestChangesAddUp(t *testing.T) {
	w, r := newWorld(), rand.New(rand.NewPCG(5, 5))
	w.at(start)
	s := serverOf(t, w)
	step(w, s, r, 0)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close) // after the clients, which it waits for
	url := server.URL + "/v1/watch?service=boxes"
	watchers := []*watcher{watching(t, url), watching(t, url+"&format=events")}
	small := 0
	for i := 1; i < 140; i++ {
		if i == 60 { // one comes back that has version 50, and one that has a version of yesterday
			back := watching(t, url+fmt.Sprint("&since=", start.Add(55*Step).UnixMilli()))
			back.version = start.Add(55 * Step).UnixMilli()
			back.rows = nil // known below
			old := watching(t, url+fmt.Sprint("&format=events&since=", start.Add(-1000*Step).UnixMilli()))
			watchers = append(watchers, old)
			for back.version < start.Add(59*Step).UnixMilli() {
				back.rows = map[string]string{}
				if gone := back.nextIgnoringGone(); !gone {
					t.Fatal("the stream ended")
				}
			}
			if !slices.Equal(back.kinds, []string{"delta", "delta", "delta", "delta"}) {
				t.Errorf("who missed four changes got %v", back.kinds)
			}
			back.body.Close()
		}
		for _, c := range watchers {
			for c.version < s.current.Load().Tick {
				if !c.next() {
					t.Fatal("the stream ended")
				}
			}
			if full := want(t, s); !maps.Equal(c.rows, full) {
				t.Fatalf("step %d: has\n%v\nwant\n%v", i, c.rows, full)
			}
		}
		step(w, s, r, i)
		if past := s.feeds[s.plans.byRef["boxes@v1"]].past; past[len(past)-1].rows.header.Rows < len(want(t, s)) {
			small++
		}
	}
	for i, c := range watchers {
		if snapshots := strings.Count(strings.Join(c.kinds, " "), "snapshot"); snapshots != 1 || len(c.kinds) < 70 {
			t.Errorf("watcher %d: %d snapshots of %d messages", i, snapshots, len(c.kinds))
		}
	}
	if small < 100 {
		t.Errorf("%d of 139 changes are smaller than a snapshot", small)
	}
}

// nextIgnoringGone is next for a client that forgot its rows.
func (w *watcher) nextIgnoringGone() bool {
	for n := range 20 {
		w.rows[fmt.Sprintf("n%d", n)] = ""
	}
	return w.next()
}

// A reader that does not keep up is told so, and holds up nobody.
func TestSlowReaderIsDropped(t *testing.T) {
	w, r := newWorld(), rand.New(rand.NewPCG(5, 5))
	w.at(start)
	s := serverOf(t, w)
	step(w, s, r, 0)
	f := s.feeds[s.plans.byRef["boxes@v1"]]
	x, err := s.matrix(s.current.Load(), f.plan)
	if err != nil {
		t.Fatal(err)
	}
	slow, missed := f.join(0, x) // reads nothing
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close) // after the clients, which it waits for
	quick := watching(t, server.URL+"/v1/watch?service=boxes")
	for i := 1; i <= queueChanges+1; i++ {
		step(w, s, r, i)
		for quick.version < s.current.Load().Tick {
			if !quick.next() {
				t.Fatal("the stream ended")
			}
		}
	}
	select {
	case <-slow.ended:
	default:
		t.Fatal("a reader that reads nothing is kept")
	}
	if len(missed) != 1 || slow.reason != fmt.Sprintf("too slow: version %d came while 2 before it were not read", start.Add(3*Step).UnixMilli()) {
		t.Errorf("%d changes first, reason %q", len(missed), slow.reason)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.feedAll(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for quick.next() {
	}
	if quick.reason != "the server ends: ask again" {
		t.Errorf("the last message is %q", quick.reason)
	}
}

func TestWatchersAreLimitedAndHearThatNothingChanged(t *testing.T) {
	w, r := newWorld(), rand.New(rand.NewPCG(5, 5))
	w.at(start)
	s := serverOf(t, w, func(o *Options) { o.Watchers, o.Heartbeat = 1, 20*time.Millisecond })
	if got := get(s.Handler(), "/v1/watch?service=boxes"); got.Code != 503 {
		t.Errorf("before the first version: %d", got.Code)
	}
	step(w, s, r, 0)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close) // after the clients, which it waits for
	for _, format := range []string{"raw", "events"} {
		one := watching(t, server.URL+"/v1/watch?service=boxes&format="+format)
		if got := get(s.Handler(), "/v1/watch?service=boxes"); got.Code != 503 || !strings.Contains(got.Body.String(), "watch: 1 are watching") {
			t.Errorf("a second: %d %s", got.Code, got.Body)
		}
		one.next()
		one.next()
		if !slices.Equal(one.kinds, []string{"snapshot", "heartbeat"}) || one.version != start.UnixMilli() {
			t.Errorf("messages %v, version %d", one.kinds, one.version)
		}
		one.body.Close()
		for s.watching.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	head := httptest.NewRecorder()
	s.Handler().ServeHTTP(head, httptest.NewRequest("HEAD", "/v1/watch?service=boxes", nil))
	if head.Code != 200 || head.Header().Get("Content-Type") != mediaFrames || head.Body.Len() != 0 {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
	for query, want := range map[string]string{
		"service=boxes&since=5":      `since: \"5\" is no version`,
		"service=boxes&since=x":      `since: \"x\" is no version`,
		"service=boxes&format=arrow": `format: \"arrow\" is none of raw, events`,
		"service=boxes&as_of=1":      "as_of: no such parameter: want service, since, format",
		"service=pairs":              "service: pairs@v1 joins entities",
	} {
		if got := get(s.Handler(), "/v1/watch?"+query); got.Code != 400 || !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %d %s", query, got.Code, got.Body)
		}
	}
}

// A feed that nobody watches for a minute keeps nothing.
func TestFeedFallsAsleep(t *testing.T) {
	w, r := newWorld(), rand.New(rand.NewPCG(5, 5))
	w.at(start)
	s := serverOf(t, w)
	step(w, s, r, 0)
	f := s.feeds[s.plans.byRef["boxes@v1"]]
	x, err := s.matrix(s.current.Load(), f.plan)
	if err != nil {
		t.Fatal(err)
	}
	reader, _ := f.join(0, x)
	f.leave(reader, w.clock())
	step(w, s, r, 3)
	if f.last == nil || len(f.past) != 1 {
		t.Error("forgot at once who may come back")
	}
	step(w, s, r, 7)
	if f.last != nil || f.past != nil {
		t.Error("remembers for nobody")
	}
}

// Data must be JSON on one line: an event ends at an empty one.
func TestEventIsOneLine(t *testing.T) {
	_, body := note{Kind: "end", Version: 10, Reason: "a\nb"}.encode(formatEvents)
	if string(body) != "event: end\nid: 10\ndata: {\"kind\":\"end\",\"version\":10,\"reason\":\"a\\nb\"}\n\n" {
		t.Errorf("%q", body)
	}
	if !json.Valid([]byte(strings.TrimSpace(strings.SplitAfter(string(body), "data: ")[1]))) {
		t.Error("no JSON")
	}
}
