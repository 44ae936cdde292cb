package telegraf

import (
	"cmp"
	"slices"
	"strings"
	"time"

	upstream "github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/serializers/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// families are the metrics as Telegraf's Prometheus outputs name and type them, sorted.
// Those with a time of their own have it as their timestamp. texts counts the fields
// without a number, which have no sample.
func (a *accumulator) families(metrics []upstream.Metric, end time.Time, stringAsLabel bool) (out []*dto.MetricFamily, texts int) {
	format := prometheus.FormatConfig{SortMetrics: true, CompactEncoding: true, StringAsLabel: stringAsLabel}
	plain := prometheus.NewCollection(format)
	format.ExportTimestamp = true
	timed := prometheus.NewCollection(format)
	for _, m := range metrics {
		if !stringAsLabel {
			texts += stringFields(m)
		}
		if t, own := a.own(m.Time(), end); own {
			m.SetTime(t)
			timed.Add(m, end)
		} else {
			m.SetTime(a.begin)
			plain.Add(m, end)
		}
	}
	return merge(plain.GetProto(), timed.GetProto()), texts
}

func stringFields(m upstream.Metric) (n int) {
	for _, f := range m.FieldList() {
		if _, ok := f.Value.(string); ok {
			n++
		}
	}
	return n
}

// merge joins the families of one name and type, and leaves each metric labels that a
// series can have.
func merge(lists ...[]*dto.MetricFamily) []*dto.MetricFamily {
	var out []*dto.MetricFamily
	for _, f := range slices.Concat(lists...) {
		for _, m := range f.Metric {
			m.Label = series(m.Label)
		}
		i := slices.IndexFunc(out, func(o *dto.MetricFamily) bool { return o.GetName() == f.GetName() && o.GetType() == f.GetType() })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Metric = append(out[i].Metric, f.Metric...)
	}
	slices.SortFunc(out, func(a, b *dto.MetricFamily) int {
		return cmp.Or(cmp.Compare(a.GetName(), b.GetName()), cmp.Compare(a.GetType(), b.GetType()))
	})
	return out
}

// series drops labels that no series may have: those whose names begin with two
// underscores, __name__ among them, and the later of two tags whose names became equal.
func series(labels []*dto.LabelPair) []*dto.LabelPair {
	seen := make(map[string]bool, len(labels))
	return slices.DeleteFunc(labels, func(l *dto.LabelPair) bool {
		bad := seen[l.GetName()] || strings.HasPrefix(l.GetName(), "__")
		seen[l.GetName()] = true
		return bad
	})
}
