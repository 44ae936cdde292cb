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
	Sends           bool    // whether it sent what it scraped, or only kept it on disk
	CPUSeconds      float64 // user and system
	Scraped         int64   // samples in the pages that it fetched
	Delivered       int64   // samples that arrived at its sink, its own up and scrape_* included
	Bytes           int64   // bodies or record batches that arrived, compressed
	RSS, Anon, Peak int64   // bytes: median resident, of it anonymous, and the most since the start
}

// PerMillion is the CPU time in seconds per million scraped samples.
func (r Row) PerMillion() float64 { return r.CPUSeconds / float64(r.Scraped) * 1e6 }

// Print writes the table. Each row is compared with the first one that does the same work.
func (r Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "\n%d targets of %d series, %s interval, %d intervals, gzip %t\n\n", r.Targets, r.Series, r.Interval, r.Intervals, r.Gzip)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "CPU s/M samples\tratio\tRSS MiB\tanon\tpeak\tscraped/s\tdelivered/s\tB/sample\t  agent\n")
	first := map[bool]Row{}
	for _, row := range r.Rows {
		if _, ok := first[row.Sends]; !ok {
			first[row.Sends] = row
		}
		seconds := (time.Duration(r.Intervals) * r.Interval).Seconds()
		delivered, bytes := "-", "-"
		if row.Sends && row.Delivered > 0 {
			delivered = fmt.Sprintf("%.0f", float64(row.Delivered)/seconds)
			bytes = fmt.Sprintf("%.1f", float64(row.Bytes)/float64(row.Delivered))
		}
		fmt.Fprintf(t, "%.2f\t%.2f\t%d\t%d\t%d\t%.0f\t%s\t%s\t  %s\n", row.PerMillion(), row.PerMillion()/first[row.Sends].PerMillion(),
			row.RSS>>20, row.Anon>>20, row.Peak>>20, float64(row.Scraped)/seconds, delivered, bytes, row.Name)
	}
	return t.Flush()
}
