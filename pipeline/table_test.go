package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"strings"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/quality"
)

// table is a store with the keys of the real one: writing a row twice leaves one.
type table struct {
	samples map[sampleKey]string
	rows    map[string]string
	ledger  map[string]uint32 // samples of a record, stored or known to be there
	series  map[uint64]bool
	dead    map[int64]string
	writes  int
}

type sampleKey struct {
	series uint64
	time   int64
}

func newTable() *table {
	return &table{map[sampleKey]string{}, map[string]string{}, map[string]uint32{}, map[uint64]bool{}, map[int64]string{}, 0}
}

// Write implements pipeline.Sink.
func (s *table) Write(_ context.Context, b *pipeline.Batch) error {
	s.writes++
	for i, id := range b.Samples.Series {
		if _, ok := s.samples[sampleKey{id, b.Samples.Time[i]}]; ok && b.Samples.Flags[i]&quality.Late != 0 {
			continue // the sample that was in time stays: it is the one that rows were made of
		}
		s.samples[sampleKey{id, b.Samples.Time[i]}] = fmt.Sprintf("%x %d", math.Float64bits(b.Samples.Value[i]), b.Samples.Flags[i])
	}
	for _, r := range b.Series {
		s.series[r.ID] = true
	}
	for _, l := range b.Ledger {
		s.ledger[fmt.Sprintf("%s/%d@%d", l.Agent, l.Seq, l.Offset)] = l.Rows + l.Duplicates
	}
	for _, d := range b.Dead {
		s.dead[d.Record.Offset] = d.Reason
	}
	for _, r := range b.Rows {
		for i := range r.Tick {
			s.rows[rowKey(r, i)] = rowText(r, i)
		}
	}
	return nil
}

func rowKey(r *features.Rows, i int) string {
	return fmt.Sprintf("%s %s %s", r.View.Name, keysOf(r, i), since(r.Tick[i]))
}

// keysOf is a row's keys, joined.
func keysOf(r *features.Rows, i int) string {
	keys := make([]string, len(r.Keys))
	for k := range r.Keys {
		keys[k] = r.Keys[k][i]
	}
	return strings.Join(keys, "/")
}

// rowText is a row's values to the last bit, without the known time: a silence that was
// watched is known of earlier than one that a record tells of.
func rowText(r *features.Rows, i int) string {
	var b strings.Builder
	for c, f := range r.View.Features {
		if v := r.Cols[c]; f.DType == features.String && v.Str[i] != "" {
			fmt.Fprintf(&b, " %s=%q", f.Name, v.Str[i])
		} else if f.DType != features.String && !math.IsNaN(v.Num[i]) {
			fmt.Fprintf(&b, " %s=%v", f.Name, v.Num[i])
		}
	}
	if f := r.Flag(i); f != 0 {
		fmt.Fprintf(&b, " flags=%s", quality.Text(f))
	}
	return b.String()
}

// diff lists what is not the same in two stores.
func (s *table) diff(want *table) string {
	var b strings.Builder
	compare(&b, "sample", s.samples, want.samples)
	compare(&b, "row", s.rows, want.rows)
	compare(&b, "ledger", s.ledger, want.ledger)
	compare(&b, "series", s.series, want.series)
	compare(&b, "dead letter", s.dead, want.dead)
	return b.String()
}

func compare[K comparable, V comparable](b *strings.Builder, what string, got, want map[K]V) {
	n := 0
	say := func(format string, args ...any) {
		if n++; n <= 5 {
			fmt.Fprintf(b, what+" "+format+"\n", args...)
		}
	}
	for k, w := range want {
		if g, ok := got[k]; !ok {
			say("%v is missing, want %v", k, w)
		} else if g != w {
			say("%v is %v, want %v", k, g, w)
		}
	}
	for k, g := range got {
		if _, ok := want[k]; !ok {
			say("%v is too much: %v", k, g)
		}
	}
	if n > 5 {
		fmt.Fprintf(b, "and %d more\n", n-5)
	}
}
