package training

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Bounds of a label's time. What lies outside was read in a wrong unit.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// maxKey is the most bytes of a key's value, as in the online API.
const maxKey = 1024

// RowError is what is wrong with one row of the labels. Rows count from 1, without a header.
type RowError struct {
	Row    int64
	Column string
	Fault  string
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %s: %s", e.Row, e.Column, e.Fault) }

// texts reads a column of keys; first is the number of its first row. An integer counts as
// its digits.
func texts(name string, col arrow.Array, first int64) ([]string, error) {
	out := make([]string, col.Len())
	for i := range out {
		fault := ""
		switch {
		case col.IsNull(i):
			fault = "no value: a key is needed"
		default:
			if out[i] = col.ValueStr(i); len(out[i]) > maxKey {
				fault = fmt.Sprintf("longer than %d bytes", maxKey)
			} else if !utf8.ValidString(out[i]) {
				fault = "not UTF-8"
			}
		}
		if fault != "" {
			return nil, &RowError{first + int64(i), name, fault}
		}
	}
	return out, nil
}

// isText says whether a column can be a key.
func isText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return arrow.IsInteger(t.ID())
}

// times reads the column of times, in unix ms; what is finer is cut off. A time without a
// zone is refused: whose noon it is, nobody can say.
func times(name string, col arrow.Array, first int64) ([]int64, error) {
	out := make([]int64, col.Len())
	for i := range out {
		t, err := timeOf(col, i)
		if err == nil && (t.Before(earliest) || !t.Before(latest)) {
			err = fmt.Errorf("%s is not within %d and %d", t.Format(time.RFC3339), earliest.Year(), latest.Year())
		}
		if err != nil {
			return nil, &RowError{first + int64(i), name, err.Error()}
		}
		out[i] = t.UnixMilli()
	}
	return out, nil
}

func timeOf(col arrow.Array, i int) (time.Time, error) {
	if col.IsNull(i) {
		return time.Time{}, fmt.Errorf("no value: a time is needed")
	}
	switch c := col.(type) {
	case *array.Timestamp:
		t := c.DataType().(*arrow.TimestampType)
		if t.TimeZone == "" {
			return time.Time{}, fmt.Errorf("%s has no time zone: the column is a timestamp without one", c.ValueStr(i))
		}
		return c.Value(i).ToTime(t.Unit), nil
	default:
		return parseTime(col.ValueStr(i))
	}
}

// timeForms are how a time with a zone is written: as in RFC 3339, or with a space as pandas
// does.
var timeForms = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00"}

func parseTime(s string) (time.Time, error) {
	for _, form := range timeForms {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	for _, form := range timeForms {
		if _, err := time.Parse(strings.TrimSuffix(form, "Z07:00"), s); err == nil {
			return time.Time{}, fmt.Errorf("%q has no time zone: want one, like 2026-01-02T15:04:05Z", s)
		}
	}
	return time.Time{}, fmt.Errorf("%.60q is no time: want one like 2026-01-02T15:04:05Z", s)
}

// isTime says whether a column can be the column of times.
func isTime(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.TIMESTAMP, arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}
