package receive

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"

	"sextant/schema/wire"
)

const (
	nodeLabel     = "node"
	jobLabel      = "job"
	instanceLabel = "instance"
)

// unnamed is the target of series that have neither a job nor an instance.
const unnamed = "remote-write"

var (
	errNoName  = errors.New("no metric name")
	errTooLong = fmt.Errorf("more than %d bytes of labels", maxSeriesBytes)
)

// rules turn the labels of a sender into the place and the labels under which a series
// goes on.
type rules struct {
	node       string   // of the agent, for series that name none
	nodeLabels []string // the first that a series has names its node
	relabel    []*relabel.Config
	external   labels.Labels // added at last; a series' own label wins
	maxLabels  int
}

// home is where a series goes: node and target of its record.
type home struct{ node, target string }

// apply returns the home of a series and its labels there. It may change ls. keep is false
// when a relabelling rule drops the series.
func (r *rules) apply(ls []wire.Label) (h home, out []wire.Label, keep bool, err error) {
	if ls, keep = r.relabelled(ls); !keep {
		return home{}, nil, false, nil
	}
	if get(ls, labels.MetricName) == "" {
		return home{}, nil, true, errNoName
	}
	if err := r.check(ls); err != nil {
		return home{}, nil, true, err
	}
	h.target = target(get(ls, jobLabel), get(ls, instanceLabel))
	if err := plain("target", h.target, wire.MaxTarget); err != nil {
		return home{}, nil, true, err
	}
	var from string
	h.node, from = r.nodeOf(ls)
	if err := plain("node", h.node, wire.MaxNode); err != nil {
		return home{}, nil, true, err
	}
	if from == nodeLabel {
		// The record carries the node. Left among the labels it would be taken for a
		// label of the exporter, and stored a second time as exported_node.
		ls = without(ls, nodeLabel)
	}
	if r.external.IsEmpty() {
		return h, ls, true, nil
	}
	ls = r.withExternal(ls)
	return h, ls, true, r.check(ls)
}

// check holds a series against the limits.
func (r *rules) check(ls []wire.Label) error {
	if len(ls) > r.maxLabels {
		return &wire.LimitError{Limit: wire.LimitLabels, Max: r.maxLabels, Got: len(ls)}
	}
	if err := wire.CheckLabels(ls); err != nil {
		return err
	}
	size := 0
	for _, l := range ls {
		size += len(l.Name) + len(l.Value)
	}
	if size > maxSeriesBytes {
		return errTooLong
	}
	return nil
}

// withExternal adds the agent's external labels that the series does not have.
func (r *rules) withExternal(ls []wire.Label) []wire.Label {
	r.external.Range(func(l labels.Label) {
		if get(ls, l.Name) == "" {
			ls = append(ls, wire.Label{Name: l.Name, Value: l.Value})
		}
	})
	slices.SortFunc(ls, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
	return ls
}

func (r *rules) relabelled(ls []wire.Label) ([]wire.Label, bool) {
	if len(r.relabel) == 0 {
		return ls, true
	}
	b := labels.NewScratchBuilder(len(ls))
	for _, l := range ls {
		b.Add(l.Name, l.Value)
	}
	builder := labels.NewBuilder(b.Labels())
	if !relabel.ProcessBuilder(builder, r.relabel...) {
		return nil, false
	}
	ls = ls[:0]
	builder.Labels().Range(func(l labels.Label) { ls = append(ls, wire.Label{Name: l.Name, Value: l.Value}) })
	return ls, true
}

// nodeOf returns the node of a series and the label that named it, "" for none.
func (r *rules) nodeOf(ls []wire.Label) (node, from string) {
	for _, name := range r.nodeLabels {
		value := get(ls, name)
		if name == instanceLabel {
			value = hostOf(value)
		}
		if value != "" {
			return value, name
		}
	}
	return r.node, ""
}

// hostOf is the host of an instance: of host:port, of a URL, or of a bare host. It is ""
// for a host that means another machine everywhere.
func hostOf(instance string) string {
	host := instance
	if strings.Contains(instance, "://") {
		u, err := url.Parse(instance)
		if err != nil {
			return ""
		}
		host = u.Hostname()
	} else if h, _, err := net.SplitHostPort(instance); err == nil {
		host = h
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		return ""
	}
	return host
}

// target is the name of a target, as the agent's own scrapes have it.
func target(job, instance string) string {
	if job == "" && instance == "" {
		return unnamed
	}
	return job + "/" + instance
}

// plain refuses what the headers of a record cannot hold.
func plain(what, text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("%s of %d bytes, at most %d are allowed", what, len(text), most)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%s %.64q has a control character", what, text)
	}
	return nil
}

func get(ls []wire.Label, name string) string {
	for _, l := range ls {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func without(ls []wire.Label, name string) []wire.Label {
	for i, l := range ls {
		if l.Name == name {
			return append(ls[:i], ls[i+1:]...)
		}
	}
	return ls
}
