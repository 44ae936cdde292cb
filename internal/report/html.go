package report

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"heading": heading, "numeric": numeric, "people": people,
	"join": func(s []string) string { return strings.ReplaceAll(strings.Join(s, ", "), "_", " ") },
	"time": func(r *Result) string { return r.Generated.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(pageText))

// HTML writes one page that needs nothing else: no script, no font, no request. It is dark or
// light as the reader's system is, and light on paper.
func (r *Result) HTML(out io.Writer) error {
	return page.Execute(out, map[string]any{"R": r, "Period": r.period(), "Filters": r.filters(), "Simulated": r.simulated()})
}

// simulated says whether simulated nodes may be in the figures.
func (r *Result) simulated() bool {
	return !slices.ContainsFunc(r.Where, func(f Filter) bool { return f.Dimension == "simulated" })
}

// numeric says whether a column is one of numbers, which stand to the right.
func numeric(s *Section, column int) bool {
	for _, row := range s.Rows {
		switch row[column].(type) {
		case float64, int64:
			return true
		case string:
			return false
		}
	}
	return s.Units[column] != ""
}
