package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// drain is how long a contender gets to deliver what it holds when nothing more is scraped: Telegraf
// hands on once in an interval.
const drain = 5 * time.Second

// measure runs one program over whole intervals, so that each target is scraped equally often in
// what is measured.
func (b *bench) measure(ctx context.Context, p program, w Workload, intervals int) (row Row, err error) {
	dir, err := os.MkdirTemp("", "sextant-bench-agent-")
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	pages, err := servePages(w.Nodes, p.jobs(), b.Gzip)
	if err != nil {
		return row, err
	}
	defer pages.close()
	to, err := p.sink(ctx, dir)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	args, err := p.start(dir, to.addr, targets{pages.addrs, b.Interval.String()})
	if err != nil {
		return row, err
	}
	proc, err := startProcess(p.path, args, dir)
	if err != nil {
		return row, err
	}
	defer proc.stop()
	if !w.Together {
		fmt.Fprintf(b.progress, "  %s: %s\n", p.name, time.Duration(b.Warm+intervals)*b.Interval)
	}
	row, err = b.window(ctx, proc, pages, to, intervals)
	row.Name, row.Sends, row.Own, row.Binary = p.name, p.sends, p.reads != nil, p.bytes
	if err == nil && p.sends {
		row.Verdict, err = b.settle(ctx, proc, pages, to, p.reads != nil)
	}
	return row, err
}

// jobs are what the contender scrapes.
func (c contender) jobs() (out []job) {
	for _, j := range jobs {
		wanted := c.reads == nil
		for _, name := range c.reads {
			wanted = wanted || name == j.name
		}
		if wanted {
			out = append(out, j)
		}
	}
	return out
}

// window is what the process costs over the measured intervals.
func (b *bench) window(ctx context.Context, proc *process, pages *pages, to *sink, intervals int) (row Row, err error) {
	if err := proc.wait(ctx, time.Duration(b.Warm)*b.Interval); err != nil {
		return row, err
	}
	cpu, scraped := proc.cpu(), pages.total().samples
	before, err := to.read()
	if err != nil {
		return row, err
	}
	if err := proc.wait(ctx, time.Duration(intervals)*b.Interval); err != nil {
		return row, err
	}
	row.CPUSeconds, row.Scraped = proc.cpu()-cpu, pages.total().samples-scraped
	row.RSS, row.Anon, row.Peak = proc.memory(intervals * int(b.Interval/time.Second))
	after, err := to.read()
	row.Delivered, row.Bytes = after.all-before.all, after.bytes-before.bytes
	if want := int64(pages.series * intervals); err == nil && row.Scraped < want*9/10 {
		err = fmt.Errorf("scraped %d samples in %d intervals, want about %d: %s", row.Scraped, intervals, want, proc.tail())
	}
	return row, err
}

// settle ends the scrapes and says what became of all samples since the start.
func (b *bench) settle(ctx context.Context, proc *process, pages *pages, to *sink, own bool) (Verdict, error) {
	if err := pages.end(ctx); err != nil {
		return Verdict{}, err
	}
	served := pages.total()
	end := time.Now().Add(b.Interval + drain)
	for {
		got, err := to.read()
		v := Verdict{Served: served.samples, Arrived: got.pages.samples, Unknown: own,
			Same: got.pages.samples == served.samples && got.pages.sum == served.sum, Rounded: got.pages.exact != served.exact}
		if err != nil || v.Same || own || time.Now().After(end) {
			return v, err
		}
		if err := proc.wait(ctx, 200*time.Millisecond); err != nil {
			return v, err
		}
	}
}
