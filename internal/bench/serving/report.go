package serving

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// published are figures that Feast's project gives for 100 entities × 50 features. They are of other
// machines, and cited only.
const published = "Feast publishes p99 22 ms for its Go server and 125 ms for its Python server, at 100 entities × 50 features, on machines of its own; neither is measured here."

// Print writes the table. A ratio is how many times Feast takes what the row takes, at the same
// number of entities.
func (r *Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d client(s), each one request at a time, on the same machine; %v a row; %d entities in the view; load average at the start %s; below 100 requests p99 is the slowest\n",
		r.Clients, r.Duration, r.Entities, r.Busy)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "server\tvalues\trequests\tp50\tp99\trequests/s\tCPU s/1,000\tMiB/answer\tFeast/this: p99\tCPU\t")
	for _, x := range r.Rows {
		if x.Fault != "" {
			continue
		}
		if len(x.Took) == 0 {
			return fmt.Errorf("%s: no request was answered in %v", x.Program, x.Span)
		}
		p99, cpu := r.ratios(x)
		fmt.Fprintf(w, "%s\t%d × %d\t%d\t%s\t%s\t%.0f\t%.3f\t%.3f\t%s\t%s\t\n", x.Program, x.Entities, x.Width, len(x.Took), ms(x.at(0.5)), ms(x.at(0.99)), x.rate(),
			x.perThousand().Seconds(), float64(x.Bytes)/float64(len(x.Took))/(1<<20), p99, cpu)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, x := range r.Rows {
		if x.Fault != "" {
			fmt.Fprintf(out, "%s: %s\n", x.Program, x.Fault)
		}
	}
	_, err := fmt.Fprintln(out, published)
	return err
}

// ratios compare a row with Feast over SQLite.
func (r *Result) ratios(x Row) (p99, cpu string) {
	for _, f := range r.Rows {
		if f.Program == "feast "+sqlite && f.Fault == "" && f.Entities == x.Entities && f.Width == x.Width && x.Program != f.Program {
			p99 = fmt.Sprintf("%.1f", float64(f.at(0.99))/float64(x.at(0.99)))
			if x.CPU > 0 {
				cpu = fmt.Sprintf("%.1f", float64(f.perThousand())/float64(x.perThousand()))
			}
			return p99, cpu
		}
	}
	return "", ""
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }
