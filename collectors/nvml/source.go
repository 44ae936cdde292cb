package nvml

import (
	"context"
	"fmt"
	"time"

	"sextant/collectors/inventory"
)

// Source is the driver as a source of the inventory: devices, MIG layout, NVLinks. It works
// with the same library as the collector, one of them at a time.
func (c *Collector) Source() inventory.Source { return source{c} }

type source struct{ c *Collector }

// Name implements inventory.Source.
func (source) Name() string { return "nvml" }

// describeWait is how long the inventory waits for the driver.
const describeWait = 10 * time.Second

// Describe implements inventory.Source. A call into the driver cannot be interrupted: of
// one that hangs the answer is dropped, and Close waits for it.
func (s source) Describe(ctx context.Context) (inventory.Extra, error) {
	ctx, cancel := context.WithTimeout(ctx, describeWait)
	defer cancel()
	select {
	case s.c.busy <- struct{}{}:
	case <-ctx.Done():
		return inventory.Extra{}, fmt.Errorf("NVML is still being read: %w", ctx.Err())
	}
	type answer struct {
		x   inventory.Extra
		err error
	}
	out := make(chan answer, 1)
	go func() {
		defer func() { <-s.c.busy }()
		x, err := s.c.driver.describe()
		out <- answer{x, err}
	}()
	select {
	case a := <-out:
		return a.x, a.err
	case <-ctx.Done():
		return inventory.Extra{}, fmt.Errorf("NVML does not answer: %w", ctx.Err())
	}
}
