package pipeline

import (
	"math/bits"

	"sextant/pipeline/evaluate"
)

// FeatureCounts says what became of one feature's results that are not stored.
type FeatureCounts = evaluate.Counts

// Counts says what a machine did since it began.
type Counts struct {
	Records        uint64 // records taken
	Replayed       uint64 // of them, durable already: read to warm windows
	Stale          uint64 // records below one that was taken: left out
	Dead           uint64 // records that cannot be read
	Samples        uint64 // samples stored
	Late           uint64 // of them, later than the lateness
	Duplicates     uint64 // samples left out: same series and time again
	Refused        uint64 // samples left out: of a refused series
	Histograms     uint64 // native histograms left out
	RefusedSeries  uint64 // series with bad labels, twice in a record, or over the limit
	Collisions     uint64 // of them, two label sets with one id
	UnknownNames   uint64 // series of a known vendor that the catalogue does not know: kept as exposed
	NoDevice       uint64 // series of a device that do not say which: kept as exposed
	Mistyped       uint64 // series that are a counter where the exposition says gauge, or the reverse
	Repeated       uint64 // samples left out: another series of the record has the reading
	Contradictions uint64 // of such samples, those with another value
	Outranked      uint64 // samples left out: the record has a better measure of the same
	Superseded     uint64 // samples left out: the record has a newer one of the series
	Events         uint64 // events found: of devices and switches
	LayoutHits     uint64
	LayoutMisses   uint64
	Ticks          uint64 // ticks closed

	Flags [16]uint64 // samples stored, by the bits of their flags
}

// Flagged is the number of samples stored with a flag.
func (c *Counts) Flagged(flag uint16) uint64 { return c.Flags[bits.TrailingZeros16(flag)] }

// each calls f with what was added to each count since before.
func (c Counts) each(before Counts, f func(item string, delta uint64)) {
	for _, d := range [...]struct {
		item     string
		now, was uint64
	}{
		{"record", c.Records, before.Records},
		{"record_replayed", c.Replayed, before.Replayed},
		{"record_stale", c.Stale, before.Stale},
		{"record_dead", c.Dead, before.Dead},
		{"sample", c.Samples, before.Samples},
		{"sample_late", c.Late, before.Late},
		{"sample_duplicate", c.Duplicates, before.Duplicates},
		{"sample_refused", c.Refused, before.Refused},
		{"histogram_left_out", c.Histograms, before.Histograms},
		{"series_refused", c.RefusedSeries, before.RefusedSeries},
		{"series_collision", c.Collisions, before.Collisions},
		{"series_unknown_name", c.UnknownNames, before.UnknownNames},
		{"series_without_device", c.NoDevice, before.NoDevice},
		{"series_mistyped", c.Mistyped, before.Mistyped},
		{"sample_repeated", c.Repeated, before.Repeated},
		{"sample_contradiction", c.Contradictions, before.Contradictions},
		{"sample_outranked", c.Outranked, before.Outranked},
		{"sample_superseded", c.Superseded, before.Superseded},
		{"event", c.Events, before.Events},
		{"layout_hit", c.LayoutHits, before.LayoutHits},
		{"layout_miss", c.LayoutMisses, before.LayoutMisses},
		{"tick", c.Ticks, before.Ticks},
	} {
		f(d.item, d.now-d.was)
	}
}

// Counts returns the counts so far.
func (m *Machine) Counts() Counts { return m.counts }

// FeatureCounts calls f with what became of each feature's results.
func (m *Machine) FeatureCounts(f func(view, feature string, c FeatureCounts)) { m.eval.Counts(f) }

// Windows is the number of series whose recent past is held for the views.
func (m *Machine) Windows() int { return m.eval.Store().Len() }

// Watermark is how far event time has come, unix ms.
func (m *Machine) Watermark() int64 { return m.time.watermark }
