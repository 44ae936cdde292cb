package pipeline

// needs remembers, for each stretch of event time, the first record with something in it
// that is remembered: where a restart must begin to find what is remembered as it is.
type needs struct {
	width   int64 // ms of event time per bucket
	buckets []need
}

type need struct {
	bucket int64 // event time / width
	offset int64 // the first record with a sample in it
	start  int64 // the watermark when that record came, unix ms
}

// touch notes that something of time t is remembered of the record at offset. Offsets
// only grow, so the first touch of a bucket stays.
func (n *needs) touch(t, offset, watermark int64) {
	b := t / n.width
	for i := len(n.buckets) - 1; i >= 0; i-- {
		if n.buckets[i].bucket == b {
			return
		}
	}
	n.buckets = append(n.buckets, need{b, offset, watermark})
}

// oldest returns the first record that has a sample at low or later, and forgets what is
// older than low.
func (n *needs) oldest(low int64) (need, bool) {
	kept := n.buckets[:0]
	for _, b := range n.buckets {
		if (b.bucket+1)*n.width > low {
			kept = append(kept, b)
		}
	}
	n.buckets = kept
	if len(kept) == 0 {
		return need{}, false
	}
	first := kept[0]
	for _, b := range kept[1:] {
		if b.offset < first.offset {
			first = b
		}
	}
	return first, true
}
