// Package stateless carries records that stand for themselves, such as an inventory
// document or a task event, from a topic to the store. There is no state between them, so a
// partition is read, decoded, stored and committed in turns.
package stateless

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sextant/schema/wire"
)

// DeadLetter is a record that can never be read, copied, with the reason.
type DeadLetter struct {
	Record wire.Record
	Reason string
}

// Source is one partition of the topic.
type Source interface {
	// Fetch returns the next records, or none after a while. They are valid until the next
	// Fetch.
	Fetch(ctx context.Context) ([]wire.Record, error)
	// Commit makes a restart begin at next.
	Commit(ctx context.Context, next int64) error
}

// Keep stores dead letters durably.
type Keep func(ctx context.Context, dead []DeadLetter) error

// Config says how records become rows and how much is gathered for one write. All fields
// but Log are needed.
type Config[Row any] struct {
	What     string // the records in messages: "task events"
	MaxRows  int
	MaxDelay time.Duration

	// Decode reads a record. An error says that it can never be read. What it keeps of the
	// record it copies.
	Decode func(*wire.Record) (Row, error)
	// Write returns when the rows are durable. Rows that are written again replace
	// themselves.
	Write func(ctx context.Context, rows []Row) error
	Dead  Keep
	// Count is told what became of the records, once they are committed.
	Count func(rows []Row, dead int)
	Log   *slog.Logger
}

// Run reads until ctx ends or a part fails. It commits only what is stored.
func Run[Row any](ctx context.Context, src Source, cfg Config[Row]) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	b := &batch[Row]{cfg: &cfg}
	for {
		records, err := src.Fetch(ctx)
		if err != nil {
			return err // what is gathered is read again by the next owner of the partition
		}
		for i := range records {
			b.add(&records[i])
		}
		if len(b.rows)+len(b.dead) >= cfg.MaxRows || b.next > 0 && time.Since(b.began) >= cfg.MaxDelay {
			if err := b.flush(ctx, src); err != nil {
				return err
			}
		}
	}
}

// batch is what is stored and committed together.
type batch[Row any] struct {
	cfg   *Config[Row]
	rows  []Row
	dead  []DeadLetter
	next  int64 // offset to commit; 0: the batch is empty
	began time.Time
}

func (b *batch[Row]) add(r *wire.Record) {
	if b.next == 0 {
		b.began = time.Now()
	}
	b.next = r.Offset + 1
	row, err := b.cfg.Decode(r)
	if err != nil {
		b.dead = append(b.dead, DeadLetter{Record: r.Clone(), Reason: err.Error()})
		return
	}
	b.rows = append(b.rows, row)
}

func (b *batch[Row]) flush(ctx context.Context, src Source) error {
	if len(b.rows) > 0 {
		if err := b.cfg.Write(ctx, b.rows); err != nil {
			return fmt.Errorf("store %d %s: %w", len(b.rows), b.cfg.What, err)
		}
	}
	if len(b.dead) > 0 {
		if err := b.cfg.Dead(ctx, b.dead); err != nil {
			return err
		}
		d := &b.dead[0]
		b.cfg.Log.Warn(b.cfg.What+" cannot be read", "count", len(b.dead), "key", string(d.Record.Key), "partition", d.Record.Partition,
			"offset", d.Record.Offset, "reason", d.Reason)
	}
	if err := src.Commit(ctx, b.next); err != nil {
		return fmt.Errorf("commit %d: %w", b.next, err)
	}
	b.cfg.Count(b.rows, len(b.dead))
	*b = batch[Row]{cfg: b.cfg}
	return nil
}
