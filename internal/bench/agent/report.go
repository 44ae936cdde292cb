package agent

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is what Run measured.
type Report struct {
	Interval time.Duration
	Rounds   int
	Gzip     bool
	Tables   []Table
	Failed   []Failure // peers without a row
}

// Table is one workload.
type Table struct {
	Workload  Workload
	Intervals int
	Rows      []Row
}

// Row is one contender over the measured intervals, the median of all rounds.
type Row struct {
	Name            string
	Sends           bool    // whether it sent what it scraped, or only kept it on disk
	Own             bool    // whether it read as much of the host itself as the others scraped
	CPUSeconds      float64 // user and system
	Scraped         int64   // samples in the pages that it fetched
	Delivered       int64   // samples that arrived at its sink, its own up and scrape_* included
	Bytes           int64   // bodies or record batches that arrived, compressed
	RSS, Anon, Peak int64   // bytes: median resident, of it anonymous, and the most since the start
	Binary          int64   // bytes of the program's file
	Verdict         Verdict // the worst of all rounds
}

// Verdict is what became of the samples of the pages, from the start of the process to some seconds
// after the last scrape.
type Verdict struct {
	Served, Arrived int64
	Same            bool // what was served arrived, each sample once
	Rounded         bool // but not with the very bits: vmagent's reader of numbers rounds twice
	Unknown         bool // the contender delivers others of the same names, so that nobody can tell
}

func (v Verdict) String() string {
	switch {
	case v.Unknown || v.Served == 0:
		return "-"
	case v.Same && v.Rounded:
		return "all, rounded"
	case v.Same:
		return "all"
	case v.Arrived < v.Served:
		return fmt.Sprintf("LOST %d of %d", v.Served-v.Arrived, v.Served)
	case v.Arrived > v.Served:
		return fmt.Sprintf("DOUBLED %d of %d", v.Arrived-v.Served, v.Served)
	}
	return "DIFFERS"
}

// samples are those that the row's cost is spread over.
func (r Row) samples() int64 {
	if r.Own {
		return r.Delivered
	}
	return r.Scraped
}

// PerMillion is the CPU time in seconds per million scraped samples.
func (r Row) PerMillion() float64 { return r.CPUSeconds / float64(r.samples()) * 1e6 }

// middle is the row whose CPU time is the median, with the medians of the memory and the worst verdict.
func middle(rows []Row) Row {
	byCPU := slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return cmp.Compare(a.PerMillion(), b.PerMillion()) })
	out := byCPU[len(rows)/2]
	var rss, anon, peak []int64
	for _, r := range rows {
		rss, anon, peak = append(rss, r.RSS), append(anon, r.Anon), append(peak, r.Peak)
		if !r.Verdict.Same {
			out.Verdict = r.Verdict
		}
	}
	out.RSS, out.Anon, out.Peak = median(rss), median(anon), median(peak)
	return out
}

// Print writes a table for each workload. A row's ratio is its CPU time to that of the first
// row that does the same work.
func (r Report) Print(w io.Writer) error {
	for _, t := range r.Tables {
		if err := r.table(w, t); err != nil {
			return err
		}
	}
	for _, f := range r.Failed {
		fmt.Fprintf(w, "\nno row of %v\n", f.Err)
	}
	return nil
}

func (r Report) table(w io.Writer, t Table) error {
	how := "one after the other"
	if t.Workload.Together {
		how = "all at once"
	}
	fmt.Fprintf(w, "\n%s: node_exporter with %d series, dcgm-exporter of %d GPUs, cAdvisor of %d pods; every %s, %d intervals, %d rounds, gzip %t, %s\n\n",
		t.Workload.Name, nodeSeries, nodeGPUs, nodePods, r.Interval, t.Intervals, r.Rounds, r.Gzip, how)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "CPU s/M samples\tratio\tRSS MiB\tanon\tpeak\tfile MB\tscraped/s\tB/sample\tdelivered\t  agent\n")
	first := map[bool]Row{}
	for _, row := range t.Rows {
		if _, ok := first[row.Sends]; !ok {
			first[row.Sends] = row
		}
		bytes := "-"
		if row.Sends && row.Delivered > 0 {
			bytes = fmt.Sprintf("%.1f", float64(row.Bytes)/float64(row.Delivered))
		}
		seconds := (time.Duration(t.Intervals) * r.Interval).Seconds()
		fmt.Fprintf(table, "%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t%s\t%s\t  %s\n", row.PerMillion(), row.PerMillion()/first[row.Sends].PerMillion(),
			mib(row.RSS), mib(row.Anon), mib(row.Peak), float64(row.Binary)/1e6, float64(row.samples())/seconds, bytes, row.Verdict, row.Name)
	}
	return table.Flush()
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
