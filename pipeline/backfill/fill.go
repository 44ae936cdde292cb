package backfill

import (
	"math"

	"sextant/features"
)

// Counts says what became of the rows that were computed.
type Counts struct {
	Rows   int // computed
	Stored int // of them, given to the store
	Same   int // of them, there already
	Filled int // values that were NULL in a row that is stored
	Differ int // values that differ from the stored ones, which stay
}

func (c *Counts) add(d Counts) {
	c.Rows += d.Rows
	c.Stored += d.Stored
	c.Same += d.Same
	c.Filled += d.Filled
	c.Differ += d.Differ
}

// fill leaves the rows to store. A row that is there keeps its known time and every value
// that it has: somebody may have read it. Only what is NULL in it is filled.
func fill(fresh, have *features.Rows) Counts {
	c := Counts{Rows: len(fresh.Tick)}
	if len(have.Tick) == 0 {
		c.Stored = c.Rows
		return c
	}
	there := index(have)
	keep := make([]bool, len(fresh.Tick))
	for i := range fresh.Tick {
		j, ok := there[rowKey(fresh, i)]
		if !ok {
			keep[i] = true
			continue
		}
		filled, differ := fillRow(fresh, i, have, j)
		keep[i] = filled > 0
		c.Filled += filled
		c.Differ += differ
	}
	fresh.Keep(keep)
	c.Stored = len(fresh.Tick)
	c.Same = c.Rows - c.Stored
	return c
}

func fillRow(fresh *features.Rows, i int, have *features.Rows, j int) (filled, differ int) {
	fresh.Known[i] = have.Known[j]
	if fresh.Flags == nil {
		fresh.Flags = make([]uint16, len(fresh.Tick))
	}
	fresh.Flags[i] = have.Flag(j)
	for k := range fresh.Cols {
		f, h := &fresh.Cols[k], &have.Cols[k]
		switch {
		case equal(f, i, h, j):
			continue
		case null(h, j):
			filled++
			continue
		}
		differ++
		if f.Str != nil {
			f.Str[i] = h.Str[j]
		} else {
			f.Num[i] = h.Num[j]
		}
	}
	return filled, differ
}

// changed leaves the rows that are not what is stored.
func changed(fresh, have *features.Rows) Counts {
	c := Counts{Rows: len(fresh.Tick)}
	if len(have.Tick) == 0 {
		c.Stored = c.Rows
		return c
	}
	there := index(have)
	keep := make([]bool, len(fresh.Tick))
	for i := range fresh.Tick {
		j, ok := there[rowKey(fresh, i)]
		keep[i] = !ok
		for k := range fresh.Cols {
			if ok && !equal(&fresh.Cols[k], i, &have.Cols[k], j) {
				keep[i] = true
				c.Differ++
			}
		}
	}
	fresh.Keep(keep)
	c.Stored = len(fresh.Tick)
	c.Same = c.Rows - c.Stored
	return c
}

func index(r *features.Rows) map[string]int {
	out := make(map[string]int, len(r.Tick))
	for i := range r.Tick {
		out[rowKey(r, i)] = i
	}
	return out
}

// rowKey is keys and tick. A byte that UTF-8 never holds ends each key.
func rowKey(r *features.Rows, i int) string {
	var buf [128]byte
	b := buf[:0]
	for k := range r.Keys {
		b = append(append(b, r.Keys[k][i]...), 0xff)
	}
	for s := 0; s < 64; s += 8 {
		b = append(b, byte(r.Tick[i]>>s))
	}
	return string(b)
}

func null(c *features.Column, i int) bool {
	if c.Str != nil {
		return c.Str[i] == ""
	}
	return math.IsNaN(c.Num[i])
}

// equal compares bits; NULL equals NULL.
func equal(a *features.Column, i int, b *features.Column, j int) bool {
	if a.Str != nil {
		return a.Str[i] == b.Str[j]
	}
	return math.Float64bits(a.Num[i]) == math.Float64bits(b.Num[j]) || null(a, i) && null(b, j)
}
