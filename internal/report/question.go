// Package report asks the store the questions of capacity planners: where the hours of devices
// went, which promises were broken, what was wasted, what is ill. A report is a list of
// questions, each of which is a file of SQL over hours that are rolled up; what it found is
// printed as a table, CSV, JSON, Parquet or a page of HTML.
package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Question is one question. Its SQL is schema/sql/queries/report_<Name>.sql.
type Question struct {
	Name       string
	Title      string
	Meaning    string   // what a row is, for people
	Dimensions []string // what it can be grouped by, and filtered by
	GroupBy    []string // what it is grouped by when nobody says; empty: it is not grouped
	Chart      Chart
}

// Grouped reports whether the caller may say what it is grouped by.
func (q *Question) Grouped() bool { return len(q.GroupBy) > 0 }

// Report is a list of questions that belong together.
type Report struct {
	Name, Title string
	Questions   []*Question
}

var (
	ofDevices = []string{"hour", "day", "cluster", "node_group", "zone", "rack", "node", "vendor", "kind", "model", "device", "simulated"}
	ofHolders = append(slices.Clone(ofDevices), "tenant", "queue", "type", "task")
	ofNodes   = []string{"hour", "day", "cluster", "node_group", "zone", "rack", "node", "simulated"}
	ofTasks   = []string{"hour", "day", "cluster", "tenant", "queue", "type", "node", "simulated"}
	ofBreaks  = append(slices.Clone(ofTasks), "cause", "node_group", "task")
)

// Reports are all that there are.
var Reports = []*Report{
	{"utilization", "Utilization", []*Question{
		{"utilization", "Where the hours of accelerators went", "Hours of whole devices: there, not known, held by tasks, busy, held and idle, free beside held ones; and what kept them from being faster.",
			ofHolders, []string{"model"}, Chart{Kind: Bars, Parts: usage}},
		{"hours", "By the hour", "The same over time. A gap in the telemetry is not known; it is not idle.", ofHolders, nil, Chart{Kind: Area, Parts: usage}},
		{"cpu", "CPUs and memory of nodes", "Core hours that are there, busy, and asked for by tasks; memory likewise.", ofNodes, []string{"node_group"},
			Chart{Kind: Bars, Parts: []Bar{{"used", []string{"used_core_hours"}, nil, "used"}, {"not used", []string{"observed_core_hours"}, []string{"used_core_hours"}, "free"}}}},
	}},
	{"sla", "Promises to tasks", []*Question{
		{"violations", "Broken promises, failures and evictions", "How many, by how much, and how crowded queue and node were then.", ofBreaks, []string{"cause"},
			Chart{Kind: Bars, Parts: []Bar{{"violations", []string{"violations"}, nil, "bad"}}}},
		{"budgets", "Error budgets", "Promises that were decided, and how many more may be broken; a burn rate of 1 uses up the budget just in the time.",
			[]string{"cluster", "tenant", "queue", "promise", "simulated"}, nil, Chart{Kind: Bars, Label: []string{"tenant", "queue", "promise"}, Parts: []Bar{{"broken", []string{"broken"}, nil, "bad"}, {"kept", []string{"decided"}, []string{"broken"}, "used"}}}},
		{"times", "Waiting and running", "How long tasks waited until they were placed, ran, and took from submission to their end.", ofTasks, []string{"queue"},
			Chart{Kind: Bars, Parts: []Bar{{"queue time p95", []string{"queue_p95_seconds"}, nil, "held"}}}},
		{"worst", "The worst", "Single broken promises, the one that was broken by most first.", ofBreaks, nil, Chart{}},
	}},
	{"waste", "Waste", []*Question{
		{"waste", "Held and idle, and free", "Hours in which a device was held and busy for less than 5 %, and hours in which nobody held it.", ofHolders, []string{"tenant"},
			Chart{Kind: Bars, Parts: []Bar{{"held and idle", []string{"idle_allocated_hours"}, nil, "idle"}, {"stranded", []string{"stranded_hours"}, nil, "held"}, {"free elsewhere", []string{"free_hours"}, []string{"stranded_hours"}, "free"}}}},
		{"idle_tasks", "Tasks that let devices idle", "Tasks by the hours that they held devices without using them.", ofHolders, nil,
			Chart{Kind: Bars, Label: []string{"task"}, Parts: []Bar{{"held and idle", []string{"idle_allocated_hours"}, nil, "idle"}}}},
		{"stranded", "Nodes with stranded devices", "Free devices beside held ones: of no use to a task that needs a whole node.", ofDevices, nil, Chart{}},
	}},
	{"health", "Health", []*Question{
		{"devices", "Devices", "Faults, memory errors, heat, and time without a reading.", ofDevices, []string{"model"},
			Chart{Kind: Bars, Parts: []Bar{{"faults", []string{"faults"}, nil, "bad"}, {"uncorrected errors", []string{"errors_uncorrected"}, nil, "held"}}}},
		{"sick", "Devices in trouble", "Devices with faults, uncorrected errors, or an exporter that calls them unhealthy, and when.", ofDevices, nil, Chart{}},
		{"regressions", "Worse than the week before", "Figures of the last 7 days beside those of the 7 days before; positive is worse.", []string{"figure", "dimension", "value", "simulated"}, nil, Chart{}},
		{"line", "The data itself", "Records of each node by the ledger, where lost must be 0; how old the newest is; how long samples take to be stored. Now, whatever time is asked for.",
			[]string{"node"}, nil, Chart{}},
		{"rollups", "Hours behind this report", "How many hours are computed, and up to when.", nil, nil, Chart{}},
	}},
}

// Filter keeps rows whose dimension has one of the values.
type Filter struct {
	Dimension string
	Values    []string
}

// Ask is what a caller wants of a report.
type Ask struct {
	From, To time.Time // whole hours; To is outside
	GroupBy  []string  // empty: each question's own
	Where    []Filter
	Top      int    // rows of a question, at most
	Only     string // the name of one question; empty: all
}

// Query is one question as it is asked.
type Query struct {
	*Question
	From, To time.Time
	GroupBy  []string
	Where    []Filter
	Top      int
}

// Store answers queries.
type Store interface {
	Ask(ctx context.Context, q Query) (*Answer, error)
	// Currency of the prices; empty without prices.
	Currency(ctx context.Context) (string, error)
}

// Queries are the questions of r that can be asked so. That one cannot be grouped or filtered so
// leaves it out; that none can is an error.
func (r *Report) Queries(a Ask) ([]Query, error) {
	var out []Query
	var names []string
	known := map[string]bool{}
	for _, q := range r.Questions {
		names = append(names, q.Name)
		if a.Only != "" && q.Name != a.Only {
			continue
		}
		for _, d := range q.Dimensions {
			known[d] = true
		}
		group := a.GroupBy
		switch {
		case !q.Grouped():
			group = nil
		case len(group) == 0:
			group = q.GroupBy
		}
		if able(q.Dimensions, group) && able(q.Dimensions, dimensions(a.Where)) {
			out = append(out, Query{q, a.From, a.To, group, a.Where, a.Top})
		}
	}
	if len(known) == 0 && len(out) == 0 {
		return nil, fmt.Errorf("report %s has no question %q: want one of %s", r.Name, a.Only, strings.Join(names, ", "))
	}
	for _, d := range append(slices.Clone(a.GroupBy), dimensions(a.Where)...) {
		if !known[d] {
			return nil, fmt.Errorf("report %s knows no %q: want one of %s", r.Name, d, strings.Join(sortedKeys(known), ", "))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no question of report %s knows all of %s", r.Name, strings.Join(append(slices.Clone(a.GroupBy), dimensions(a.Where)...), ", "))
	}
	return out, nil
}

func able(have, want []string) bool {
	for _, d := range want {
		if !slices.Contains(have, d) {
			return false
		}
	}
	return true
}

func dimensions(fs []Filter) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Dimension)
	}
	return out
}

func sortedKeys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
