package online

import "sextant/features"

// clone copies the columns, with room for more rows, and shares the index.
func (s *Snapshot) clone(more int) *Snapshot {
	n := &Snapshot{index: s.index, epoch: s.epoch}
	n.View = s.View
	n.Tick, n.Known, n.Flags = grown(s.Tick, more), grown(s.Known, more), grown(s.Flags, more)
	n.Keys = make([][]string, len(s.Keys))
	for k := range s.Keys {
		n.Keys[k] = grown(s.Keys[k], more)
	}
	n.Cols = make([]features.Column, len(s.Cols))
	for f := range s.Cols {
		if s.Cols[f].Str != nil {
			n.Cols[f].Str = grown(s.Cols[f].Str, more)
		} else {
			n.Cols[f].Num = grown(s.Cols[f].Num, more)
		}
	}
	return n
}

// grown is a copy with room for more; it is never nil, since a Column of strings is known
// by its slice.
func grown[T any](s []T, more int) []T {
	return append(make([]T, 0, len(s)+more), s...)
}

// set puts row from of rows into row to. The keys are equal already.
func (s *Snapshot) set(to int, rows *features.Rows, from int) {
	s.Tick[to], s.Known[to], s.Flags[to] = rows.Tick[from], rows.Known[from], rows.Flag(from)
	for f := range s.Cols {
		if c := &s.Cols[f]; c.Str != nil {
			c.Str[to] = rows.Cols[f].Str[from]
		} else {
			c.Num[to] = rows.Cols[f].Num[from]
		}
	}
}

func (s *Snapshot) push(rows *features.Rows, from int) {
	s.Tick, s.Known, s.Flags = append(s.Tick, rows.Tick[from]), append(s.Known, rows.Known[from]), append(s.Flags, rows.Flag(from))
	for k := range s.Keys {
		s.Keys[k] = append(s.Keys[k], rows.Keys[k][from])
	}
	for f := range s.Cols {
		if c := &s.Cols[f]; c.Str != nil {
			c.Str = append(c.Str, rows.Cols[f].Str[from])
		} else {
			c.Num = append(c.Num, rows.Cols[f].Num[from])
		}
	}
}

// expire drops the rows whose tick is below cutoff.
func (s *Snapshot) expire(cutoff int64) {
	tick := s.Tick
	s.Known, s.Flags = kept(s.Known, tick, cutoff), kept(s.Flags, tick, cutoff)
	for k := range s.Keys {
		s.Keys[k] = kept(s.Keys[k], tick, cutoff)
	}
	for f := range s.Cols {
		if c := &s.Cols[f]; c.Str != nil {
			c.Str = kept(c.Str, tick, cutoff)
		} else {
			c.Num = kept(c.Num, tick, cutoff)
		}
	}
	s.Tick = kept(s.Tick, tick, cutoff) // last, as it is what the others go by
	s.reindex()
}

func kept[T any](s []T, tick []int64, cutoff int64) []T {
	n := 0
	for i, t := range tick {
		if t >= cutoff {
			s[n] = s[i]
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}

// reindex makes an index of its own: the one of the snapshot before may be in use.
func (s *Snapshot) reindex() {
	s.index = make(map[string]int32, s.Len())
	s.epoch++
	var buf []byte
	for i := range s.Tick {
		if len(s.Keys) == 1 {
			s.index[s.Keys[0][i]] = int32(i)
			continue
		}
		buf = appendKey(buf[:0], s.Keys, i)
		s.index[string(buf)] = int32(i)
	}
}
