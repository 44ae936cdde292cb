package window

import (
	"math"
	"slices"
)

// column is the times of points. Series of a node share one as long as their points have the
// same times, as those of a page have unless one has a gap of its own. A time takes four
// bytes, since a window spans hours.
type column struct {
	keep   int64   // ms of history that its series read
	base   int64   // unix ms that times count from
	times  []int32 // ms, ascending
	first  int32   // the row of times[0]; rows are numbered as they come, around and around
	series int     // that share it
}

// end is the row that comes next.
func (c *column) end() int32 { return c.first + int32(len(c.times)) }

func (c *column) time(row int32) int64 { return c.base + int64(c.times[row-c.first]) }

// find returns the row of a time, or where it belongs. Times are asked for that are among
// the last few.
func (c *column) find(t int64) (row int32, ok bool) {
	i := len(c.times)
	for i > 0 && c.base+int64(c.times[i-1]) > t {
		i--
	}
	if i > 0 && c.base+int64(c.times[i-1]) == t {
		return c.first + int32(i-1), true
	}
	return c.first + int32(i), false
}

// rows are some rows of a column that follow each other.
type rows struct{ from, to int32 } // without to

// rows returns the rows of the times of [lo, hi].
func (c *column) rows(lo, hi int64) rows {
	t := c.times
	lo, hi = lo-c.base, hi-c.base
	j := len(t)
	for j > 0 && int64(t[j-1]) > hi {
		j--
	}
	i := j
	if j > 1 { // scrapes are about equally far apart, so the place can be told from the time
		step := int64(t[j-1] - t[j-2])
		i = int(max(0, min(int64(j), int64(j)-1-(int64(t[j-1])-lo)/step)))
	}
	for i < j && int64(t[i]) < lo {
		i++
	}
	for i > 0 && int64(t[i-1]) >= lo {
		i--
	}
	return rows{c.first + int32(i), c.first + int32(j)}
}

// push appends a time that is newer than all. Those before low make room for it.
func (c *column) push(t, low int64) {
	if len(c.times) == cap(c.times) {
		i := 0
		for i < len(c.times) && c.base+int64(c.times[i]) < low {
			i++
		}
		c.drop(i)
	}
	at := c.offset(t) // which may drop the others
	c.times = append(c.times, at)
}

// insert makes t time i. A time that is too old for the others is alone then.
func (c *column) insert(i int, t int64) {
	if n := len(c.times); i < n && c.base+int64(c.times[n-1])-t > math.MaxInt32 {
		c.drop(n)
	}
	at := c.offset(t)
	c.times = slices.Insert(c.times, min(i, len(c.times)), at)
}

// drop removes the first n times, keeping the buffer.
func (c *column) drop(n int) {
	if n > 0 {
		c.times = c.times[:copy(c.times, c.times[n:])]
		c.first += int32(n)
	}
}

// offset is a time as the column counts it. Times too far from it for 32 bits are of
// another month: no tick reads them together, and they go.
func (c *column) offset(t int64) int32 {
	if d := t - c.base; d == int64(int32(d)) {
		return int32(d)
	}
	if len(c.times) > 0 && t-c.base-int64(c.times[0]) <= math.MaxInt32 {
		c.shift()
		return int32(t - c.base)
	}
	c.drop(len(c.times))
	c.base = t
	return 0
}

// shift makes times count from the first.
func (c *column) shift() {
	by := c.times[0]
	c.base += int64(by)
	for i := range c.times {
		c.times[i] -= by
	}
}

// add puts a column before those of a shorter history: it may be theirs, too, before long.
func (n *node) add(c *column) {
	i := 0
	for i < len(n.columns) && n.columns[i].keep >= c.keep {
		i++
	}
	n.columns = slices.Insert(n.columns, i, c)
}

// find returns the first column with the given times, which follow each other in it, and the
// row after them.
func (n *node) find(base int64, times []int32) (c *column, end int32) {
	for _, c := range n.columns {
		if end, ok := c.holds(base, times); ok {
			return c, end
		}
	}
	return nil, 0
}

func (c *column) holds(base int64, times []int32) (end int32, ok bool) {
	n := len(times)
	last, ok := c.find(base + int64(times[n-1]))
	from := int(last-c.first) + 1 - n
	if !ok || from < 0 {
		return 0, false
	}
	for i, t := range times {
		if c.base+int64(c.times[from+i]) != base+int64(t) {
			return 0, false
		}
	}
	return last + 1, true
}
