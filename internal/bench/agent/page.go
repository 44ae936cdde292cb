package agent

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strconv"
)

// page is an exposition whose every value changes from one scrape to the next.
type page struct {
	families []family
	rnd      *rand.Rand
}

type family struct {
	name     string
	head     string // HELP and TYPE lines
	counter  bool
	timed    bool     // its rows have times of their own, as cAdvisor's have
	decimals int      // that are printed, -1: as many as the value has
	prefix   []string // name and labels of each series
	value    []float64
	step     float64 // about what a value changes by
}

func (p *page) series() (n int) {
	for i := range p.families {
		n += len(p.families[i].value)
	}
	return n
}

// next appends the page of a scrape at now, in unix ms, to b. seen is what a sink that got all of
// its samples has seen more.
func (p *page) next(b []byte, now int64) (_ []byte, seen tally) {
	for i := range p.families {
		f := &p.families[i]
		b = append(b, f.head...)
		for k := range f.value {
			f.move(k, p.rnd)
			seen.add(f.name, f.value[k])
			b = append(b, f.prefix[k]...)
			b = f.number(b, f.value[k])
			if f.timed {
				b = append(b, ' ')
				b = strconv.AppendInt(b, now, 10)
			}
			b = append(b, '\n')
		}
	}
	return b, seen
}

// move changes a value by at least a hundredth of the step, to one with few decimals: it
// is read as it is held.
func (f *family) move(k int, rnd *rand.Rand) {
	step := f.step * (0.01 + rnd.Float64())
	if !f.counter && rnd.IntN(2) == 0 {
		step = -step
	}
	scale := math.Pow10(max(f.decimals, 0))
	if f.decimals < 0 {
		scale = 100
	}
	before := f.value[k]
	f.value[k] = math.Round((before+step)*scale) / scale
	if f.value[k] == before {
		f.value[k] = math.Round(before*scale+1) / scale
	}
}

func (f *family) number(b []byte, v float64) []byte {
	if f.decimals >= 0 {
		return strconv.AppendFloat(b, v, 'f', f.decimals, 64)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// tally is what was seen of samples: how many, and sums that are equal for equal multisets of
// names and values, in whatever order they came.
type tally struct {
	samples int64
	sum     uint64 // of the values to six decimals, of those above a million to two
	exact   uint64 // of the values to the last bit
}

func (t *tally) add(name string, v float64) {
	scale := 1e6
	if math.Abs(v) >= 1e6 {
		scale = 100
	}
	hash := maphash.String(seed, name)
	t.samples++
	t.sum += scatter(hash ^ scatter(uint64(int64(math.Round(v*scale)))))
	t.exact += scatter(hash ^ scatter(math.Float64bits(v)))
}

func (t *tally) join(other tally) {
	t.samples += other.samples
	t.sum += other.sum
	t.exact += other.exact
}

var seed = maphash.MakeSeed()

// scatter is the finalizer of MurmurHash3: a bijection that spreads what differs little.
func scatter(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
