// Package quality names what can be wrong with a value. The names and bits are a contract:
// they stand in the column flags of stored samples and feature rows, in the label flag of
// the series sample_flag, and in answers of the feature API.
package quality

import "strings"

// The flags of a sample, a set of bits. A bit that is given away is never given again.
const (
	Retimed       uint16 = 1 << iota // 1
	Late                             // 2
	Partial                          // 4
	Blank                            // 8
	OutOfRange                       // 16
	Contradiction                    // 32
	Frozen                           // 64
	Period                           // 128
	Stale                            // 256
	Held                             // 512
	Reset                            // 1024
)

const (
	// Unusable is the flags of a row that has no value to reckon with: it is kept to tell
	// why there is none, and is in no feature, mean or maximum.
	Unusable = Blank | OutOfRange
	// OfScrape is the flags that say something of the scrape, and so of each of its samples.
	OfScrape = Retimed | Late | Partial | Period
)

// Series is the metric name of the series that tell PromQL which flags are in force. They
// have the value 1 at each scrape at which one is, and the labels Label, node, and either
// metric and uid (of a device's series) or target.
const (
	Series = "sample_flag"
	Label  = "flag"
)

// Scope says what a flag is about.
type Scope string

// The scopes.
const (
	OfValue  Scope = "value"  // one sample; sample_flag names its metric
	OfTarget Scope = "target" // what a target sent; sample_flag names the target
	OfBoth   Scope = "either" // a device's series, or all that a target sent
	OfSample Scope = "sample" // beside the sample only: nothing is wrong with it, and no series or row tells of it
)

// Flag is one bit.
type Flag struct {
	Bit     uint16
	Name    string
	Scope   Scope
	Meaning string
	Use     string // what becomes of the value
}

// All is every flag, by its bit.
var All = []Flag{
	{Retimed, "retimed", OfTarget, "The timestamp was rejected: it lay more than 1 h before, or 60 s after, the time at which the broker took the record.", "Used, at the time of its scrape, which stands in."},
	{Late, "late", OfTarget, "Came after its tick was closed.", "Stored; in no feature row. The row of the tick that was open when it came has the flag."},
	{Partial, "partial", OfTarget, "The scrape had bad lines, or was cut: other series of the target may be missing.", "Used."},
	{Blank, "blank", OfValue, "The exporter said that it has no value, by one of the sentinels in the catalogue.", "Stored as NaN; in no feature."},
	{OutOfRange, "out_of_range", OfValue, "A value that the metric cannot have, by the range in the catalogue.", "Stored as it was; in no feature."},
	{Contradiction, "contradiction", OfValue, "The device says that it is fully busy, and none of its engines has worked, for a minute.", "Used: which of the two is wrong is not known."},
	{Frozen, "frozen", OfBoth, "The energy counter of a busy device has not moved for a minute; or a page that cannot stand still is the same for 5 scrapes.", "Used: it is the last that is known."},
	{Period, "period", OfTarget, "The exporter renews its values more seldom than it is scraped: of 8 scrapes, 3 or more repeat the one before.", "Used: it is older than its time says, by up to the exporter's period."},
	{Stale, "stale", OfBoth, "The series ends here, by a staleness marker; of a target: it does not answer.", "Ends its series, which is absent from then on."},
	{Held, "held", OfSample, "A counter stepped back by less than its source's jitter, within one boot.", "Stands at the highest value that it had."},
	{Reset, "reset", OfSample, "A counter began anew.", "Used."},
}

// Of returns the flag of that name.
func Of(name string) (Flag, bool) {
	for _, f := range All {
		if f.Name == name {
			return f, true
		}
	}
	return Flag{}, false
}

// Each calls f with each flag of a set, by its bit.
func Each(set uint16, f func(Flag)) {
	for _, flag := range All {
		if set&flag.Bit != 0 {
			f(flag)
		}
	}
}

// Text is the names of a set, by bit and with a comma between them.
func Text(set uint16) string {
	var names []string
	Each(set, func(f Flag) { names = append(names, f.Name) })
	return strings.Join(names, ",")
}
