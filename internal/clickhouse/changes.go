package clickhouse

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"sextant/features"
	"sextant/pipeline"
)

// tellAgain is how long a change of an hour need not be told again.
const tellAgain = time.Minute

// changes tells which hours of views are written to long after their ticks, so that what was
// measured of them is measured again.
type changes struct {
	db *DB

	mu   sync.Mutex
	told map[hourOf]time.Time // guarded by mu
}

type hourOf struct {
	view string
	hour int64 // unix s
}

func newChanges(db *DB) *changes { return &changes{db: db, told: map[hourOf]time.Time{}} }

// tell notes the hours of rows. It is called before and after they are written: of a writer that
// is killed in between the first stays.
func (c *changes) tell(ctx context.Context, all ...*features.Rows) error {
	fresh := c.fresh(all)
	if len(fresh) == 0 {
		return nil
	}
	views, hours, ats := make([]string, len(fresh)), make([]time.Time, len(fresh)), make([]int64, len(fresh))
	for i, h := range fresh {
		views[i], hours[i], ats[i] = h.view, time.Unix(h.hour, 0).UTC(), time.Now().UnixMilli()
	}
	st := &step{table: changesTable, rows: len(fresh), token: token(changesTable.name, fmt.Sprint(ats[0], fresh), 0), append: func(w *columnWriter) {
		w.add(views)
		w.add(hours)
		w.add(ats)
	}}
	if err := c.db.attempt(ctx, st); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range fresh {
		c.told[h] = time.Now()
	}
	return nil
}

// fresh are the hours of rows that were not told of lately. The others are forgotten in time.
func (c *changes) fresh(all []*features.Rows) (out []hourOf) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for h, at := range c.told {
		if time.Since(at) > tellAgain {
			delete(c.told, h)
		}
	}
	seen := map[hourOf]bool{}
	for _, r := range all {
		last := hourOf{view: r.View.Ref(), hour: math.MinInt64}
		for _, tick := range r.Tick {
			h := hourOf{last.view, tick/1000 - tick/1000%3600}
			if h.hour == last.hour {
				continue
			}
			last = h
			if _, ok := c.told[h]; !ok && !seen[h] {
				seen[h] = true
				out = append(out, h)
			}
		}
	}
	return out
}

var changesTable = &table{"feature_changes", columns("view", "String", "hour", "DateTime('UTC')", "at", timestamp)}

// faultRow is how many values of a feature a tick gave that are out of range.
type faultRow struct {
	view, feature string
	tick          int64 // unix ms
	source        string
	refused       uint64
}

var faultsTable = &table{"feature_faults", columns("view", "String", "feature", "String", "tick", timestamp, "source", "String", "refused", "UInt64")}

// faultsOf are those of rows of one tick. Repaired rows have none: what they refuse was refused
// at the tick.
func faultsOf(r *features.Rows, tick int64, source string) (out []faultRow) {
	if r.Origin == features.Repair {
		return nil
	}
	for i, n := range r.OutOfRange {
		if n > 0 {
			out = append(out, faultRow{r.View.Ref(), r.View.Features[i].Name, tick, source, n})
		}
	}
	return out
}

// faultsOfBatch are those of a batch: the rows of a view and a tick are one of its Rows.
func faultsOfBatch(b *pipeline.Batch) (out []faultRow) {
	for _, r := range b.Rows {
		if len(r.Tick) > 0 {
			out = append(out, faultsOf(r, r.Tick[0], fmt.Sprintf("%s/%d", b.Topic, b.Partition))...)
		}
	}
	return out
}

func hashFaults(h *hasher, rows []faultRow) {
	for i := range rows {
		h.strs(rows[i].view, rows[i].feature, rows[i].source)
		h.nums(rows[i].tick, int64(rows[i].refused))
	}
}

func appendFaults(w *columnWriter, rows []faultRow) {
	w.add(collect(rows, func(r *faultRow) string { return r.view }))
	w.add(collect(rows, func(r *faultRow) string { return r.feature }))
	w.add(collect(rows, func(r *faultRow) int64 { return r.tick }))
	w.add(collect(rows, func(r *faultRow) string { return r.source }))
	w.add(collect(rows, func(r *faultRow) uint64 { return r.refused }))
}
