package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"
)

// bench is a run.
type bench struct {
	Options
	progress io.Writer

	mu     sync.Mutex
	failed []Failure // guarded by mu
}

// Failure is a peer without a row, and why.
type Failure struct {
	Name string
	Err  error
}

// program is a contender that is built.
type program struct {
	contender
	path  string
	bytes int64
}

// build builds what is wanted before anything is measured.
func (b *bench) build(ctx context.Context) (out []program, err error) {
	for _, c := range contenders {
		wanted := false
		for _, w := range b.Workloads {
			wanted = wanted || c.wanted(b.Only, w)
		}
		if !wanted {
			continue
		}
		p := program{contender: c}
		if p.path, err = c.binary(ctx, b.Options, b.progress); err == nil {
			p.bytes, err = fileBytes(p.path)
		}
		if err != nil {
			if err := b.miss(ctx, c, err); err != nil {
				return nil, err
			}
			continue
		}
		out = append(out, p)
	}
	return out, nil
}

func fileBytes(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// miss notes why a peer has no row. What is our own fails the run.
func (b *bench) miss(ctx context.Context, c contender, err error) error {
	err = fmt.Errorf("%s: %w", c.name, err)
	if !c.peer || ctx.Err() != nil {
		return err
	}
	fmt.Fprintln(b.progress, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = append(b.failed, Failure{c.name, err})
	return nil
}

// workload measures all programs in one workload. Rounds are the outer loop, so that what disturbs the
// machine for a while disturbs all.
func (b *bench) workload(ctx context.Context, w Workload, programs []program) (Table, error) {
	t := Table{Workload: w, Intervals: b.Intervals}
	if w.Together {
		t.Intervals *= 2
	}
	rounds := make([][]Row, len(programs))
	for round := range b.Rounds {
		fmt.Fprintf(b.progress, "%s, round %d of %d\n", w.Name, round+1, b.Rounds)
		g, ctx := errgroup.WithContext(ctx)
		if !w.Together {
			g.SetLimit(1)
		}
		for i, p := range programs {
			if !p.wanted(b.Only, w) {
				continue
			}
			g.Go(func() error {
				row, err := b.measure(ctx, p, w, t.Intervals)
				if err != nil {
					return b.miss(ctx, p.contender, err)
				}
				rounds[i] = append(rounds[i], row)
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return t, err
		}
	}
	for _, rows := range rounds {
		if len(rows) > 0 {
			t.Rows = append(t.Rows, middle(rows))
		}
	}
	return t, nil
}
