package snapshot

import (
	"encoding/json"
	"math"
	"strconv"
)

// maxJSON is how many values a text may have: people read it, programs read Arrow.
const maxJSON = 1_000_000

// encodeJSON is the header with "keys": {join key: […]}, "values", "status" and "ages", a row
// an entity. null is no value.
func (x *matrix) encodeJSON() ([]byte, error) {
	if n := len(x.values); n > maxJSON {
		return nil, badRequest("format: json is for %d values at most, and %s has %d: ask for arrow or raw", maxJSON, x.plan.ref, n)
	}
	text, err := json.Marshal(x.header)
	if err != nil {
		return nil, err
	}
	out := append(text[:len(text)-1], `,"keys":`...)
	return append(x.appendRows(out), '}', '\n'), nil
}

// appendRows appends keys, and the numbers of all rows.
func (x *matrix) appendRows(out []byte) []byte {
	keys := make(map[string][]string, len(x.plan.keys))
	for k, key := range x.plan.keys {
		keys[key] = append([]string{}, x.ents.keys[k]...)
	}
	text, err := json.Marshal(keys)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	out = append(out, text...)
	out = appendGrid(append(out, `,"values":`...), x.ents.n, x.values, appendNumber)
	out = appendGrid(append(out, `,"status":`...), x.ents.n, x.status, func(dst []byte, st uint8) []byte { return strconv.AppendUint(dst, uint64(st), 10) })
	return appendGrid(append(out, `,"ages":`...), x.ents.n, x.ages, appendNumber)
}

// appendGrid appends values as n rows of one length.
func appendGrid[T any](dst []byte, n int, values []T, one func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		width := len(values) / n
		dst = append(dst, '[')
		for j, v := range values[i*width : (i+1)*width] {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = one(dst, v)
		}
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

// appendNumber writes the shortest text that reads back as the same float32; what JSON has no
// word for is null.
func appendNumber(dst []byte, x float32) []byte {
	v := float64(x)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, 32)
}
