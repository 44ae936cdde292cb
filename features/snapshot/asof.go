package snapshot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"sextant/features"
)

// asOfOf is the time that a request asks about, in unix ms: RFC 3339, or seconds since 1970.
// ok is false where it asks about now.
func (s *Server) asOfOf(text string) (at int64, ok bool, err error) {
	if text == "" {
		return 0, false, nil
	}
	now := s.opts.Now()
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < 1e11 {
		at = int64(math.Round(seconds * 1000))
	} else if t, err := time.Parse(time.RFC3339, text); err == nil {
		at = t.UnixMilli()
	} else {
		return 0, false, badRequest("as_of: %q is neither RFC 3339 with a zone nor seconds since 1970", clip(text))
	}
	if at > now.UnixMilli() {
		return 0, false, badRequest("as_of: %s is in the future", instant(at))
	}
	if reach := s.opts.Reach; at < 0 || reach > 0 && now.UnixMilli()-at > reach.Milliseconds() {
		return 0, false, badRequest("as_of: %s is longer ago than rows are kept: %v", instant(at), reach)
	}
	return at, true, nil
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// errPast says that the store of the past failed, and not the request.
type errPast struct{ error }

// enter takes one of the places of those who ask about the past.
func (s *Server) enter() (leave func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	default:
		return nil, later("as_of: %d questions about the past are being answered: ask again", cap(s.slots))
	}
}

// pastMatrix is a service's matrix of a version that is over, from the store.
func (s *Server) pastMatrix(ctx context.Context, p *plan, m Moment) (*matrix, error) {
	rows, sorted := make([]*features.Rows, len(p.views)), make([][]int32, len(p.views))
	for v, view := range p.views {
		var err error
		if rows[v], err = s.past.RowsAt(ctx, view, m.At); err != nil {
			return nil, errPast{fmt.Errorf("%s as of %s: %w", view.Ref(), instant(m.At), err)}
		}
		sorted[v] = p.sort(v, rows[v])
	}
	ents := align(p, rows, sorted)
	if err := s.checkSize(p, ents.n); err != nil {
		return nil, err
	}
	return build(p, ents, rows, nil, m), nil
}

// pastBody answers a request about a version that is over.
func (s *Server) pastBody(ctx context.Context, m Moment, build func(context.Context) ([]byte, error)) ([]byte, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, pastTimeout)
	defer cancel()
	defer s.metrics.took("past")()
	return build(ctx)
}

// statusOf is what a request that failed is answered with.
func statusOf(err error) (status int, why string) {
	var no *refusal
	var past errPast
	switch {
	case errors.As(err, &no):
		return no.status, no.detail
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, "as_of: clickhouse did not answer in time"
	case errors.As(err, &past):
		return http.StatusServiceUnavailable, "as_of: clickhouse does not answer: see the log of the server"
	}
	return http.StatusInternalServerError, "see the log of the server"
}
