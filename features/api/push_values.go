package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sextant/features"
)

// times are the forms of a time in a frame. One without a zone is in UTC, as Feast's SDK
// sends it.
var times = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"}

// pushTime reads an event time, in unix ms: text, or a number of seconds since 1970.
func pushTime(x any, now time.Time) (int64, error) {
	var t time.Time
	switch x := x.(type) {
	case json.Number:
		s, err := x.Float64()
		if err != nil || math.Abs(s) > 1e11 {
			return 0, fmt.Errorf("%s is no number of seconds since 1970", clip(x.String()))
		}
		t = time.UnixMilli(int64(math.Round(s * 1000)))
	case string:
		var err error
		for _, form := range times {
			if t, err = time.Parse(form, x); err == nil {
				break
			}
		}
		if err != nil {
			return 0, fmt.Errorf("%q is no time like 2026-03-01T12:00:00Z", clip(x))
		}
	default:
		return 0, errors.New("want a time like 2026-03-01T12:00:00Z")
	}
	if t.After(now.Add(pushFuture)) || t.Before(now.Add(-pushPast)) {
		return 0, fmt.Errorf("%s is not within 30 days before now and 1 minute after", t.UTC().Format(time.RFC3339))
	}
	return t.UnixMilli(), nil
}

// pushKey reads the value of a join key as a request does: text, or an integer's digits.
func pushKey(x any) (string, error) {
	var key string
	switch x := x.(type) {
	case string:
		key = x
	case json.Number:
		if key = x.String(); strings.Trim(key, "-0123456789") != "" {
			return "", errors.New("want a string")
		}
	default:
		return "", errors.New("want a string")
	}
	if key == "" || len(key) > maxValue || !utf8.ValidString(key) {
		return "", fmt.Errorf("want 1 to %d bytes of UTF-8", maxValue)
	}
	return key, nil
}

// pushValue appends a value to its column; null is no value.
func pushValue(c *features.Column, f *features.Feature, x any) error {
	if f.DType == features.String {
		s, ok := x.(string)
		if x != nil && !ok || len(s) > maxValue {
			return fmt.Errorf("want a string of up to %d bytes, or null", maxValue)
		}
		c.Str = append(c.Str, s)
		return nil
	}
	value := math.NaN()
	if x != nil {
		var err error
		if value, err = pushNumber(f, x); err != nil {
			return err
		}
	}
	c.Num = append(c.Num, value)
	return nil
}

func pushNumber(f *features.Feature, x any) (float64, error) {
	if f.DType == features.Bool {
		b, ok := x.(bool)
		if !ok {
			return 0, errors.New("want true, false or null")
		}
		if b {
			return 1, nil
		}
		return 0, nil
	}
	number, ok := x.(json.Number)
	value, err := strconv.ParseFloat(number.String(), 64)
	switch {
	case !ok, err != nil, f.DType == features.Float32 && math.Abs(value) > math.MaxFloat32:
		return 0, fmt.Errorf("want a %s or null", f.DType)
	case f.DType == features.Int64 && (value != math.Trunc(value) || math.Abs(value) >= 1<<63):
		return 0, fmt.Errorf("%s is no int64", clip(number.String()))
	case f.Min != nil && value < *f.Min, f.Max != nil && value > *f.Max:
		return 0, fmt.Errorf("%v is out of range: want %s", value, f.Range())
	}
	return value, nil
}
