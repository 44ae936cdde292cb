package promapi

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
)

// The bounds of a span that names none, as Prometheus has and formats them.
var (
	minTime = time.Unix(math.MinInt64/1000+62135596801, 0).UTC()
	maxTime = time.Unix(math.MaxInt64/1000-62135596801, 999999999).UTC()
)

// timeParam is a time in unix seconds or RFC 3339.
func timeParam(r *http.Request, name string, missing time.Time) (time.Time, *apiError) {
	text := r.FormValue(name)
	if text == "" && !missing.IsZero() {
		return missing, nil
	}
	t, err := parseTime(text)
	if err != nil {
		return t, badParam(name, err)
	}
	return t, nil
}

func parseTime(s string) (time.Time, error) {
	if t, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(t) && !math.IsInf(t, 0) {
		whole, ns := math.Modf(t)
		ns = math.Round(ns*1000) / 1000
		return time.Unix(int64(whole), int64(ns*float64(time.Second))).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	switch s { // years of more than four digits, which time.Parse does not read
	case minTime.Format(time.RFC3339Nano):
		return minTime, nil
	case maxTime.Format(time.RFC3339Nano):
		return maxTime, nil
	}
	return time.Time{}, fmt.Errorf("cannot parse %q to a valid timestamp", s)
}

// parseDuration reads seconds, or Prometheus' 5m.
func parseDuration(s string) (time.Duration, error) {
	if d, err := strconv.ParseFloat(s, 64); err == nil {
		ns := d * float64(time.Second)
		if math.IsNaN(ns) || ns >= float64(math.MaxInt64) || ns < float64(math.MinInt64) {
			return 0, fmt.Errorf("cannot parse %q to a valid duration. It overflows int64", s)
		}
		return time.Duration(ns), nil
	}
	if d, err := model.ParseDuration(s); err == nil {
		return time.Duration(d), nil
	}
	return 0, fmt.Errorf("cannot parse %q to a valid duration", s)
}

// limitParam is how many results are wanted; 0: all.
func limitParam(r *http.Request) (int, *apiError) {
	text := r.FormValue("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && n < 0 {
		err = errors.New("limit must be non-negative")
	}
	if err != nil {
		return 0, badParam("limit", err)
	}
	return n, nil
}

// timeoutParam is how long the client wants to wait; 0: no shorter than the server does.
func timeoutParam(r *http.Request) (time.Duration, *apiError) {
	text := r.FormValue("timeout")
	if text == "" {
		return 0, nil
	}
	d, err := parseDuration(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("timeout must be positive, got %s", d)
	}
	if err != nil {
		return 0, badParam("timeout", err)
	}
	return d, nil
}

// lookup is what series, labels and label values are asked with.
type lookup struct {
	limit    int
	from, to int64 // unix ms
	sets     [][]*labels.Matcher
}

func (s *server) lookupParams(r *http.Request) (l lookup, failed *apiError) {
	if l.limit, failed = limitParam(r); failed != nil {
		return l, failed
	}
	start, failed := timeParam(r, "start", minTime)
	if failed != nil {
		return l, failed
	}
	end, failed := timeParam(r, "end", maxTime)
	if failed != nil {
		return l, failed
	}
	l.from, l.to = timestamp.FromTime(start), timestamp.FromTime(end)
	sets, err := s.parser.ParseMetricSelectors(r.Form["match[]"])
	if err != nil {
		return l, badParam("match[]", err)
	}
	for _, set := range sets {
		if !chooses(set) {
			return l, badData(errors.New("match[] must contain at least one non-empty matcher"))
		}
	}
	l.sets = sets
	return l, nil
}

// chooses says whether a selector leaves anything out.
func chooses(set []*labels.Matcher) bool {
	for _, m := range set {
		if m != nil && !m.Matches("") {
			return true
		}
	}
	return false
}

// each calls f for each selector, or once with none.
func (l lookup) each(f func(ms []*labels.Matcher) error) error {
	if len(l.sets) == 0 {
		return f(nil)
	}
	for _, set := range l.sets {
		if err := f(set); err != nil {
			return err
		}
	}
	return nil
}
