package clickhouse

import "sextant/features"

// append hands the rows to a batch of the client, in the order of the table.
func (v *viewRows) append(w *columnWriter) {
	v.sort()
	for k := range v.keys {
		w.add(v.key(k))
	}
	w.add(arrange(v.order, concat(nil, v.parts, func(r *features.Rows) []int64 { return r.Tick })))
	w.add(arrange(v.order, concat(nil, v.parts, func(r *features.Rows) []int64 { return r.Known })))
	w.add(arrange(v.order, concat(nil, v.parts, allFlags)))
	w.add(v.origins())
	for f := range v.view.Features {
		w.add(nullable(v.view.Features[f].DType, features.Column{Num: v.numbers(f), Str: v.texts(f)}))
	}
}

// key is the column of a key.
func (v *viewRows) key(k int) []string {
	out := make([]string, len(v.order))
	for i, o := range v.order {
		out[i] = v.keys[k].values[v.keys[k].of[o.row]]
	}
	return out
}

func (v *viewRows) origins() []string {
	out := make([]string, len(v.order))
	for i := range out {
		out[i] = v.origin.String()
	}
	return out
}

// numbers is the column of a feature that is no string, or nil.
func (v *viewRows) numbers(f int) []float64 {
	if v.view.Features[f].DType == features.String {
		return nil
	}
	return arrange(v.order, concat(nil, v.parts, func(r *features.Rows) []float64 { return r.Cols[f].Num }))
}

// texts is the column of a feature that is a string, or nil.
func (v *viewRows) texts(f int) []string {
	if v.view.Features[f].DType != features.String {
		return nil
	}
	return arrange(v.order, concat(nil, v.parts, func(r *features.Rows) []string { return r.Cols[f].Str }))
}

// allFlags is the flags of every row.
func allFlags(r *features.Rows) []uint16 {
	if r.Flags == nil {
		return make([]uint16, len(r.Tick))
	}
	return r.Flags
}
