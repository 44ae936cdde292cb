package backfill

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Print writes the table.
func (r *Result) Print(out io.Writer) error {
	million := float64(r.Read) / 1e6
	perM := func(d time.Duration) float64 { return d.Seconds() / million }
	all := r.Program + r.Store
	fmt.Fprintf(out, "\n%d nodes, %d ticks, %.1f M samples stored, %.1f M of them read: %s\n%d rows, %.1f M values, %d groups at once\n\n",
		r.Nodes, r.Ticks, float64(r.Stored)/1e6, million, strings.Join(r.Views, ", "), r.Rows, float64(r.Values)/1e6, r.Parallel)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "M samples/s\tof a core's time\tstored, likewise\tCPU s/M: evaluator\tengine\ttogether\tpeak MiB: evaluator\tengine\t")
	fmt.Fprintf(w, "%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%d\t%d\t  samples to stored rows\n",
		million/r.Wall.Seconds(), 1/perM(all), float64(r.Stored)/1e6/all.Seconds(), perM(r.Program), perM(r.Store), perM(all), r.Peak>>20, r.PeakOf>>20)
	fmt.Fprintf(w, "%.2f\t%.2f\t-\t-\t%.3f\t%.3f\t-\t-\t  bare limit: read as Native bytes, thrown away\n",
		million/r.BareWall.Seconds(), 1/perM(r.BareStore), perM(r.BareStore), perM(r.BareStore))
	return w.Flush()
}
