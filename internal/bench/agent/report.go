package agent

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Report is what Run measured.
type Report struct {
	Targets, Series int // pages, and series of each
	Interval        time.Duration
	Intervals       int
	Gzip            bool
	Rows            []Row
}

// Row is one contender over the measured intervals.
type Row struct {
	Name            string
	CPUSeconds      float64 // user and system
	Scraped         int64   // samples in the pages that it fetched
	Delivered       int64   // samples that arrived at its sink, its own up and scrape_* included
	Bytes           int64   // bodies that arrived, compressed; 0 when not counted
	RSS, Anon, Peak int64   // bytes: median resident, of it anonymous, and the most since the start
}

// PerMillion is the CPU time in seconds per million scraped samples.
func (r Row) PerMillion() float64 { return r.CPUSeconds / float64(r.Scraped) * 1e6 }

// Print writes the table. The first row is what the others are compared with.
func (r Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "\n%d targets of %d series, %s interval, %d intervals, gzip %t\n\n", r.Targets, r.Series, r.Interval, r.Intervals, r.Gzip)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "CPU s/M samples\tratio\tRSS MiB\tanon\tpeak\tscraped/s\tdelivered/s\tB/sample\t  agent\n")
	for _, row := range r.Rows {
		seconds := (time.Duration(r.Intervals) * r.Interval).Seconds()
		bytes := "-"
		if row.Bytes > 0 && row.Delivered > 0 {
			bytes = fmt.Sprintf("%.1f", float64(row.Bytes)/float64(row.Delivered))
		}
		fmt.Fprintf(t, "%.2f\t%.2f\t%d\t%d\t%d\t%.0f\t%.0f\t%s\t  %s\n", row.PerMillion(), row.PerMillion()/r.Rows[0].PerMillion(),
			row.RSS>>20, row.Anon>>20, row.Peak>>20, float64(row.Scraped)/seconds, float64(row.Delivered)/seconds, bytes, row.Name)
	}
	return t.Flush()
}
