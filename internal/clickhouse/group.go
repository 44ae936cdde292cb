package clickhouse

import (
	"fmt"
	"strings"
	"sync"

	"sextant/features"
	"sextant/pipeline"
)

// request is one Write that waits.
type request struct {
	batch  *pipeline.Batch
	origin string // of batch, for errors and tokens
	rows   int
	done   chan error // receives the outcome, once

	mu   sync.Mutex // held while batch is read
	gone bool       // the writer stopped waiting: batch may be changing by now
}

// group is what several requests want stored, in the sink's own memory: by table, sorted
// and without copies. It outlives the batches it was made from, and shares only feature rows
// with them, which nobody changes.
type group struct {
	origin  string // topic/partition@first-last of every batch
	samples *sampleColumns
	series  []pipeline.SeriesRow
	views   []*viewRows
	faults  []faultRow
	dead    []deadRow
	ledger  []pipeline.LedgerRow

	duplicates int // samples left out
}

// gather copies the batches of reqs whose writers still wait. Samples go to buf, which
// the group uses until it is stored.
func gather(reqs []*request, buf *sampleColumns) *group {
	buf.reset()
	g := &group{samples: buf}
	var origin strings.Builder
	views := make(map[viewOrigin]*viewRows)
	for _, r := range reqs {
		r.mu.Lock()
		if !r.gone {
			g.add(r.batch, views)
			if origin.Len() > 0 {
				origin.WriteByte(' ')
			}
			origin.WriteString(r.origin)
		}
		r.mu.Unlock()
	}
	g.origin = origin.String()
	g.duplicates = buf.sort()
	return g
}

// viewOrigin is rows that one insert may hold.
type viewOrigin struct {
	view   *features.View
	origin features.Origin
}

func originOf(b *pipeline.Batch) string {
	return fmt.Sprintf("%s/%d@%d-%d", b.Topic, b.Partition, b.First, b.Last)
}

func (g *group) add(b *pipeline.Batch, views map[viewOrigin]*viewRows) {
	g.samples.add(&b.Samples)
	g.series = append(g.series, b.Series...)
	for _, r := range b.Rows {
		if len(r.Tick) == 0 {
			continue
		}
		key := viewOrigin{r.View, r.Origin}
		all, ok := views[key]
		if !ok {
			all = &viewRows{viewOrigin: key}
			views[key] = all
			g.views = append(g.views, all)
		}
		all.add(r)
	}
	g.faults = append(g.faults, faultsOfBatch(b)...)
	for _, d := range b.Dead {
		g.dead = append(g.dead, deadRow{b.Topic, d})
	}
	g.ledger = append(g.ledger, b.Ledger...)
}

// batchRows counts what is to be stored, and checks that columns are equally long: the
// server would take a block of ragged columns for a broken connection.
func batchRows(b *pipeline.Batch) (int, error) {
	s, n := &b.Samples, len(b.Samples.Series)
	if len(s.Time) != n || len(s.Value) != n || len(s.Flags) != n {
		return 0, fmt.Errorf("samples: %d series, %d times, %d values, %d flags", n, len(s.Time), len(s.Value), len(s.Flags))
	}
	rows := n + len(b.Series) + len(b.Ledger) + len(b.Dead)
	for _, r := range b.Rows {
		if err := checkRows(r); err != nil {
			return 0, err
		}
		rows += len(r.Tick)
	}
	return rows, nil
}

func checkRows(r *features.Rows) error {
	n := len(r.Tick)
	if len(r.Keys) != len(r.View.Keys) || len(r.Cols) != len(r.View.Features) || len(r.Known) != n || r.Flags != nil && len(r.Flags) != n {
		return fmt.Errorf("rows of %s: %d keys, %d columns, %d known times, %d flags for %d rows",
			r.View.Name, len(r.Keys), len(r.Cols), len(r.Known), len(r.Flags), n)
	}
	for k, col := range r.Keys {
		if len(col) != n {
			return fmt.Errorf("rows of %s: %d values of key %s for %d rows", r.View.Name, len(col), r.View.Keys[k], n)
		}
	}
	for f, col := range r.Cols {
		have := len(col.Num)
		if r.View.Features[f].DType == features.String {
			have = len(col.Str)
		}
		if have != n {
			return fmt.Errorf("rows of %s: %d values of %s for %d rows", r.View.Name, have, r.View.Features[f].Name, n)
		}
	}
	return nil
}
