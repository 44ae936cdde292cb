package console

import (
	"context"
	"time"
)

// memo keeps an answer of the store for a while. Of many who ask at once, one asks the
// store and the others wait for it, each within its own deadline.
type memo[T any] struct {
	age  time.Duration
	turn chan struct{} // holds one: who has it may look and ask
	kept *kept[T]
}

type kept[T any] struct {
	value T
	at    time.Time
}

func newMemo[T any](age time.Duration) memo[T] {
	m := memo[T]{age: age, turn: make(chan struct{}, 1), kept: new(kept[T])}
	m.turn <- struct{}{}
	return m
}

// get returns what is kept, or what ask returns. A failure is not kept: with it comes what
// was kept before, and of when that is.
func (m memo[T]) get(ctx context.Context, now func() time.Time, ask func(context.Context) (T, error)) (T, time.Time, error) {
	select {
	case <-m.turn:
	case <-ctx.Done():
		var none T
		return none, time.Time{}, ctx.Err()
	}
	defer func() { m.turn <- struct{}{} }()
	if !m.kept.at.IsZero() && now().Sub(m.kept.at) < m.age {
		return m.kept.value, m.kept.at, nil
	}
	value, err := ask(ctx)
	if err == nil {
		m.kept.value, m.kept.at = value, now()
	}
	return m.kept.value, m.kept.at, err
}
