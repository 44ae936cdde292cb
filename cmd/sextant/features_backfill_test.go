package main

import (
	"strings"
	"testing"
	"time"

	"sextant/pipeline/backfill"
)

func TestBackfillTimes(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ from, to, want string }{
		{"2026-11-29T12:00:00Z", "2026-11-30T00:00:00+02:00", "2026-11-29T12:00:00Z 2026-11-29T22:00:00Z"},
		{"24h", "", "2026-11-29T12:00:00Z 2026-11-30T12:00:00Z"},
		{"2026-11-29T12:00:00", "", `--from: "2026-11-29T12:00:00" is neither RFC 3339 with a zone nor how long ago`},
		{"1h", "2h", "--to: 2026-11-30T10:00:00Z is not after --from"},
		{"", "", "--view and --from are needed"},
	} {
		o := backfillFlags{views: []string{"v"}, from: c.from, to: c.to, parallel: 1}
		from, to, err := o.times(now)
		got := text(from) + " " + text(to)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q to %q: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// The time that is left is reckoned from what this run has done, not from what one before did.
func TestBackfillProgress(t *testing.T) {
	p := backfill.Progress{Done: 60, Ticks: 100, Samples: 500, Counts: backfill.Counts{Rows: 7}}
	if got, want := progressText(p, 50, 10*time.Second, true), "[==================            ]  60 %  7 rows, 50 samples/s, 40s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := progressText(backfill.Progress{Ticks: 5}, 0, 0, false); !strings.Contains(got, "0 %") || !strings.Contains(got, "? left") {
		t.Errorf("at the start: %q", got)
	}
}
