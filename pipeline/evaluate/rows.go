package evaluate

import (
	"math"

	"github.com/prometheus/prometheus/promql"

	"sextant/features"
	"sextant/pipeline/compile"
)

// newRows returns rows with room for n of them.
func newRows(v *features.View, n int) *features.Rows {
	r := &features.Rows{
		View: v, Tick: make([]int64, 0, n), Known: make([]int64, 0, n),
		Keys: make([][]string, len(v.Keys)),
		Cols: make([]features.Column, len(v.Features)),
	}
	for k := range r.Keys {
		r.Keys[k] = make([]string, 0, n)
	}
	nums := make([]float64, n*len(v.Features))
	for c := range r.Cols {
		if v.Features[c].DType == features.String {
			r.Cols[c].Str = make([]string, 0, n)
		} else {
			r.Cols[c].Num, nums = nums[:0:n], nums[n:]
		}
	}
	return r
}

// rowIndex finds the row of an entity while the features of one group are evaluated one
// after another.
type rowIndex struct {
	rows        *features.Rows
	entities    *entities
	tick, known int64
	first       int      // the group's first row
	row         []int32  // by entity: 1 + its row, from first; 0 for none
	values      []uint32 // values per row, from first
	answers     []uint8  // results of the present feature per row, from first

	def    *features.Feature
	col    int
	counts *Counts
}

func (x *rowIndex) begin(rows *features.Rows, e *entities, tick, known int64) {
	x.rows, x.entities, x.tick, x.known, x.first = rows, e, tick, known, len(rows.Tick)
	x.row = append(x.row[:0], make([]int32, len(e.keys))...)
	x.values, x.answers = x.values[:0], x.answers[:0]
}

// feature begins the results of a feature.
func (x *rowIndex) feature(f *features.Feature, col int, c *Counts) {
	x.def, x.col, x.counts = f, col, c
	clear(x.answers)
}

// putVector stores what the present feature's compiled expression gave.
func (x *rowIndex) putVector(p *compile.Program, vec compile.Vector) {
	if p.Scalar() {
		x.putAll(vec.Value[0])
		return
	}
	s := x.entities.slotsOf(x.col, p, x.rows.View.Keys, x.def)
	for k, slot := range vec.Slot {
		text := ""
		if s.text != nil {
			text = s.text[slot]
		}
		x.store(s.entity[slot], vec.Value[k], text)
	}
}

// put stores one result of the engine.
func (x *rowIndex) put(s *promql.Sample) {
	entity, text := x.entities.of(s.Metric, x.rows.View.Keys, x.def)
	x.store(entity, s.F, text)
}

// store stores one result of the present feature, or counts why not.
func (x *rowIndex) store(entity int32, v float64, text string) {
	if entity < 0 {
		x.counts.ExtraLabels++
		return
	}
	row := x.rowOf(entity)
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
		col.Str[row] = text
		if text != "" {
			x.values[i]++
		}
		return
	}
	col.Num[row] = x.number(v)
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
	num, ok := Convert(x.def, v)
	if !ok {
		x.counts.OutOfRange++
		x.rows.Refuse(x.col)
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

// rowOf returns the row of an entity, and appends it when the entity has none yet.
func (x *rowIndex) rowOf(entity int32) int {
	for len(x.row) <= int(entity) {
		x.row = append(x.row, 0)
	}
	if i := x.row[entity]; i > 0 {
		return x.first + int(i) - 1
	}
	r := x.rows
	row := len(r.Tick)
	x.row[entity] = int32(row-x.first) + 1
	r.Tick = append(r.Tick, x.tick)
	r.Known = append(r.Known, x.known)
	for k, value := range x.entities.keys[entity] {
		r.Keys[k] = append(r.Keys[k], value)
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
	x.entities.used = len(x.values)
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
