package compile

import (
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/schema"

	"sextant/pipeline/window"
)

// selector is an instant selector: the newest sample of each series that is not older
// than the lookback. With stamps, the value is the sample's time.
type selector struct {
	offset int64 // ms
	stamps bool
}

func (o *selector) plan(s *Set, n *node, _ *plan) []labels.Labels {
	return s.seriesLabels(n.source, o.stamps)
}

func (o *selector) eval(s *Set, n *node, _ *plan) error {
	hi := s.at - o.offset
	lo := hi - s.lookback + 1
	list := s.store.Series(s.group, n.source)
	for from := 0; from < len(list); from += block {
		part := list[from:min(from+block, len(list))]
		window.Touch(part)
		for i, series := range part {
			t, v, ok := series.Last(lo, hi)
			if !ok {
				continue
			}
			if o.stamps {
				v = float64(t) / 1000
			}
			n.out.add(int32(from+i), v)
		}
	}
	return nil
}

// seriesLabels are the labels of a selector's series, with or without their names.
func (s *Set) seriesLabels(source int, dropNames bool) []labels.Labels {
	list := s.store.Series(s.group, source)
	out := make([]labels.Labels, len(list))
	for i, series := range list {
		out[i] = series.Labels
	}
	if dropNames {
		return nameless(out)
	}
	return out
}

// nameless drops the labels that name the metric, its type and its unit.
func nameless(in []labels.Labels) []labels.Labels {
	out := make([]labels.Labels, len(in))
	for i, ls := range in {
		out[i] = ls.DropReserved(schema.IsMetadataLabel)
	}
	return out
}
