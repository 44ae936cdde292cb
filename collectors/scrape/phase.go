package scrape

import (
	"math"
	"time"

	"github.com/cespare/xxhash/v2"
)

// golden is the fractional part of the golden ratio. Steps of it around a circle keep
// every prefix of the sequence well spread: 2 targets are about half an interval apart,
// 100 targets have no gap much larger than a hundredth.
const golden = 0.6180339887498949

// phases hands out each target's place inside the interval, as a fraction in [0, 1). The
// first place comes from a hash of the node and the first target, so that a fleet does
// not scrape in step; the following ones are golden-ratio steps from it. A target keeps
// its place for as long as it lives, and a freed place is used again.
type phases struct {
	node string
	base float64
	used []bool // by step
	any  bool   // base was drawn
}

// take returns the lowest free step for the target named key.
func (p *phases) take(key string) int {
	if !p.any {
		h := xxhash.Sum64String(p.node + "\xff" + key)
		p.base = float64(h>>11) / (1 << 53)
		p.any = true
	}
	for i, used := range p.used {
		if !used {
			p.used[i] = true
			return i
		}
	}
	p.used = append(p.used, true)
	return len(p.used) - 1
}

func (p *phases) free(step int) { p.used[step] = false }

// at returns the place of a step, in [0, 1).
func (p *phases) at(step int) float64 {
	_, f := math.Modf(p.base + float64(step)*golden)
	return f
}

// nextStart returns the first aligned start after the given time, where aligned means
// n·interval + offset since the epoch, in whole milliseconds. The result depends on the
// wall clock alone, so a restart scrapes at the same places of the minute.
func nextStart(after time.Time, interval, offset time.Duration) time.Time {
	i, o := interval.Milliseconds(), offset.Milliseconds()
	n := (after.UnixMilli() - o) / i
	return time.UnixMilli((n+1)*i + o)
}
