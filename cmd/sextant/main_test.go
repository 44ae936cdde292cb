package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
)

func TestInterruptedSaysSoOnce(t *testing.T) {
	signal := errors.New("interrupt signal received")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := fmt.Errorf("migrate: %w", &url.Error{Op: "Post", URL: "http://x", Err: signal})
	if got := interrupted(ctx, failed); got != failed {
		t.Errorf("without a signal: %v", got)
	}
	cancel(signal)
	const want = "stopped before it was done"
	for _, err := range []error{failed, fmt.Errorf("fetch: %w", context.Canceled), errors.Join(failed, errors.New("close"))} {
		if got := interrupted(ctx, err); got == nil || got.Error() != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
	own := errors.New("no feature was served")
	if got := interrupted(ctx, own); got != own {
		t.Errorf("a failure of its own: %v", got)
	}
	if got := interrupted(ctx, nil); got != nil {
		t.Errorf("no failure: %v", got)
	}
}
