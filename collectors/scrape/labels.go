package scrape

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
)

// labelRules turn the labels that a target exposes into the labels that are sent, with
// the rules and the order of Prometheus: target labels, metric relabelling, limits,
// external labels.
type labelRules struct {
	target   labels.Labels // job, instance and what target relabelling left
	external labels.Labels // of the agent; a series' own label wins
	honor    bool          // honor_labels
	relabel  []*relabel.Config
	limits   labelLimits
}

// sample returns the labels of an exposed series, and false if relabelling dropped it.
func (r *labelRules) sample(exposed labels.Labels) (labels.Labels, bool) {
	b := labels.NewBuilder(exposed)
	var clash []labels.Label
	r.target.Range(func(l labels.Label) {
		own := exposed.Get(l.Name)
		switch {
		case r.honor && exposed.Has(l.Name):
			return
		case own != "":
			clash = append(clash, labels.Label{Name: l.Name, Value: own})
		}
		b.Set(l.Name, l.Value)
	})
	export(b, clash)
	if !relabel.ProcessBuilder(b, r.relabel...) {
		return labels.EmptyLabels(), false
	}
	out := b.Labels()
	return r.withExternal(out), !out.IsEmpty()
}

// report returns the labels of one of the target's own series, such as up.
func (r *labelRules) report(name string) labels.Labels {
	b := labels.NewBuilder(r.target)
	b.Set(model.MetricNameLabel, name)
	return r.withExternal(b.Labels())
}

// export moves exposed labels that a target label displaced to exported_<name>, with
// the prefix again for as long as the name is taken.
func export(b *labels.Builder, clash []labels.Label) {
	slices.SortStableFunc(clash, func(a, b labels.Label) int { return len(a.Name) - len(b.Name) })
	for _, l := range clash {
		name := model.ExportedLabelPrefix + l.Name
		for b.Get(name) != "" {
			name = model.ExportedLabelPrefix + name
		}
		b.Set(name, l.Value)
	}
}

func (r *labelRules) withExternal(ls labels.Labels) labels.Labels {
	if r.external.IsEmpty() {
		return ls
	}
	b := labels.NewBuilder(ls)
	r.external.Range(func(l labels.Label) {
		if !ls.Has(l.Name) {
			b.Set(l.Name, l.Value)
		}
	})
	return b.Labels()
}

// labelLimits are Prometheus' label_limit, label_name_length_limit and
// label_value_length_limit. A series beyond one fails the whole scrape. Zero is no limit.
type labelLimits struct{ count, name, value int }

func (l labelLimits) check(ls labels.Labels) error {
	metric := ls.Get(model.MetricNameLabel)
	if n := ls.Len(); l.count > 0 && n > l.count {
		return limitError{fmt.Sprintf("label_limit exceeded: metric %.50s has %d labels, limit %d", metric, n, l.count)}
	}
	if l.name == 0 && l.value == 0 {
		return nil
	}
	return ls.Validate(func(lb labels.Label) error {
		if n := len(lb.Name); l.name > 0 && n > l.name {
			return limitError{fmt.Sprintf("label_name_length_limit exceeded: metric %.50s, label %.50s, %d bytes, limit %d", metric, lb.Name, n, l.name)}
		}
		if n := len(lb.Value); l.value > 0 && n > l.value {
			return limitError{fmt.Sprintf("label_value_length_limit exceeded: metric %.50s, label %.50s, %d bytes, limit %d", metric, lb.Name, n, l.value)}
		}
		return nil
	})
}

// limitError is a scrape that broke one of its configured limits.
type limitError struct{ msg string }

func (e limitError) Error() string { return e.msg }
