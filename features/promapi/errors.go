package promapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/prometheus/promql"
)

// apiError is an error with the type and the status that Prometheus gives it.
type apiError struct {
	status int
	kind   string
	err    error
}

// clientClosed is the status, not a standard one, of a request whose client has left.
const clientClosed = 499

func badData(err error) *apiError { return &apiError{http.StatusBadRequest, "bad_data", err} }

func badParam(name string, err error) *apiError {
	return badData(fmt.Errorf("invalid parameter %q: %w", name, err))
}

// failure sorts an error of the engine or the source.
func (s *server) failure(err error) *apiError {
	var (
		canceled promql.ErrQueryCanceled
		timeout  promql.ErrQueryTimeout
		inner    promql.ErrStorage
	)
	switch {
	case errors.As(err, &canceled), errors.Is(err, context.Canceled):
		return &apiError{clientClosed, "canceled", err}
	case errors.As(err, &timeout), errors.Is(err, context.DeadlineExceeded), s.TimedOut != nil && s.TimedOut(err):
		return &apiError{http.StatusServiceUnavailable, "timeout", err}
	case s.Away != nil && s.Away(err):
		return &apiError{http.StatusServiceUnavailable, "unavailable", err}
	case errors.As(err, &inner):
		return &apiError{http.StatusInternalServerError, "internal", err}
	}
	return &apiError{http.StatusUnprocessableEntity, "execution", err}
}

// construction sorts an error of a query that could not begin: its text is wrong, or no
// slot came free in time.
func (s *server) construction(err error) *apiError {
	var (
		canceled promql.ErrQueryCanceled
		timeout  promql.ErrQueryTimeout
	)
	if errors.As(err, &canceled) || errors.As(err, &timeout) {
		return s.failure(err)
	}
	return badParam("query", err)
}
