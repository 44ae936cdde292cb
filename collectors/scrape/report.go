package scrape

import (
	"slices"
	"time"
)

// reportNames are the series that every target has beside what it exposes, in the order
// of report.values.
var reportNames = []string{
	"up",
	"scrape_duration_seconds",
	"scrape_samples_scraped",
	"scrape_samples_post_metric_relabeling",
	"scrape_series_added",
	"scrape_body_size_bytes",
}

// extraReportNames follow where extra_scrape_metrics is on.
var extraReportNames = []string{"scrape_timeout_seconds", "scrape_sample_limit"}

// Reported tells whether the agent itself makes a series of that name for each target.
func Reported(name string) bool {
	return slices.Contains(reportNames, name) || slices.Contains(extraReportNames, name)
}

// report is the outcome of one scrape as the target's own series tell it.
type report struct {
	up       bool
	duration time.Duration
	counts   counts
	bytes    int // -1 when body_size_limit was exceeded

	timeout     time.Duration // extra
	sampleLimit int           // extra
}

// fill writes the report into the first slots of a layout.
func (r report) fill(l *layout, start int64, extra bool) {
	up := 0.0
	if r.up {
		up = 1
	}
	vs := [...]float64{up, r.duration.Seconds(), float64(r.counts.scraped), float64(r.counts.kept),
		float64(r.counts.added), float64(r.bytes), r.timeout.Seconds(), float64(r.sampleLimit)}
	n := len(reportNames)
	if extra {
		n += len(extraReportNames)
	}
	for i := range n {
		l.times[i], l.values[i] = start, vs[i]
	}
}

// fillStale ends the report series of a target that is gone.
func fillStale(l *layout, n int, at int64) {
	for i := range n {
		l.times[i], l.values[i] = at, stale
	}
}
