package scrape

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Errors of a scrape that have a reason of their own.
var (
	errBodyTooLarge = errors.New("body size limit exceeded")
	errTargetLimit  = errors.New("target_limit exceeded")
)

// statusError is an answer other than 200.
type statusError struct{ status string }

func (e statusError) Error() string { return "server returned HTTP status " + e.status }

// contentTypeError is a body whose format is not known.
type contentTypeError struct{ got string }

func (e contentTypeError) Error() string {
	if e.got == "" {
		return "non-compliant scrape target: no Content-Type, and no fallback_scrape_protocol is set for the job"
	}
	return fmt.Sprintf("received unsupported Content-Type %q, and no fallback_scrape_protocol is set for the job", e.got)
}

// rootOf is the text of the innermost error, "" for none. What stands around it may differ
// each time, as the port of this end of a connection does.
func rootOf(err error) string {
	if err == nil {
		return ""
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// reason sorts an error into a small set of words for the failure counter.
func reason(err error) string {
	var (
		status  statusError
		ctype   contentTypeError
		limit   limitError
		request *url.Error
		netErr  net.Error
		opErr   *net.OpError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return "timeout"
	case errors.As(err, &status):
		return "status"
	case errors.As(err, &ctype):
		return "content_type"
	case errors.Is(err, errBodyTooLarge):
		return "body_size_limit"
	case errors.Is(err, errTargetLimit):
		return "target_limit"
	case errors.As(err, &limit):
		return "limit"
	case errors.As(err, &request) && strings.Contains(request.Err.Error(), "redirect"):
		return "redirect"
	case errors.As(err, &opErr) && opErr.Op == "dial":
		return "connect"
	}
	return "other"
}
