package dcgm

import "math"

// Types of a field's value, as DCGM writes them.
const (
	typeDouble    = 'd'
	typeInt64     = 'i'
	typeString    = 's'
	typeTimestamp = 't'
)

// DCGM's blanks: "no value", "not found", "not supported", "not permitted" are four
// neighbours each. A 64-bit field is blank too with the 32-bit ones, because older
// releases widen a blank int without translating it.
//
// They are compared exactly. A ">=" would take every energy reading above 2^31 mJ, about
// an hour at 600 W, for a blank.
const (
	blankInt32 = int64(0x7ffffff0)
	blankInt64 = int64(0x7ffffffffffffff0)
	blankFP64  = float64(1 << 47)
)

// blankString holds the four blanks of a string field.
var blankString = map[string]bool{"<<<NULL>>>": true, "<<<NOT_FOUND>>>": true, "<<<NOT_SUPPORTED>>>": true, "<<<NOT_PERMISSIONED>>>": true}

func isBlankInt(v int64) bool {
	return v >= blankInt32 && v <= blankInt32+3 || v >= blankInt64 && v <= blankInt64+3
}

func isBlankFloat(v float64) bool {
	d := v - blankFP64
	return d == 0 || d == 1 || d == 2 || d == 3
}

// reading is one value of a field as the engine gave it.
type reading struct {
	id     uint16
	typ    byte
	status int   // a DCGM status, 0 is good
	at     int64 // when the engine took it, unix µs
	num    int64
	float  float64
	text   string
}

// number is the reading's value; ok is false when there is none.
func (r reading) number() (v float64, ok bool) {
	switch {
	case r.status != 0:
		return 0, false
	case r.typ == typeInt64, r.typ == typeTimestamp:
		return float64(r.num), !isBlankInt(r.num)
	case r.typ == typeDouble:
		return r.float, !isBlankFloat(r.float) && !math.IsNaN(r.float)
	}
	return 0, false
}

// string is the reading's text, "" when there is none.
func (r reading) string() string {
	if r.status != 0 || r.typ != typeString || blankString[r.text] {
		return ""
	}
	return r.text
}
