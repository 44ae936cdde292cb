package clickhouse

import (
	"slices"
	"strings"

	"sextant/features"
)

// viewRows are the rows of a view that one insert stores, of several batches. They go in
// the order of the table: by keys, then tick. The server then neither sorts nor permutes
// its columns, and rows compress as it will store them.
type viewRows struct {
	viewOrigin
	parts []*features.Rows
	keys  []dictionary // by key of the view; made by sort
	order []sortKey    // row: among all rows, in the order of parts
}

// dictionary is a column of strings of few different values.
type dictionary struct {
	values []string // sorted
	of     []uint32 // by row: index into values
}

func partOf(r *features.Rows) *viewRows {
	return &viewRows{viewOrigin: viewOrigin{r.View, r.Origin}, parts: []*features.Rows{r}}
}

func (v *viewRows) add(r *features.Rows) { v.parts = append(v.parts, r) }

func (v *viewRows) len() (n int) {
	for _, r := range v.parts {
		n += len(r.Tick)
	}
	return n
}

// step is the insert of the rows, which came from origin.
func (v *viewRows) step(origin string) step {
	t := viewTable(v.view, v.origin)
	h := newHasher()
	for _, r := range v.parts {
		hashRows(h, r)
	}
	return step{table: t, rows: v.len(), bytes: h.bytes, token: token(t.name, origin, h.sum()),
		append: v.append, block: func() *block { return v.block(t.columns) }}
}

func hashRows(h *hasher, r *features.Rows) {
	hashColumn(h, r.Tick)
	hashColumn(h, r.Known)
	hashColumn(h, r.Flags)
	h.num(uint64(r.Origin))
	for _, k := range r.Keys {
		h.strs(k...)
	}
	for i := range r.Cols {
		hashColumn(h, r.Cols[i].Num)
		h.strs(r.Cols[i].Str...)
	}
}

// sort finds the order of the table, once.
func (v *viewRows) sort() {
	if v.order != nil {
		return
	}
	ticks := concat(nil, v.parts, func(r *features.Rows) []int64 { return r.Tick })
	v.order = make([]sortKey, len(ticks))
	swap, first := make([]sortKey, len(ticks)), slices.Min(ticks)
	for i, t := range ticks {
		v.order[i] = sortKey{uint64(t - first), uint32(i)}
	}
	radixSort(&v.order, &swap)
	v.keys = make([]dictionary, len(v.view.Keys))
	for k := len(v.keys) - 1; k >= 0; k-- { // stable: the first key sorts last
		v.keys[k] = v.dictionary(k)
		for i := range v.order {
			v.order[i].series = uint64(v.keys[k].of[v.order[i].row])
		}
		radixSort(&v.order, &swap)
	}
}

// concat puts a column of all parts behind one another, into the memory of dst.
func concat[T any](dst []T, parts []*features.Rows, of func(*features.Rows) []T) []T {
	dst = dst[:0]
	for _, r := range parts {
		dst = append(dst, of(r)...)
	}
	return dst
}

// arrange brings a column into the order of the table.
func arrange[T any](order []sortKey, column []T) []T {
	out := make([]T, len(order))
	for i, k := range order {
		out[i] = column[k.row]
	}
	return out
}

// dictionary makes that of key k. The entities of a tick are mostly those of the one before,
// in the same order and as the same strings, which saves most look-ups.
func (v *viewRows) dictionary(k int) dictionary {
	d := dictionary{of: make([]uint32, 0, v.len())}
	seen := map[string]uint32{}
	var before []string
	var beforeAt int
	for _, r := range v.parts {
		at := len(d.of)
		for i, s := range r.Keys[k] {
			if i < len(before) && before[i] == s {
				d.of = append(d.of, d.of[beforeAt+i])
				continue
			}
			x, ok := seen[s]
			if !ok {
				x = uint32(len(d.values))
				seen[s] = x
				d.values = append(d.values, s)
			}
			d.of = append(d.of, x)
		}
		before, beforeAt = r.Keys[k], at
	}
	d.sort()
	return d
}

// dictionaryOf makes that of a column of n strings. A string is often that of the row before.
func dictionaryOf(n int, of func(row int) string) dictionary {
	d := dictionary{of: make([]uint32, n)}
	seen := map[string]uint32{}
	last, at := "", uint32(0)
	for i := range d.of {
		s := of(i)
		if i == 0 || s != last {
			x, ok := seen[s]
			if !ok {
				x = uint32(len(d.values))
				seen[s] = x
				d.values = append(d.values, s)
			}
			last, at = s, x
		}
		d.of[i] = at
	}
	return d
}

// sort brings the values into their order.
func (d *dictionary) sort() {
	byValue := make([]uint32, len(d.values))
	for i := range byValue {
		byValue[i] = uint32(i)
	}
	slices.SortFunc(byValue, func(a, b uint32) int { return strings.Compare(d.values[a], d.values[b]) })
	values, rank := make([]string, len(d.values)), make([]uint32, len(d.values))
	for to, from := range byValue {
		values[to], rank[from] = d.values[from], uint32(to)
	}
	d.values = values
	for i, x := range d.of {
		d.of[i] = rank[x]
	}
}
