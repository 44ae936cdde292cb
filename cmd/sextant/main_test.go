package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandTeaches: each has a line of its own and an example that names it.
func TestEveryCommandTeaches(t *testing.T) {
	seen := 0
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		seen++
		if c.Short == "" || !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(root())
	if seen < 25 {
		t.Errorf("looked at %d commands", seen)
	}
}

func TestInterruptedSaysSoOnce(t *testing.T) {
	signal := errors.New("interrupt signal received")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := fmt.Errorf("migrate: %w", &url.Error{Op: "Post", URL: "http://x", Err: signal})
	if got := interrupted(ctx, failed); !errors.Is(got, failed) {
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
	if got := interrupted(ctx, own); !errors.Is(got, own) {
		t.Errorf("a failure of its own: %v", got)
	}
	if got := interrupted(ctx, nil); got != nil {
		t.Errorf("no failure: %v", got)
	}
}
