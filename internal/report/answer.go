package report

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Answer is what a question found. A cell is nil, a string, a float64, an int64 or a time.Time.
type Answer struct {
	Columns []string
	Rows    [][]any
}

// Section is a question with its answer.
type Section struct {
	Query
	Answer
	Units []string // by column; empty: none
}

// Result is a report as it was found.
type Result struct {
	*Report
	From, To  time.Time
	Generated time.Time
	Where     []Filter
	Currency  string // of the costs; empty: no prices are set
	Sections  []*Section
}

// Make asks all that a report asks.
func Make(ctx context.Context, store Store, r *Report, a Ask, now time.Time) (*Result, error) {
	queries, err := r.Queries(a)
	if err != nil {
		return nil, err
	}
	out := &Result{Report: r, From: a.From, To: a.To, Generated: now, Where: a.Where}
	if out.Currency, err = store.Currency(ctx); err != nil {
		return nil, err
	}
	for _, q := range queries {
		answer, err := store.Ask(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Name, err)
		}
		s := &Section{Query: q, Answer: *answer}
		if out.Currency == "" {
			s.dropCosts()
		}
		for _, c := range s.Columns {
			s.Units = append(s.Units, unitOf(c, out.Currency))
		}
		out.Sections = append(out.Sections, s)
	}
	return out, nil
}

// Long reports whether the rows are hours, of which there may be many.
func (s *Section) Long() bool { return s.Chart.Kind == Area }

// Empty reports whether nothing was found, beside what is always there when all is asked.
func (r *Result) Empty() bool {
	if len(r.Sections) == 1 {
		return len(r.Sections[0].Rows) == 0
	}
	for _, s := range r.Sections {
		if len(s.Rows) > 0 && s.Name != "line" && s.Name != "rollups" {
			return false
		}
	}
	return true
}

// dropCosts takes out columns that can only be NULL.
func (s *Section) dropCosts() {
	var keep []int
	for i, c := range s.Columns {
		if !isCost(c) {
			keep = append(keep, i)
		}
	}
	columns := make([]string, len(keep))
	for i, k := range keep {
		columns[i] = s.Columns[k]
	}
	for n, row := range s.Rows {
		cells := make([]any, len(keep))
		for i, k := range keep {
			cells[i] = row[k]
		}
		s.Rows[n] = cells
	}
	s.Columns = columns
}

func isCost(column string) bool { return column == "cost" || strings.HasSuffix(column, "_cost") }

// unitOf is the unit of a column: its name ends with it.
func unitOf(column, currency string) string {
	if isCost(column) {
		return currency
	}
	for _, u := range []struct{ suffix, unit string }{{"_hours", "h"}, {"_seconds", "s"}, {"_kwh", "kWh"}, {"_ratio", "ratio"}, {"_celsius", "°C"}, {"_watts", "W"}} {
		if strings.HasSuffix(column, u.suffix) {
			return u.unit
		}
	}
	return ""
}

// column is the place of a column, or -1.
func (a *Answer) column(name string) int {
	for i, c := range a.Columns {
		if c == name {
			return i
		}
	}
	return -1
}

// number is a cell as a number; what is none is 0.
func (a *Answer) number(row int, column string) float64 {
	i := a.column(column)
	if i < 0 {
		return 0
	}
	switch v := a.Rows[row][i].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}
