package features

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Print writes the table. Ratios are to Sextant's row of the same size.
func (r Result) Print(w io.Writer) error {
	fmt.Fprintf(w, "\n%d features of %s; %.0f series per node that they read, for up to %s, with %d bytes of labels\n\n",
		r.Features, strings.Join(r.Views, ", "), r.Series, r.History, r.Labels)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "nodes\tCPU s per tick\tratio\tµs per node\tCPU s to add samples\tratio\tstate bytes per node\tratio\tof it plans\tvalues per node\tmeasured on\t")
	var own Row
	for _, x := range r.Rows {
		if x.Engine == engines[0].name {
			own = x
		}
		if x.Measured == 0 {
			fmt.Fprintf(t, "%d\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t  %s\n", x.Nodes, x.Engine)
			continue
		}
		fmt.Fprintf(t, "%d\t%.4f\t%s\t%.1f\t%.4f\t%s\t%d\t%s\t%d\t%.1f\t%d\t  %s\n", x.Nodes,
			x.Tick.Seconds(), ratio(x.Tick, own.Tick), float64(x.Tick)/float64(x.Nodes)/float64(time.Microsecond),
			x.Add.Seconds(), ratio(x.Add, own.Add), x.State, ratio(x.State, own.State), x.Plans, x.Values, x.Measured, x.Engine)
	}
	return t.Flush()
}

func ratio[T ~int64](x, own T) string {
	if own == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(x)/float64(own))
}
