package line

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"
)

// Print writes the tables.
func (r Result) Print(w io.Writer) error {
	million := float64(r.Samples) / 1e6
	perM := func(d time.Duration) float64 { return d.Seconds() / million }
	rate := func(d time.Duration) float64 { return float64(r.Samples) / d.Seconds() / 1e6 }
	total := r.Pipeline + r.Store + r.Broker
	fmt.Fprintf(w, "\n%d nodes, %d scrapes of 150 samples each: %.1f M samples, %d feature rows\n\n", r.Nodes, r.Ticks, million, r.FeatureRows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	// What all cores would carry if nothing else ran: firmer than the wall clock on a
	// machine that others use too.
	limit := func(d time.Duration) float64 { return float64(runtime.NumCPU()) / perM(d) }
	fmt.Fprintf(t, "M samples/s\tratio\tby CPU time, %d cores\tCPU s/M: pipeline\tstore\tbroker\ttotal\tpeak MiB: pipeline\tstore\t\n", runtime.NumCPU())
	fmt.Fprintf(t, "%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%d\t  Kafka to rows and features\n",
		rate(r.Wall), rate(r.Wall)/rate(r.BareWall), limit(total), perM(r.Pipeline), perM(r.Store), perM(r.Broker), perM(total), r.PipelinePeak>>20, r.StorePeak>>20)
	fmt.Fprintf(t, "%.2f\t1.00\t%.2f\t-\t%.3f\t-\t%.3f\t-\t-\t  bare limit: ready blocks\n", rate(r.BareWall), limit(r.BareStore), perM(r.BareStore), perM(r.BareStore))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nthe pipeline's CPU time (of a profile)\n\n")
	var sum float64
	for _, p := range r.Split {
		sum += p.Seconds
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, p := range r.Split {
		fmt.Fprintf(t, "%.0f %%\t%.0f ns/sample\t  %s\n", p.Seconds/sum*100, p.Seconds/float64(r.Samples)*1e9, p.Name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nbytes per sample on disk: %.2f as written, %.2f merged\n", r.BytesWritten, r.BytesMerged)
	return nil
}
