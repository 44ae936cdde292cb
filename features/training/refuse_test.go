package training_test

import (
	"context"
	"strings"
	"testing"

	"sextant/features"
	"sextant/features/training"
)

// untouched is a source that a bad table never reaches.
type untouched struct{ t *testing.T }

func (u untouched) AsOf(context.Context, *features.View, *features.Asks) (*features.Answers, error) {
	u.t.Error("the store was asked")
	return nil, context.Canceled
}

func TestBadLabelsAreNamed(t *testing.T) {
	const head = "entity,event_timestamp\n"
	for name, tt := range map[string]struct{ labels, want string }{
		"naive":         {head + "A,2026-01-01T00:00:00Z\nA,2026-01-01T00:00:05\n", `row 2: event_timestamp: "2026-01-01T00:00:05" has no time zone`},
		"naive, spaced": {head + "A,2026-01-01 00:00:05\n", `row 1: event_timestamp: "2026-01-01 00:00:05" has no time zone`},
		"no time":       {head + "A,yesterday\n", `row 1: event_timestamp: "yesterday" is no time`},
		"wrong unit":    {head + "A,2920-01-01T00:00:05Z\n", `row 1: event_timestamp: 2920-01-01T00:00:05Z is not within 1970 and 2200`},
		"no key":        {"node,event_timestamp\nA,2026-01-01T00:00:05Z\n", `labels have no column "entity"; the join keys are entity`},
		"no timestamp":  {"entity,when\nA,2026-01-01T00:00:05Z\n", `labels have no column "event_timestamp"`},
		"taken name":    {"entity,event_timestamp,busy\nA,2026-01-01T00:00:05Z,1\n", `two columns would be called "busy"`},
		"column twice":  {"entity,entity\n", `the column "entity" is there twice`},
		"long key":      {head + strings.Repeat("A", 1025) + ",2026-01-01T00:00:05Z\n", `row 1: entity: longer than 1024 bytes`},
		"not UTF-8":     {head + "\xff,2026-01-01T00:00:05Z\n", `row 1: entity: not UTF-8`},
		"ragged":        {head + "A\n", `line 2: wrong number of fields`},
		"empty":         {"", `the file is empty`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := build(untouched{t}, training.Spec{Columns: pointColumns}, tt.labels)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
