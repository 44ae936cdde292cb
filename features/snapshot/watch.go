package snapshot

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The formats of a stream: flat files, each behind its length, or server-sent events of JSON.
const (
	formatEvents = "events"
	mediaFrames  = "application/vnd.sextant.snapshot-stream"
	mediaEvents  = "text/event-stream"
)

var mediaOf = map[string]string{formatRaw: mediaFrames, formatEvents: mediaEvents}

// frameTimeout is how long one frame may take to be written.
const frameTimeout = time.Minute

// watch streams the changes of a service.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "service", "since", "format")
	if err != nil {
		return err
	}
	p, err := s.planFor(r, q["service"])
	if err != nil {
		return err
	}
	format, err := streamFormat(q["format"], r.Header.Get("Accept"))
	if err != nil {
		return err
	}
	since, err := sinceOf(q["since"], r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	e := s.current.Load()
	if e == nil {
		return later("no version is there yet")
	}
	x, err := s.matrix(e, p)
	if err != nil {
		return err
	}
	if n := len(x.values); format == formatEvents && n > maxJSON {
		return badRequest("format: events are for %d values at most, and %s has %d: ask for raw", maxJSON, p.ref, n)
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", mediaOf[format])
		return nil // it has no body to wait for
	}
	if n := s.watching.Add(1); n > int64(s.opts.Watchers) {
		s.watching.Add(-1)
		return later("watch: %d are watching, which is serve.snapshot.watchers", s.opts.Watchers)
	}
	defer s.watching.Add(-1)
	return s.stream(w, r, stream{feed: s.feeds[p], since: since, first: x, format: format})
}

// streamFormat is what the request names, or what a browser's EventSource accepts.
func streamFormat(name, accept string) (string, error) {
	switch {
	case name == "" && strings.Contains(accept, mediaEvents):
		return formatEvents, nil
	case name == "", name == formatRaw:
		return formatRaw, nil
	case name == formatEvents:
		return formatEvents, nil
	}
	return "", badRequest("format: %q is none of raw, events", clip(name))
}

// sinceOf is the version that the client has; a browser that comes back says it in a header.
func sinceOf(param, header string) (int64, error) {
	if param == "" {
		param = header
	}
	if param == "" {
		return 0, nil
	}
	since, err := strconv.ParseInt(param, 10, 64)
	if err != nil || since <= 0 || since%stepMillis != 0 {
		return 0, badRequest("since: %q is no version: want unix ms, a multiple of %d", clip(param), stepMillis)
	}
	return since, nil
}

// stream is one watcher.
type stream struct {
	feed   *feed
	since  int64
	first  *matrix
	format string
}

// stream writes until the client goes, or is too slow, or the server ends.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, st stream) error {
	reader, missed := st.feed.join(st.since, st.first)
	defer func() { st.feed.leave(reader, s.opts.Now()) }()
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // the listener's is made for requests that end; not every writer has one
	defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
	h := w.Header()
	h.Set("Content-Type", mediaOf[st.format])
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // for proxies that would hold events back
	version := st.since
	send := func(m message) bool {
		_ = rc.SetWriteDeadline(time.Now().Add(frameTimeout))
		head, body := m.encode(st.format)
		_, err := w.Write(head)
		if err == nil {
			_, err = w.Write(body)
		}
		return err == nil && rc.Flush() == nil
	}
	for _, c := range missed {
		if !send(c) {
			return nil
		}
		version = c.version
	}
	beat := time.NewTicker(s.opts.Heartbeat)
	defer beat.Stop()
	for {
		var ok bool
		select {
		case <-r.Context().Done():
			return nil
		case <-reader.ended:
			send(note{Kind: "end", Version: version, Reason: reader.reason})
			return nil
		case c := <-reader.changes:
			ok = send(c)
			version = c.version
			beat.Reset(s.opts.Heartbeat)
		case <-beat.C:
			ok = send(note{Kind: "heartbeat", Version: version})
		}
		if !ok {
			return nil
		}
	}
}
