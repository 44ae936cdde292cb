// Package rules turns Prometheus recording rules into feature views.
package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	yaml "go.yaml.in/yaml/v3"

	"sextant/features"
)

// Options of an import.
type Options struct {
	Owner    string
	Tier     string            // static, monitoring or business
	Interval time.Duration     // of groups that name none
	Rename   map[string]string // labels of the rules to those of our series: instance to node
}

// Skipped is a rule that is no feature, and why.
type Skipped struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// String is "file:line: rule: reason".
func (s Skipped) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", s.File, s.Line, s.Rule, s.Reason)
}

// group is a group of a rule file.
type group struct {
	Name     string `yaml:"name"`
	Interval string `yaml:"interval"`
	Rules    []rule `yaml:"rules"`
}

type rule struct {
	Record string            `yaml:"record"`
	Alert  string            `yaml:"alert"`
	Expr   string            `yaml:"expr"`
	Labels map[string]string `yaml:"labels"`
	line   int
}

// UnmarshalYAML keeps the line of the rule.
func (r *rule) UnmarshalYAML(n *yaml.Node) error {
	type plain rule
	if err := n.Decode((*plain)(r)); err != nil {
		return err
	}
	r.line = n.Line
	return nil
}

// entities are the entities by their join keys, sorted and joined.
var entities = map[string]struct {
	name string
	keys []string
}{
	"node": {"node", []string{"node"}}, "node,uid": {"device", []string{"node", "uid"}},
	"node,slice,uid": {"slice", []string{"node", "uid", "slice"}}, "dst,node,src": {"link", []string{"node", "src", "dst"}},
	"task": {"task", []string{"task"}}, "queue": {"queue", []string{"queue"}}, "tenant": {"tenant", []string{"tenant"}},
	"cluster": {"cluster", []string{"cluster"}},
}

// Import reads the text of a rule file and returns a view for each group and entity, in the
// order of the file, and the rules that are none. The error is of a file that is no rule
// file. What it returns loads as a definition.
func Import(file string, text []byte, o Options) ([]*features.View, []Skipped, error) {
	var doc struct {
		Groups []group `yaml:"groups"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(doc.Groups) == 0 {
		return nil, nil, fmt.Errorf("%s: no groups: this is no rule file", file)
	}
	i := &importer{file: file, options: o, records: map[string]string{}, views: map[string]*features.View{}}
	for _, g := range doc.Groups {
		i.group(g)
	}
	return i.order, i.skipped, nil
}

type importer struct {
	file    string
	options Options
	records map[string]string // expressions of the rules before, by the name they record
	views   map[string]*features.View
	order   []*features.View
	skipped []Skipped
}

func (i *importer) group(g group) {
	interval, err := i.interval(g)
	for _, r := range g.Rules {
		name := r.Record
		if name == "" {
			name = r.Alert
		}
		var reason string
		switch {
		case r.Record == "":
			reason = "an alert is no feature"
		case err != nil:
			reason = err.Error()
		default:
			reason = i.rule(g, r, interval)
		}
		if reason != "" {
			i.skipped = append(i.skipped, Skipped{i.file, r.line, name, reason})
		}
	}
}

// interval of a group, as a multiple of the 10 seconds of a tick.
func (i *importer) interval(g group) (time.Duration, error) {
	if g.Interval == "" {
		return i.options.Interval, nil
	}
	d, err := model.ParseDuration(g.Interval)
	if err != nil {
		return 0, fmt.Errorf("interval of group %s: %w", g.Name, err)
	}
	const tick = 10 * time.Second
	return (time.Duration(d) + tick - 1) / tick * tick, nil
}

// rule makes a feature of r, or says why it cannot be one.
func (i *importer) rule(g group, r rule, interval time.Duration) string {
	expr, err := rewrite(r.Expr, i.options.Rename, i.records)
	if err != nil {
		return err.Error()
	}
	if len(r.Labels) == 0 {
		i.records[r.Record] = expr.String()
	}
	labels, decided := features.ResultLabels(expr)
	if !decided {
		return "the labels of its result are not decided by the expression: aggregate it by the labels of an entity"
	}
	slices.Sort(labels)
	entity, ok := entities[strings.Join(labels, ",")]
	if !ok {
		return fmt.Sprintf("its result has the labels (%s), which are the keys of no entity", strings.Join(labels, ", "))
	}
	f := features.Feature{Name: nameOf(r.Record), Expr: expr.String(), DType: features.Float64, Unit: unitOf(r.Record),
		Description: "From the recording rule " + r.Record + "."}
	v := i.view(g, entity.name, entity.keys, interval)
	if reason := i.refused(v, f); reason != "" {
		return reason
	}
	if len(v.Features) == 0 {
		i.order = append(i.order, v)
	}
	v.Features = append(v.Features, f)
	return ""
}

// view is the view of a group's rules about one entity.
func (i *importer) view(g group, entity string, keys []string, interval time.Duration) *features.View {
	name := nameOf(g.Name + "_" + entity)
	if v, ok := i.views[name]; ok {
		return v
	}
	v := &features.View{Name: name, Version: 1, Entity: entity, Keys: keys, Tier: i.options.Tier, Interval: interval,
		TTL: max(time.Minute, 3*interval), Owner: i.options.Owner, Description: "From the rule group " + g.Name + "."}
	i.views[name] = v
	return v
}

// refused says what the loader of definitions has against a feature, or "".
func (i *importer) refused(v *features.View, f features.Feature) string {
	alone := *v
	alone.Features = append(slices.Clone(v.Features), f)
	err := features.Check(&alone)
	if err == nil {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(texts(err))), "; ")
}

// texts are the faults without their places, which are those of a file that is not written
// yet.
func texts(err error) map[string]bool {
	out := map[string]bool{}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, text, _ := strings.Cut(line, ": ")
		out[text] = true
	}
	return out
}

var noWord = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf makes a name of lower-case words of a rule's.
func nameOf(record string) string {
	name := strings.Trim(noWord.ReplaceAllString(strings.ToLower(record), "_"), "_")
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "_")
	}
	return name
}

// unitOf takes the unit from a name that ends in one.
func unitOf(record string) string {
	words := strings.FieldsFunc(strings.ToLower(record), func(r rune) bool { return r == '_' || r == ':' })
	for _, w := range slices.Backward(words) {
		if slices.Contains([]string{"ratio", "bytes", "seconds", "celsius", "watts", "joules", "hertz", "volts", "amperes"}, w) {
			return w
		}
	}
	return "none"
}
