package evaluate

import (
	"math"

	"github.com/prometheus/prometheus/promql"

	"sextant/features"
)

func newRows(v *features.View) *features.Rows {
	return &features.Rows{
		View: v,
		Keys: make([][]string, len(v.Keys)),
		Cols: make([]features.Column, len(v.Features)),
	}
}

// rowIndex finds the row of an entity while the features of one group are evaluated one
// after another.
type rowIndex struct {
	rows        *features.Rows
	tick, known int64
	first       int            // the group's first row
	byKey       map[string]int // joined keys to row
	values      []uint32       // values per row, from first
	answers     []uint8        // results of the present feature per row, from first
	key         []byte

	def    *features.Feature
	col    int
	counts *Counts
}

func (x *rowIndex) begin(rows *features.Rows, tick, known int64) {
	x.rows, x.tick, x.known, x.first = rows, tick, known, len(rows.Tick)
	if x.byKey == nil {
		x.byKey = map[string]int{}
	}
	clear(x.byKey)
	x.values, x.answers = x.values[:0], x.answers[:0]
}

// feature begins the results of a feature.
func (x *rowIndex) feature(f *features.Feature, col int, c *Counts) {
	x.def, x.col, x.counts = f, col, c
	clear(x.answers)
}

// put stores one result of the present feature, or counts why not.
func (x *rowIndex) put(s *promql.Sample) {
	row, ok := x.row(s)
	if !ok {
		x.counts.ExtraLabels++
		return
	}
	i := row - x.first
	col := &x.rows.Cols[x.col]
	if x.answers[i]++; x.answers[i] > 1 {
		// Neither of two answers is the right one. The first is taken back.
		if x.answers[i] == 2 {
			x.counts.Duplicates++
			x.clear(col, row)
		}
		x.answers[i] = 2
		return
	}
	if x.def.DType == features.String {
		col.Str[row] = s.Metric.Get(x.def.Label)
		if col.Str[row] != "" {
			x.values[i]++
		}
		return
	}
	col.Num[row] = x.number(s.F)
	if !math.IsNaN(col.Num[row]) {
		x.values[i]++
	}
}

// putAll gives a scalar to every entity of the group that has a value of its own.
func (x *rowIndex) putAll(v float64) {
	num := x.number(v)
	for i, n := range x.values {
		if n > 0 {
			x.rows.Cols[x.col].Num[x.first+i] = num
		}
	}
}

func (x *rowIndex) number(v float64) float64 {
	num, ok := convert(x.def, v)
	if !ok {
		x.counts.OutOfRange++
	}
	return num
}

// clear makes the present feature NULL in a row.
func (x *rowIndex) clear(col *features.Column, row int) {
	if x.def.DType == features.String {
		if col.Str[row] != "" {
			x.values[row-x.first]--
		}
		col.Str[row] = ""
		return
	}
	if !math.IsNaN(col.Num[row]) {
		x.values[row-x.first]--
	}
	col.Num[row] = math.NaN()
}

// row returns the row of a result's entity. A result belongs to an entity only when its
// labels are exactly the view's keys, and the value's label for a String feature.
func (x *rowIndex) row(s *promql.Sample) (int, bool) {
	keys := x.rows.View.Keys
	want := len(keys)
	if x.def.DType == features.String {
		want++
		if !s.Metric.Has(x.def.Label) {
			return 0, false
		}
	}
	if s.Metric.Len() != want {
		return 0, false
	}
	x.key = x.key[:0]
	for _, k := range keys {
		v := s.Metric.Get(k)
		if v == "" {
			return 0, false
		}
		x.key = append(append(x.key, v...), 0xff)
	}
	if row, ok := x.byKey[string(x.key)]; ok {
		return row, true
	}
	return x.add(s), true
}

func (x *rowIndex) add(s *promql.Sample) int {
	r := x.rows
	row := len(r.Tick)
	x.byKey[string(x.key)] = row
	r.Tick = append(r.Tick, x.tick)
	r.Known = append(r.Known, x.known)
	for k, name := range r.View.Keys {
		r.Keys[k] = append(r.Keys[k], s.Metric.Get(name))
	}
	for c := range r.Cols {
		if r.View.Features[c].DType == features.String {
			r.Cols[c].Str = append(r.Cols[c].Str, "")
			continue
		}
		r.Cols[c].Num = append(r.Cols[c].Num, math.NaN())
	}
	x.values = append(x.values, 0)
	x.answers = append(x.answers, 0)
	return row
}

// end takes out the group's rows that got no value.
func (x *rowIndex) end() {
	to := x.first
	for i, n := range x.values {
		if n == 0 {
			continue
		}
		if from := x.first + i; from != to {
			move(x.rows, to, from)
		}
		to++
	}
	truncate(x.rows, to)
}

func move(r *features.Rows, to, from int) {
	r.Tick[to], r.Known[to] = r.Tick[from], r.Known[from]
	for k := range r.Keys {
		r.Keys[k][to] = r.Keys[k][from]
	}
	for c := range r.Cols {
		if col := &r.Cols[c]; col.Str != nil {
			col.Str[to] = col.Str[from]
		} else {
			col.Num[to] = col.Num[from]
		}
	}
}

func truncate(r *features.Rows, n int) {
	r.Tick, r.Known = r.Tick[:n], r.Known[:n]
	for k := range r.Keys {
		r.Keys[k] = r.Keys[k][:n]
	}
	for c := range r.Cols {
		if col := &r.Cols[c]; col.Str != nil {
			col.Str = col.Str[:n]
		} else {
			col.Num = col.Num[:n]
		}
	}
}
