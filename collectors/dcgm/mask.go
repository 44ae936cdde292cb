package dcgm

import (
	"fmt"
	"strings"
)

// ranges writes the set bits of a mask, least significant word first, as Linux writes CPU
// lists: 0-3,8.
func ranges(words []uint64) string {
	var b strings.Builder
	set := func(i int) bool { return i < 64*len(words) && words[i/64]&(1<<(i%64)) != 0 }
	for i := 0; i < 64*len(words); i++ {
		if !set(i) {
			continue
		}
		from := i
		for set(i + 1) {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		if from == i {
			fmt.Fprintf(&b, "%d", i)
		} else {
			fmt.Fprintf(&b, "%d-%d", from, i)
		}
	}
	return b.String()
}

// bits are the indexes of the set bits.
func bits(words []uint64) []uint {
	var out []uint
	for i := range 64 * len(words) {
		if words[i/64]&(1<<(i%64)) != 0 {
			out = append(out, uint(i))
		}
	}
	return out
}
