package main

import (
	"bytes"
	"strings"
	"testing"

	"sextant/internal/exit"
	"sextant/internal/report"
)

// Wrong flags are told with all that is wrong, before any store is asked.
func TestReportFlags(t *testing.T) {
	for args, want := range map[string]string{
		"report utilization --from 2026-03-01":                         "has no zone: write 2026-03-01T00:00:00Z",
		"report utilization --group-by colour":                         `knows no "colour": want one of cluster, day`,
		"report utilization --from now --to -1h":                       "is not before --to",
		"report utilization --format xml --top 0 --where x":            `--top 0: want 1 to 10000` + "\n" + `--format "xml": want one of table, csv, json, parquet, html`,
		"report sla --question nope":                                   "want one of violations, budgets, times, worst",
		"report waste --check":                                         "unknown flag: --check",
		"report health --where tenant=x --question devices":            "", // the message depends on the dimensions
		"report utilization --where simulated=perhaps":                 "simulated is true or false",
		"report utilization --from -500d":                              "is longer than 400 days",
		"report utilization --group-by tenant --question cpu":          "",
		"report sla extra":                                             "unknown command",
		"report utilization --from 2026-03-01T00:00:00Z --to tomorrow": `--to "tomorrow" is no time`,
	} {
		cmd := root()
		cmd.SetArgs(strings.Fields(args))
		cmd.SetOut(&bytes.Buffer{})
		err := cmd.ExecuteContext(t.Context())
		if err == nil || exit.Status(err) != exit.StatusUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: status %d, %v\nwant %d, %s", args, exit.Status(err), err, exit.StatusUsage, want)
		}
	}
}

// Each report teaches: examples, its questions, and the dimensions that it knows.
func TestReportHelp(t *testing.T) {
	for _, r := range report.Reports {
		cmd := root()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"report", r.Name, "--help"})
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, q := range r.Questions {
			if !strings.Contains(out.String(), "  "+q.Name) {
				t.Errorf("help of %s does not tell of %s", r.Name, q.Name)
			}
		}
		for _, want := range []string{"Examples:", "Exit status: 0, 3", "simulated"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("help of %s lacks %q", r.Name, want)
			}
		}
	}
}
