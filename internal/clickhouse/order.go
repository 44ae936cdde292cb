package clickhouse

import "sextant/pipeline"

// sampleColumns are samples of several batches, in storage order once sorted.
type sampleColumns struct {
	pipeline.Samples
	scratch pipeline.Samples // the columns before the last sort, kept for their memory
	keys    []sortKey
	swap    []sortKey
}

type sortKey struct {
	series uint64
	row    uint32
}

func (c *sampleColumns) reset() { c.Samples = cut(c.Samples, 0) }

func (c *sampleColumns) add(s *pipeline.Samples) {
	c.Series = append(c.Series, s.Series...)
	c.Time = append(c.Time, s.Time...)
	c.Value = append(c.Value, s.Value...)
	c.Flags = append(c.Flags, s.Flags...)
}

// sort brings the rows into the order of the table, (series, time), and leaves one row of
// each: the last that was added. It returns how many it left out. Sorted rows cost the
// server no sort, and compress as it will store them.
//
// The rows come as runs of scrapes, so the rows of a series are nearly always in the
// order of time already. A stable radix sort by series keeps that order, and a look at
// each run repairs the exceptions.
func (c *sampleColumns) sort() (duplicates int) {
	n := len(c.Series)
	c.keys, c.swap = grow(c.keys, n), grow(c.swap, n)
	for i, s := range c.Series {
		c.keys[i] = sortKey{s, uint32(i)}
	}
	radixSort(&c.keys, &c.swap)

	out := pipeline.Samples{Series: grow(c.scratch.Series, n)[:0], Time: grow(c.scratch.Time, n)[:0],
		Value: grow(c.scratch.Value, n)[:0], Flags: grow(c.scratch.Flags, n)[:0]}
	for i, k := range c.keys {
		t := c.Time[k.row]
		if i > 0 && k.series == c.keys[i-1].series {
			if last := out.Time[len(out.Time)-1]; t <= last {
				duplicates += placeInRun(&out, k.series, t, c.Value[k.row], c.Flags[k.row])
				continue
			}
		}
		out.Series = append(out.Series, k.series)
		out.Time = append(out.Time, t)
		out.Value = append(out.Value, c.Value[k.row])
		out.Flags = append(out.Flags, c.Flags[k.row])
	}
	c.Samples, c.scratch = out, c.Samples
	return duplicates
}

// placeInRun puts a row that is not later than the last of its series where it belongs,
// or in place of the row with the same time. It returns the number of rows replaced.
func placeInRun(s *pipeline.Samples, series uint64, t int64, value float64, flags uint16) int {
	at := len(s.Time)
	for at > 0 && s.Series[at-1] == series && s.Time[at-1] > t {
		at--
	}
	if at > 0 && s.Series[at-1] == series && s.Time[at-1] == t {
		s.Value[at-1], s.Flags[at-1] = value, flags
		return 1
	}
	s.Series = append(s.Series, series)
	s.Time = insert(s.Time, at, t)
	s.Value = insert(s.Value, at, value)
	s.Flags = insert(s.Flags, at, flags)
	return 0
}

func insert[T any](s []T, at int, v T) []T {
	s = append(s, v)
	copy(s[at+1:], s[at:])
	s[at] = v
	return s
}

const (
	radixBits   = 11
	radixDigits = (64 + radixBits - 1) / radixBits
)

// radixSort sorts *keys by series and keeps the order of equal ones. It uses *swap, of
// the same length, and may exchange the two slices. A digit that all keys share costs
// nothing.
func radixSort(keys, swap *[]sortKey) {
	var counts [radixDigits][1 << radixBits]uint32
	for _, k := range *keys {
		for d := range counts {
			counts[d][digit(k.series, d)]++
		}
	}
	for d := range counts {
		if len(*keys) == 0 || counts[d][digit((*keys)[0].series, d)] == uint32(len(*keys)) {
			continue
		}
		var at uint32
		for i, c := range counts[d] {
			counts[d][i] = at
			at += c
		}
		from, to := *keys, *swap
		for _, k := range from {
			p := &counts[d][digit(k.series, d)]
			to[*p] = k
			*p++
		}
		*keys, *swap = to, from
	}
}

func digit(v uint64, d int) int { return int(v>>(d*radixBits)) & (1<<radixBits - 1) }

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

func cut(s pipeline.Samples, n int) pipeline.Samples {
	return pipeline.Samples{Series: s.Series[:n], Time: s.Time[:n], Value: s.Value[:n], Flags: s.Flags[:n]}
}
