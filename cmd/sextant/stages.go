package main

import (
	"context"
	"fmt"
)

// stages are parts that run beside each other and are stopped one by one, the last
// started first, so that each can hand on what it still holds.
type stages struct {
	ctx    context.Context // ends when a part fails
	fail   context.CancelCauseFunc
	parent context.Context
	parts  []stage
}

type stage struct {
	name string
	stop context.CancelFunc
	done chan error
}

// newStages returns no parts. When ctx ends, Context does too, but the parts run on until
// Stop.
func newStages(ctx context.Context) *stages {
	s := &stages{parent: context.WithoutCancel(ctx)}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	return s
}

// Context ends when the caller's does, or when a part has failed.
func (s *stages) Context() context.Context { return s.ctx }

// Start runs a part until its turn in Stop.
func (s *stages) Start(name string, run func(context.Context) error) {
	ctx, stop := context.WithCancel(s.parent)
	p := stage{name: name, stop: stop, done: make(chan error, 1)}
	s.parts = append(s.parts, p)
	go func() {
		err := run(ctx)
		if err == nil && ctx.Err() == nil {
			err = fmt.Errorf("ended by itself")
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			s.fail(err)
		}
		p.done <- err
	}()
}

// Stop ends the parts, the last started first, and returns the first failure.
func (s *stages) Stop() error {
	var first error
	for i := len(s.parts) - 1; i >= 0; i-- {
		s.parts[i].stop()
		if err := <-s.parts[i].done; err != nil && first == nil {
			first = err
		}
	}
	s.fail(nil)
	return first
}
