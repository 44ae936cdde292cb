package exposition

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"
)

// normalNaN is the one NaN that a page can give. Prometheus uses other NaN bits as its
// staleness marker, so no page may choose the bits.
var normalNaN = math.Float64frombits(0x7ff8000000000001)

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat reads a value as strconv.ParseFloat does, without hexadecimal numbers and
// underscores.
func parseFloat(b []byte) (float64, error) {
	if v, n := parseDecimal(b); n > 0 && n == len(b) {
		return v, nil
	}
	if len(b) == 0 {
		return 0, errNoValue
	}
	for _, c := range b {
		if c == 'p' || c == 'P' || c == '_' || c == 'x' || c == 'X' {
			return 0, fmt.Errorf("value %q is not a decimal number", clip(b))
		}
	}
	// The string lives only for the call: ParseFloat copies what its error keeps.
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	if err != nil {
		return 0, fmt.Errorf("value %q is not a number of 64 bits", clip(b))
	}
	if v != v {
		return normalNaN, nil
	}
	return v, nil
}

// parseDecimal reads [+-]digits[.digits][e[+-]digits] up to a blank or the end of b, and
// returns how many bytes it took. It takes 0 where it is not sure to be exact: with a
// mantissa below 2^53 and a power of ten up to 22 both are exact in a float64, so that
// one multiplication or division rounds once and gives the nearest.
func parseDecimal(b []byte) (v float64, n int) {
	i, negative := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		i++
	}
	mantissa, digits, exp := uint64(0), i, 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
	}
	digits = i - digits
	if i < len(b) && b[i] == '.' {
		i++
		exp = i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
		}
		exp -= i
		digits -= exp
	}
	if digits == 0 || digits > 19 || mantissa >= 1<<53 { // 19 digits cannot overflow 64 bits
		return 0, 0
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, width := parseExponent(b[i+1:])
		if width == 0 {
			return 0, 0
		}
		exp += e
		i += 1 + width
	}
	if i < len(b) && !isBlank(b[i]) {
		return 0, 0
	}
	v = float64(mantissa)
	switch {
	case exp == 0:
	case exp > 0 && exp < len(pow10):
		v *= pow10[exp]
	case exp < 0 && -exp < len(pow10):
		v /= pow10[-exp]
	default:
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
}

// parseExponent reads [+-] and one to three digits, and returns how many bytes it took;
// 0 if b starts otherwise.
func parseExponent(b []byte) (e, n int) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		n++
	}
	start := n
	for ; n < len(b) && n < start+3 && b[n]-'0' <= 9; n++ {
		e = e*10 + int(b[n]-'0')
	}
	if n == start {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, n
}

// parseTime reads a timestamp as unix ms: an integer of ms in Text, seconds with a
// fraction in OpenMetrics.
func parseTime(b []byte, format Format) (int64, error) {
	if format == OpenMetrics {
		seconds, err := parseFloat(b)
		ms := math.Round(seconds * 1000)
		if err != nil || !(math.Abs(ms) < 1<<63) {
			return 0, fmt.Errorf("timestamp %q is not a number of seconds", clip(b))
		}
		return int64(ms), nil
	}
	ms, err := strconv.ParseInt(unsafe.String(unsafe.SliceData(b), len(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("timestamp %q is not a number of milliseconds", clip(b))
	}
	return ms, nil
}
