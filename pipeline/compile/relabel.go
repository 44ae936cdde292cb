package compile

import (
	"strings"

	"github.com/grafana/regexp"
	"github.com/prometheus/prometheus/model/labels"
)

// relabel is label_replace and label_join: other labels, the same values.
type relabel struct {
	rewrite func(b *labels.Builder, ls labels.Labels) labels.Labels
}

func (o *relabel) plan(s *Set, n *node, _ *plan) []labels.Labels {
	in := s.labels(n.args[0])
	out := make([]labels.Labels, len(in))
	b := labels.NewBuilder(labels.EmptyLabels())
	for i, ls := range in {
		out[i] = o.rewrite(b, ls)
	}
	return out
}

func (o *relabel) eval(_ *Set, n *node, _ *plan) error {
	in := n.args[0].out
	n.out.Slot = append(n.out.Slot, in.Slot...)
	n.out.Value = append(n.out.Value, in.Value...)
	return nil
}

// replaceLabel is the rewrite of label_replace.
func replaceLabel(dst, replacement, src string, re *regexp.Regexp) func(*labels.Builder, labels.Labels) labels.Labels {
	return func(b *labels.Builder, ls labels.Labels) labels.Labels {
		v := ls.Get(src)
		match := re.FindStringSubmatchIndex(v)
		if match == nil {
			return ls
		}
		b.Reset(ls)
		b.Set(dst, string(re.ExpandString(nil, replacement, v, match)))
		return b.Labels()
	}
}

// joinLabels is the rewrite of label_join.
func joinLabels(dst, separator string, srcs []string) func(*labels.Builder, labels.Labels) labels.Labels {
	values := make([]string, len(srcs))
	return func(b *labels.Builder, ls labels.Labels) labels.Labels {
		for i, src := range srcs {
			values[i] = ls.Get(src)
		}
		b.Reset(ls)
		b.Set(dst, strings.Join(values, separator))
		return b.Labels()
	}
}
