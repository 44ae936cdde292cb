package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseTime reads a point in time: now, an offset from it such as -7d, -90m or -1w2d, a date
// with a zone's time (RFC 3339). A time without a zone means another hour to each reader, and is
// refused.
func ParseTime(text string, now time.Time) (time.Time, error) {
	switch {
	case text == "now":
		return now, nil
	case strings.HasPrefix(text, "-"), strings.HasPrefix(text, "+"):
		d, err := offset(text[1:])
		if err != nil {
			return time.Time{}, fmt.Errorf("%q: %w", text, err)
		}
		if text[0] == '-' {
			d = -d
		}
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err == nil {
		return at, nil
	}
	for _, naive := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if _, err := time.Parse(naive, text); err == nil {
			return time.Time{}, fmt.Errorf("%q has no zone: write %sZ for UTC, or +02:00", text, full(text))
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: want now, an offset such as -7d or -90m, or RFC 3339 such as 2026-03-01T12:00:00Z", text)
}

// full completes a date to seconds.
func full(text string) string {
	text = strings.Replace(text, " ", "T", 1)
	return text + "T00:00:00"[min(max(len(text)-10, 0), 9):]
}

var spans = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// offset reads whole numbers with units, such as 1d12h.
func offset(text string) (time.Duration, error) {
	var sum time.Duration
	for text != "" {
		i := 0
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		if i == 0 || i == len(text) || i > 6 || spans[text[i]] == 0 {
			return 0, fmt.Errorf("want a number and s, m, h, d or w, such as -7d")
		}
		n, err := strconv.Atoi(text[:i])
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * spans[text[i]]
		text = text[i+1:]
	}
	if sum == 0 {
		return 0, fmt.Errorf("want a number above 0 and s, m, h, d or w, such as -7d")
	}
	return sum, nil
}

// maxPeriod bounds what one report reads.
const maxPeriod = 400 * 24 * time.Hour

// Period is the whole hours that from and to touch.
func Period(from, to time.Time) (time.Time, time.Time, error) {
	if !from.Before(to) {
		return from, to, fmt.Errorf("--from %s is not before --to %s", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	if to.Sub(from) > maxPeriod {
		return from, to, fmt.Errorf("%v is longer than %d days", to.Sub(from), int(maxPeriod.Hours()/24))
	}
	from = from.UTC().Truncate(time.Hour)
	if end := to.UTC().Truncate(time.Hour); end.Before(to) {
		to = end.Add(time.Hour)
	}
	return from, to.UTC(), nil
}

// ParseWhere reads filters such as tenant=acme,zeta.
func ParseWhere(texts []string) ([]Filter, error) {
	var out []Filter
	for _, t := range texts {
		name, values, ok := strings.Cut(t, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--where %q: want dimension=value, or dimension=value,value", t)
		}
		f := Filter{Dimension: name}
		for _, v := range strings.Split(values, ",") {
			if name == "simulated" {
				switch v {
				case "true", "1":
					v = "1"
				case "false", "0":
					v = "0"
				default:
					return nil, fmt.Errorf("--where %q: simulated is true or false", t)
				}
			}
			f.Values = append(f.Values, v)
		}
		if len(f.Values) > 100 {
			return nil, fmt.Errorf("--where %s: %d values, the limit is 100", name, len(f.Values))
		}
		out = append(out, f)
	}
	return out, nil
}
