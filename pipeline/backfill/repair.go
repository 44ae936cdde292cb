package backfill

import (
	"context"
	"errors"
	"time"

	"sextant/features"
)

// Late is an hour of a node with samples that came too late for the rows.
type Late struct {
	Node  string
	Hour  int64  // unix ms, of their scrapes
	Count uint64 // late samples
}

// Repairs is a store that knows which late samples are in no corrected row yet.
type Repairs interface {
	Store
	// Closed is the time before which all ticks are closed and stored, unix ms.
	Closed(ctx context.Context, lateness time.Duration) (int64, error)
	// Pending lists hours that begin before a time, unix ms, the oldest first, no more than
	// limit; those whose repair failed lately are left out. again lists repaired ones too.
	Pending(ctx context.Context, before int64, limit int, again bool) ([]Late, error)
	// Span is the first and the last event time of late samples, 0 where there are none.
	Span(ctx context.Context, l Late) (first, last int64, err error)
	// Repaired notes how a repair ended.
	Repaired(ctx context.Context, l Late, c Counts, failure error) error
}

// RepairConfig says what is repaired.
type RepairConfig struct {
	Views    []*features.View // those that the store computes are left out
	Lateness time.Duration
	Limit    int  // hours of nodes in one round
	Again    bool // what is repaired, too
	Now      func() time.Time
}

// RepairCounts says what a round did.
type RepairCounts struct {
	Done, Failed, Rows int
	More               bool // there is more to repair now
}

// Repair does one round: each hour of a node whose late samples can reach no further tick that
// is still open. Every tick from the first late sample to the longest window after the last
// is computed again, with them, and kept where that changes it.
func Repair(ctx context.Context, store Repairs, cfg RepairConfig) (RepairCounts, error) {
	var done RepairCounts
	views := streamed(cfg.Views)
	probe, err := NewReplay(views, time.Minute, 10*time.Second, 1)
	if err != nil {
		return done, err
	}
	closed, err := store.Closed(ctx, cfg.Lateness)
	if err != nil {
		return done, err
	}
	hour := time.Hour.Milliseconds()
	all, err := store.Pending(ctx, closed-probe.History()-hour, cfg.Limit, cfg.Again)
	if err != nil {
		return done, err
	}
	done.More = len(all) == cfg.Limit
	for _, l := range all {
		c, err := repairOne(ctx, store, cfg, views, l, probe.History())
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if noted := store.Repaired(ctx, l, c, err); noted != nil {
			return done, errors.Join(err, noted)
		}
		if err != nil {
			done.Failed++
			continue
		}
		done.Done++
		done.Rows += c.Stored
	}
	return done, nil
}

func streamed(views []*features.View) (out []*features.View) {
	for _, v := range views {
		if v.Streamed() {
			out = append(out, v)
		}
	}
	return out
}

func repairOne(ctx context.Context, store Repairs, cfg RepairConfig, views []*features.View, l Late, history int64) (Counts, error) {
	first, last, err := store.Span(ctx, l)
	if err != nil || last == 0 {
		return Counts{}, err
	}
	p, err := Run(ctx, store, Config{
		Views: views, Nodes: []string{l.Node}, From: first + 1, To: last + history + 1,
		Lateness: cfg.Lateness, Corrects: true, Known: cfg.Now().UnixMilli(),
	})
	return p.Counts, err
}
