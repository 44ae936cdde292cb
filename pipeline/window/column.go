package window

import (
	"math"
	"slices"
)

// column is the times of points. The series of a page share one: their points have the
// same times, as long as none has a gap of its own. A time takes four bytes, since a window
// spans hours.
type column struct {
	keep   int64   // ms of history that its series read
	base   int64   // unix ms that times count from
	times  []int32 // ms, ascending
	first  int32   // the row of times[0]; rows are numbered as they come, around and around
	series int     // that share it
}

func newColumn(room int, keep int64, series int) *column {
	return &column{keep: keep, times: make([]int32, 0, room), series: series}
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
	at := c.offset(t) // which may drop
	c.times = append(c.times, at)
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

// insert makes a row of a time that is older than others.
func (c *column) insert(i int, t int64) {
	c.times = slices.Insert(c.times, i, c.offset(t))
}
