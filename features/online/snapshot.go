// Package online keeps the latest row of every entity in memory, by column, and serves
// look-ups from it without a lock. It is filled from a source of rows alone, so a restart
// needs no state of its own, and it goes on serving, with honest ages, while the source
// is away.
package online

import (
	"fmt"
	"math"
	"slices"

	"sextant/features"
)

// Snapshot is the latest row of each entity of one view at one moment. It never changes.
// Columns are as in features.Rows, one row an entity.
type Snapshot struct {
	features.Rows
	Newest int64 // unix ms, the highest tick; 0 when there is no row
	oldest int64
	index  map[string]int32 // entity to row; shared by snapshots with the same entities
	epoch  int64            // of index
}

func newSnapshot(v *features.View) *Snapshot {
	s := &Snapshot{index: map[string]int32{}}
	s.View = v
	s.Flags = []uint16{}
	s.Keys = make([][]string, len(v.Keys))
	s.Cols = make([]features.Column, len(v.Features))
	for f := range v.Features {
		if v.Features[f].DType == features.String {
			s.Cols[f].Str = []string{}
		}
	}
	return s
}

// Len is the number of entities.
func (s *Snapshot) Len() int { return len(s.Tick) }

// Epoch numbers the entities of a view: two snapshots of one store and view with the same
// epoch have the same entities in the same rows.
func (s *Snapshot) Epoch() int64 { return s.epoch }

// Find appends to dst, for each entity, its row or -1. keys[k] holds the values of
// View.Keys[k], all of one length.
func (s *Snapshot) Find(dst []int32, keys [][]string) []int32 {
	var buf [256]byte
	for i := range keys[0] {
		var row int32
		var ok bool
		if len(keys) == 1 {
			row, ok = s.index[keys[0][i]]
		} else {
			row, ok = s.index[string(appendKey(buf[:0], keys, i))]
		}
		if !ok {
			row = -1
		}
		dst = append(dst, row)
	}
	return dst
}

// RowStatus of a row at now, in unix ms: Present, NotFound or OutsideMaxAge. Row is as
// Find gave it.
func (s *Snapshot) RowStatus(row int32, now int64) features.Status {
	if row < 0 {
		return features.NotFound
	}
	return s.View.RowStatus(true, s.Tick[row], now)
}

// appendKey joins the key values of row i. Each but the last is followed by a byte that
// UTF-8 never holds, so that no two entities join to the same text.
func appendKey(dst []byte, keys [][]string, i int) []byte {
	for k := range keys {
		if k > 0 {
			dst = append(dst, 0xff)
		}
		dst = append(dst, keys[k][i]...)
	}
	return dst
}

// merge is the snapshot with rows put in and what is older than cutoff (unix ms) left
// out. A row replaces the entity's row if it describes a later tick, or the same tick and
// was known later. Where nothing changes it returns s itself, and copies nothing.
func (s *Snapshot) merge(rows *features.Rows, cutoff int64) (*Snapshot, error) {
	if err := checkShape(s.View, rows); err != nil {
		return nil, err
	}
	expire := s.Len() > 0 && s.oldest < cutoff
	replace, add := s.news(rows, cutoff)
	if !expire && len(replace) == 0 && len(add) == 0 {
		return s, nil
	}
	n := s.clone(len(add))
	for from, to := range replace {
		n.set(int(to), rows, from)
	}
	for _, from := range add {
		n.push(rows, from)
	}
	if len(add) > 0 {
		n.reindex()
	}
	if expire {
		n.expire(cutoff)
	}
	n.bounds()
	return n, nil
}

// news sorts rows into those that replace one of s and those of entities that are new.
// Of several rows of one entity the latest counts.
func (s *Snapshot) news(rows *features.Rows, cutoff int64) (replace map[int]int32, add []int) {
	replace = make(map[int]int32)
	best := make(map[int32]int)      // row of s to the row that replaces it
	fresh := make(map[string]int, 0) // new entity to its row
	var buf []byte
	for i, tick := range rows.Tick {
		if tick < cutoff {
			continue
		}
		buf = appendKey(buf[:0], rows.Keys, i)
		if row, ok := s.index[string(buf)]; ok {
			if !later(tick, rows.Known[i], s.Tick[row], s.Known[row]) {
				continue
			}
			if j, ok := best[row]; !ok || later(tick, rows.Known[i], rows.Tick[j], rows.Known[j]) {
				best[row] = i
			}
			continue
		}
		if j, ok := fresh[string(buf)]; !ok || later(tick, rows.Known[i], rows.Tick[j], rows.Known[j]) {
			fresh[string(buf)] = i
		}
	}
	for row, i := range best {
		replace[i] = row
	}
	for _, i := range fresh {
		add = append(add, i)
	}
	slices.Sort(add)
	return replace, add
}

func later(tick, known, oldTick, oldKnown int64) bool {
	return tick > oldTick || tick == oldTick && known > oldKnown
}

// checkShape keeps a source that answers with another layout from being served as if
// it were this one.
func checkShape(v *features.View, rows *features.Rows) error {
	n := len(rows.Tick)
	ok := len(rows.Known) == n && (rows.Flags == nil || len(rows.Flags) == n) && len(rows.Keys) == len(v.Keys) && len(rows.Cols) == len(v.Features)
	for k := 0; ok && k < len(rows.Keys); k++ {
		ok = len(rows.Keys[k]) == n
	}
	for f := 0; ok && f < len(rows.Cols); f++ {
		if v.Features[f].DType == features.String {
			ok = len(rows.Cols[f].Str) == n
		} else {
			ok = len(rows.Cols[f].Num) == n
		}
	}
	if !ok {
		return fmt.Errorf("rows of %s have another shape than the view", v.Ref())
	}
	return nil
}

func (s *Snapshot) bounds() {
	s.Newest, s.oldest = 0, math.MaxInt64
	for _, t := range s.Tick {
		s.Newest, s.oldest = max(s.Newest, t), min(s.oldest, t)
	}
}
