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
	fmt.Fprintf(w, "\n%d nodes, %d scrapes of 150 samples each: %.1f M samples, %d feature rows\n\n", r.Nodes, r.Ticks, float64(r.Samples)/1e6, r.FeatureRows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "M samples/s\tratio\tby CPU time, %d cores\tCPU s/M: pipeline\tstore\tbroker\ttotal\tpeak MiB: pipeline\tstore\t\n", runtime.NumCPU())
	bare := float64(r.Samples) / r.BareWall.Seconds()
	r.Stretch.print(t, bare)
	fmt.Fprintf(t, "%d\t%d\t  Kafka to rows and features\n", r.PipelinePeak>>20, r.StorePeak>>20)
	r.Second.print(t, bare)
	fmt.Fprintln(t, "-\t-\t  of it the second half, when every series is known")
	Stretch{Samples: r.Samples, Wall: r.BareWall, Store: r.BareStore}.print(t, bare)
	fmt.Fprintln(t, "-\t-\t  bare limit: ready blocks")
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

// print begins a row; bare is samples per second. What all cores would carry if nothing
// else ran is firmer than the wall clock on a machine that others use too.
func (s Stretch) print(w io.Writer, bare float64) {
	rate := float64(s.Samples) / s.Wall.Seconds()
	perM := func(d time.Duration) float64 { return d.Seconds() / float64(s.Samples) * 1e6 }
	total := perM(s.Pipeline + s.Store + s.Broker)
	fmt.Fprintf(w, "%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t",
		rate/1e6, rate/bare, float64(runtime.NumCPU())/total, perM(s.Pipeline), perM(s.Store), perM(s.Broker), total)
}
