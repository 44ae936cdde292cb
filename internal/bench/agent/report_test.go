package agent

import (
	"strings"
	"testing"
)

func TestVerdicts(t *testing.T) {
	for want, v := range map[string]Verdict{
		"all":             {Served: 10, Arrived: 10, Same: true},
		"all, rounded":    {Served: 10, Arrived: 10, Same: true, Rounded: true},
		"LOST 3 of 10":    {Served: 10, Arrived: 7},
		"DOUBLED 2 of 10": {Served: 10, Arrived: 12},
		"DIFFERS":         {Served: 10, Arrived: 10},
		"-":               {Unknown: true, Served: 10, Arrived: 12},
	} {
		if v.String() != want {
			t.Errorf("%+v is %q, want %q", v, v, want)
		}
	}
}

func TestRoundsAreMediansWithTheWorstVerdict(t *testing.T) {
	row := func(cpu float64, rss int64, same bool) Row {
		return Row{Name: "x", Sends: true, CPUSeconds: cpu, Scraped: 1e6, RSS: rss, Verdict: Verdict{Served: 10, Arrived: 9, Same: same}}
	}
	got := middle([]Row{row(3, 10, true), row(1, 30, false), row(2, 20, true)})
	if got.PerMillion() != 2 || got.RSS != 20 || got.Verdict.Same {
		t.Errorf("%+v", got)
	}
	var text strings.Builder
	r := Report{Tables: []Table{{Workload: Workloads(5)[1], Intervals: 3, Rows: []Row{got, {Name: "y", Sends: true, CPUSeconds: 4, Scraped: 1e6, Verdict: Verdict{Served: 1, Same: true}}}}}}
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "LOST 1 of 10") || !strings.Contains(text.String(), "2.00") {
		t.Errorf("%v\n%s", err, text.String())
	}
}
