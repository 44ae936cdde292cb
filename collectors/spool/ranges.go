package spool

import (
	"slices"
	"sort"
)

// span is the numbers from ≤ n < to.
type span struct{ from, to uint64 }

// ranges is a set of numbers as sorted, disjoint spans that do not touch. Acknowledgements
// come in nearly sorted runs, so the set stays a handful of spans however many numbers it
// holds.
type ranges []span

// after is the index of the first span that ends above n.
func (r ranges) after(n uint64) int {
	return sort.Search(len(r), func(i int) bool { return r[i].to > n })
}

func (r ranges) contains(n uint64) bool {
	i := r.after(n)
	return i < len(r) && r[i].from <= n
}

// gap returns the lowest number ≥ n that is not in the set.
func (r ranges) gap(n uint64) uint64 {
	if i := r.after(n); i < len(r) && r[i].from <= n {
		return r[i].to
	}
	return n
}

// missing counts the numbers of s that are not in the set.
func (r ranges) missing(s span) uint64 {
	n := uint64(0)
	for at := r.gap(s.from); at < s.to; at = r.gap(at) {
		end := s.to
		if i := r.after(at); i < len(r) {
			end = min(end, r[i].from)
		}
		n += end - at
		at = end
	}
	return n
}

// max is the highest number of the set, 0 when it is empty.
func (r ranges) max() uint64 {
	if len(r) == 0 {
		return 0
	}
	return r[len(r)-1].to - 1
}

// add puts s into the set.
func (r *ranges) add(s span) {
	if s.from >= s.to {
		return
	}
	lo := sort.Search(len(*r), func(i int) bool { return (*r)[i].to >= s.from })
	hi := lo
	for ; hi < len(*r) && (*r)[hi].from <= s.to; hi++ {
		s = span{min(s.from, (*r)[hi].from), max(s.to, (*r)[hi].to)}
	}
	*r = slices.Replace(*r, lo, hi, s)
}

// remove takes s out of the set.
func (r *ranges) remove(s span) {
	if s.from >= s.to {
		return
	}
	lo := r.after(s.from)
	var keep []span
	hi := lo
	for ; hi < len(*r) && (*r)[hi].from < s.to; hi++ {
		if was := (*r)[hi]; was.from < s.from {
			keep = append(keep, span{was.from, s.from})
		}
		if was := (*r)[hi]; was.to > s.to {
			keep = append(keep, span{s.to, was.to})
		}
	}
	*r = slices.Replace(*r, lo, hi, keep...)
}
