// Package training builds point-in-time training sets: for each row of a table of labels,
// the features of its entities as they were known at its time, and no later. It reads and
// writes Parquet, Arrow and CSV, a chunk of rows at a time, so that its memory does not grow
// with the table.
package training

import (
	"context"

	"sextant/features"
)

// Source answers what was known of entities at times.
type Source interface {
	AsOf(ctx context.Context, v *features.View, asks *features.Asks) (*features.Answers, error)
}
