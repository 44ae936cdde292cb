package receive

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/collectors/spool"
)

// TestRequestsWait: beyond the limit a request waits for its turn, and after 5 s it is sent
// back with an error that every sender tries again on.
func TestRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		k := &kept{fail: func(spool.Entry) error { <-release; return nil }}
		r := newReceiver(t, k, func(c *Config) { c.MaxConcurrent = 1 })
		raw := encodeV2(t, sample{"__name__ a", nowMs(), 1})
		send := func() chan *httptest.ResponseRecorder {
			answer := make(chan *httptest.ResponseRecorder, 1)
			go func() { answer <- post(r, v2, raw) }()
			synctest.Wait()
			return answer
		}
		first, second := send(), send()
		begin := time.Now()
		w := <-second
		if w.Code != 503 || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), "1 requests are under way") {
			t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		if d := time.Since(begin); d != patience {
			t.Fatalf("it waited for %s", d)
		}
		third := send()
		close(release)
		for _, c := range []chan *httptest.ResponseRecorder{first, third} {
			if w := <-c; w.Code != 204 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		if n := testutil.ToFloat64(r.metrics.limits.WithLabelValues("concurrent")); n != 1 {
			t.Fatalf("counted %v times", n)
		}
		if n := testutil.ToFloat64(r.metrics.inFlight); n != 0 {
			t.Fatalf("%v requests in flight", n)
		}
	})
}

// TestSenderThatLeaves while it waits frees its place in the queue.
func TestSenderThatLeaves(t *testing.T) {
	r := newReceiver(t, &kept{}, func(c *Config) { c.MaxConcurrent = 1 })
	w := <-r.works
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(snappy.Encode(nil, nil)))).WithContext(ctx)
	if a := r.receive(req); a.code != 503 {
		t.Fatalf("%d %v", a.code, a.err)
	}
	r.works <- w
}

// TestLogsTheFirstOfAMinute: a sender that is refused asks again and again.
func TestLogsTheFirstOfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		r := newReceiver(t, &kept{}, nil)
		r.turns.log = slog.New(slog.NewTextHandler(&text, nil))
		for range 61 {
			post(r, v1, []byte{0xff})
			post(r, v1, encodeV1(t, sample{"__name__ a", nowMs(), 1}))
			time.Sleep(time.Second)
		}
		if n := strings.Count(text.String(), "level=WARN"); n != 2 || strings.Count(text.String(), "\n") != 2 {
			t.Fatalf("logged %s", text.String())
		}
	})
}

// TestLargeBuffersAreNotKept: one large request does not cost memory for ever.
func TestLargeBuffersAreNotKept(t *testing.T) {
	r := newReceiver(t, &kept{}, func(c *Config) { c.MaxConcurrent = 1 })
	large := make([]sample, 0, 3000)
	for i := range 3000 {
		large = append(large, sample{"__name__ a x " + strings.Repeat("x", 2000) + string(rune('a'+i%26)), nowMs() - int64(i), 1})
	}
	if w := post(r, v1, encodeV1(t, large...)); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	post(r, v1, append(make([]byte, 0), []byte(strings.Repeat("\x1a\x00", keep))...)) // metadata, twice the size that is kept
	if w := <-r.works; cap(w.raw) > keep || cap(w.body) > keep {
		t.Fatalf("%d and %d bytes are kept", cap(w.raw), cap(w.body))
	}
}
