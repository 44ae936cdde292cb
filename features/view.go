// Package features holds the definitions of features: views and the rows they yield.
// It is pure: it reads no clock, opens no connection and starts no goroutine.
package features

import (
	"fmt"
	"time"
)

// Feature is one named value of a view: a PromQL expression, or a column of its SQL.
type Feature struct {
	Name        string
	Expr        string // PromQL; empty in a view that has SQL
	Label       string // String features of PromQL: the label of the result that holds the value
	DType       DType
	Unit        string
	Description string
	Default     *float64 // served, not stored, beside NULL_VALUE; nil serves null
	Min, Max    *float64 // valid range, inclusive; nil means unbounded
	Line        int      // line of the definition in View.File
}

// Range is the valid range in words: "0 to 1", "at least 0", "any".
func (f *Feature) Range() string {
	switch {
	case f.Min != nil && f.Max != nil:
		return fmt.Sprintf("%g to %g", *f.Min, *f.Max)
	case f.Min != nil:
		return fmt.Sprintf("at least %g", *f.Min)
	case f.Max != nil:
		return fmt.Sprintf("at most %g", *f.Max)
	}
	return "any"
}

// View is a feature view: an entity, and the features that describe it at each tick.
type View struct {
	Name        string
	Version     int
	Entity      string   // "node"
	Keys        []string // join keys: the labels of every expression's result
	Tier        string   // static, monitoring or business
	Interval    time.Duration
	TTL         time.Duration
	Owner       string
	Description string
	Long        bool   // some feature looks back further than StreamWindow: the store computes the view, from its PromQL
	Push        bool   // its rows come from outside, by the API: nothing here computes them
	SQL         string // what computes all features at once, in the store; empty: PromQL does, one by one
	Features    []Feature
	File        string
	Line        int // line of the name in File
}

// Ref names one version of the view: "node_monitoring@v1".
func (v *View) Ref() string { return fmt.Sprintf("%s@v%d", v.Name, v.Version) }

// Table is the table that stores the view's rows: "features_node_monitoring_v1".
func (v *View) Table() string { return fmt.Sprintf("features_%s_v%d", v.Name, v.Version) }

// PromQL says whether expressions compute the view, and neither SQL nor somebody else.
func (v *View) PromQL() bool { return v.SQL == "" && !v.Push }

// Streamed says whether the pipeline computes the view, from the samples in its memory.
func (v *View) Streamed() bool { return v.PromQL() && !v.Long }

// InStore says whether the store computes the view, tick by tick, once its samples are stored.
func (v *View) InStore() bool { return v.SQL != "" || v.Long }

// Expression is what computes feature i: its PromQL, the SQL of the view, or nothing where it is pushed.
func (v *View) Expression(i int) string {
	if v.SQL != "" {
		return v.SQL
	}
	return v.Features[i].Expr
}

// CorrectedTable is the table of the rows that late samples changed.
func (v *View) CorrectedTable() string { return v.Table() + CorrectedSuffix }

// CorrectedSuffix ends the names of tables and SQL views of corrected rows.
const CorrectedSuffix = "_corrected"

// Rows holds rows of one view, by column. Cols[f] belongs to View.Features[f]; all
// columns, and every Keys[k], are as long as Tick.
type Rows struct {
	View  *View
	Tick  []int64    // unix ms: the row describes the time before it
	Known []int64    // unix ms: the earliest time at which the row could be known
	Keys  [][]string // Keys[k][row] is the value of View.Keys[k]
	Cols  []Column
	Flags []uint16 // of package quality: what was wrong with the samples of the row's entity; nil: nothing, in any row

	Origin Origin // of all rows

	// OutOfRange counts by feature the values that the tick gave and the valid range or the
	// type refused: they are NULL, or in no row at all. Nil: none were.
	OutOfRange []uint64
}

// Refuse counts a value of a feature that is out of range.
func (r *Rows) Refuse(feature int) {
	if r.OutOfRange == nil {
		r.OutOfRange = make([]uint64, len(r.View.Features))
	}
	r.OutOfRange[feature]++
}

// Keep leaves the rows for which keep is true, in place. keep is as long as Tick.
func (r *Rows) Keep(keep []bool) {
	r.Tick, r.Known = kept(r.Tick, keep), kept(r.Known, keep)
	if r.Flags != nil {
		r.Flags = kept(r.Flags, keep)
	}
	for k := range r.Keys {
		r.Keys[k] = kept(r.Keys[k], keep)
	}
	for i := range r.Cols {
		if c := &r.Cols[i]; c.Str != nil {
			c.Str = kept(c.Str, keep)
		} else {
			c.Num = kept(c.Num, keep)
		}
	}
}

// Append puts the rows of o, which are of the same view, behind those of r.
func (r *Rows) Append(o *Rows) {
	if r.Flags != nil || o.Flags != nil {
		r.Flags = append(r.allFlags(), o.allFlags()...)
	}
	r.Tick, r.Known = append(r.Tick, o.Tick...), append(r.Known, o.Known...)
	for k := range r.Keys {
		r.Keys[k] = append(r.Keys[k], o.Keys[k]...)
	}
	for i := range r.Cols {
		r.Cols[i].Num = append(r.Cols[i].Num, o.Cols[i].Num...)
		r.Cols[i].Str = append(r.Cols[i].Str, o.Cols[i].Str...)
	}
	for f, n := range o.OutOfRange {
		if n > 0 && r.OutOfRange == nil {
			r.OutOfRange = make([]uint64, len(r.View.Features))
		}
		if n > 0 {
			r.OutOfRange[f] += n
		}
	}
}

func (r *Rows) allFlags() []uint16 {
	if r.Flags == nil {
		return make([]uint16, len(r.Tick))
	}
	return r.Flags
}

func kept[T any](s []T, keep []bool) []T {
	out := s[:0]
	for i, k := range keep {
		if k {
			out = append(out, s[i])
		}
	}
	return out
}

// Origin says what computed a row.
type Origin uint8

// The origins. The rows of Live and Backfill say what was known in time: in a backfilled
// one, Known is when it would have been known, had the view been there. Those of Repair are
// apart from both: they are the rows that samples changed which came too late for them,
// and Known is when they were computed.
const (
	Live     Origin = iota // the stream, at the tick
	Backfill               // stored samples, later
	Repair                 // stored samples, those that came late among them
)

var originNames = [...]string{Live: "live", Backfill: "backfill", Repair: "repair"}

// String is the name that the column origin has.
func (o Origin) String() string { return originNames[o] }

// Flag is the flags of a row.
func (r *Rows) Flag(row int) uint16 {
	if r.Flags == nil {
		return 0
	}
	return r.Flags[row]
}

// Column is one feature's values. Num holds every type but String, where NaN means
// NULL; Str holds String, where "" means NULL.
type Column struct {
	Num []float64
	Str []string
}
