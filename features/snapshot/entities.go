package snapshot

import (
	"slices"
	"strings"

	"sextant/features"
)

// entities are the rows of several views side by side: the union of their entities, in the
// order of their keys, so that every replica has the same row in the same place.
type entities struct {
	n    int
	keys [][]string // keys[k][i] is the value of the plan's join key k
	rows [][]int32  // rows[v][i] is the row in view v, or -1

	blobs [][]byte // of keys, as the flat file has them; made by keyBlobs
}

// align finds the union. sorted[v] is the order of the rows of view v by key.
func align(p *plan, rows []*features.Rows, sorted [][]int32) *entities {
	longest := 0
	for _, order := range sorted {
		longest = max(longest, len(order))
	}
	e := &entities{keys: make([][]string, len(p.keys)), rows: make([][]int32, len(rows))}
	for k := range e.keys {
		e.keys[k] = make([]string, 0, longest)
	}
	for v := range e.rows {
		e.rows[v] = make([]int32, 0, longest)
	}
	next := make([]int, len(rows)) // place in sorted, by view
	for {
		least := -1
		for v := range rows {
			if next[v] < len(sorted[v]) && (least < 0 ||
				p.compare(rows[v], v, sorted[v][next[v]], rows[least], least, sorted[least][next[least]]) < 0) {
				least = v
			}
		}
		if least < 0 {
			return e
		}
		row := sorted[least][next[least]]
		for v := range rows {
			at := int32(-1)
			if next[v] < len(sorted[v]) && (v == least || p.compare(rows[v], v, sorted[v][next[v]], rows[least], least, row) == 0) {
				at = sorted[v][next[v]]
				next[v]++
			}
			e.rows[v] = append(e.rows[v], at)
		}
		for k := range e.keys {
			e.keys[k] = append(e.keys[k], rows[least].Keys[p.keyOf[least][k]][row])
		}
		e.n++
	}
}

// compare orders a row of view v and one of view w by the plan's keys.
func (p *plan) compare(a *features.Rows, v int, i int32, b *features.Rows, w int, j int32) int {
	for k := range p.keys {
		if c := strings.Compare(a.Keys[p.keyOf[v][k]][i], b.Keys[p.keyOf[w][k]][j]); c != 0 {
			return c
		}
	}
	return 0
}

// sort is the order of a view's rows by key. Most are in order: the store answers by key, and who
// came later stands behind.
func (p *plan) sort(v int, rows *features.Rows) []int32 {
	order := make([]int32, len(rows.Tick))
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(i, j int32) int { return p.compare(rows, v, i, rows, v, j) }
	sorted := 1
	for sorted < len(order) && compare(order[sorted-1], order[sorted]) <= 0 {
		sorted++
	}
	if sorted >= len(order) {
		return order
	}
	slices.SortFunc(order[sorted:], compare)
	return mergeRuns(order[:sorted], order[sorted:], compare)
}

// mergeRuns is two lists in order as one.
func mergeRuns(a, b []int32, compare func(i, j int32) int) []int32 {
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// only is the entities that keep names.
func (e *entities) only(keep []bool) *entities {
	out := &entities{keys: make([][]string, len(e.keys)), rows: make([][]int32, len(e.rows))}
	for i, ok := range keep {
		if !ok {
			continue
		}
		out.n++
		for k := range e.keys {
			out.keys[k] = append(out.keys[k], e.keys[k][i])
		}
		for v := range e.rows {
			out.rows[v] = append(out.rows[v], e.rows[v][i])
		}
	}
	return out
}
