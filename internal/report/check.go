package report

import (
	"errors"
	"fmt"
	"strings"
)

// Check is what is not as it should be in a report: budgets that are overdrawn, nodes that lost
// samples. nil: all is well, as far as was asked.
func (r *Result) Check() error {
	var errs []error
	for _, s := range r.Sections {
		switch s.Name {
		case "budgets":
			errs = append(errs, s.below("budget_left_ratio", "error budgets are overdrawn", "tenant", "queue", "promise"))
		case "line":
			errs = append(errs, s.above("lost", "nodes lost records", "node"))
		}
	}
	return errors.Join(errs...)
}

func (s *Section) below(column, what string, names ...string) error {
	return s.those(func(v float64) bool { return v < 0 }, column, what, names)
}

func (s *Section) above(column, what string, names ...string) error {
	return s.those(func(v float64) bool { return v > 0 }, column, what, names)
}

func (s *Section) those(bad func(float64) bool, column, what string, names []string) error {
	var found []string
	for row := range s.Rows {
		if !bad(s.number(row, column)) {
			continue
		}
		var parts []string
		for _, n := range names {
			if i := s.column(n); i >= 0 {
				parts = append(parts, shown(n, s.Rows[row][i]))
			}
		}
		found = append(found, strings.Join(parts, "/"))
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%d %s: %s", len(found), what, strings.Join(found[:min(len(found), 5)], ", "))
}
