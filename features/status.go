package features

import "math"

// Status says what became of one requested value. It means the same wherever features
// are read.
type Status uint8

// The statuses of a value. Only a present one carries a value that was measured; the
// feature's default, if it has one, stands beside NULL_VALUE.
const (
	Present       Status = iota
	NullValue            // the row is there and fresh, the feature has no value in it
	NotFound             // no row of the entity is known
	OutsideMaxAge        // the latest row is older than the view's TTL
)

var statusNames = [...]string{
	Present: "PRESENT", NullValue: "NULL_VALUE", NotFound: "NOT_FOUND", OutsideMaxAge: "OUTSIDE_MAX_AGE",
}

// String is the name on the wire.
func (s Status) String() string { return statusNames[s] }

// Expired says whether a row of this tick is too old at now, both in unix ms. A row that
// is exactly as old as the TTL is still served.
func (v *View) Expired(tick, now int64) bool { return now-tick > v.TTL.Milliseconds() }

// Null says whether the column has no value in a row. What is no finite number, like a
// ratio to zero, is no value either.
func (c *Column) Null(row int) bool {
	if c.Str != nil {
		return c.Str[row] == ""
	}
	x := c.Num[row]
	return math.IsNaN(x) || math.IsInf(x, 0)
}

// Status of the value in a row, given what the row's existence and age say: Present,
// NotFound or OutsideMaxAge. Row is used only where that is Present.
func (c *Column) Status(row int, ofRow Status) Status {
	if ofRow == Present && c.Null(row) {
		return NullValue
	}
	return ofRow
}
