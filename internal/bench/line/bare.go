package line

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	blockRows = 1_000_000 // rows of a ready block
	inserters = 2         // blocks that are sent at once
)

// bare inserts the samples that the pipeline stored once more, as blocks that are ready:
// sorted, columnar, encoded. What it costs is the floor of any pipeline into this engine.
// It also measures what a sample takes on disk.
func (b *bench) bare(ctx context.Context, r *Result) error {
	var err error
	bytesPerRow := func(table string) (float64, error) {
		return b.store.number(ctx, "SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE active AND database = 'sextant' AND table = '"+table+"'")
	}
	if r.BytesWritten, err = bytesPerRow("samples"); err != nil {
		return err
	}
	if err := b.store.exec(ctx, "OPTIMIZE TABLE sextant.samples FINAL"); err != nil {
		return err
	}
	if r.BytesMerged, err = bytesPerRow("samples"); err != nil {
		return err
	}
	var blocks [][]byte
	for from := int64(0); from < r.Samples; from += blockRows {
		// By time, as a pipeline meets them, and sorted by series within the block.
		block, err := b.store.do(ctx, fmt.Sprintf(`SELECT * FROM (SELECT series, ts, value, flags FROM sextant.samples
			ORDER BY ts, series LIMIT %d OFFSET %d) ORDER BY series, ts FORMAT Native`, blockRows, from), nil)
		if err != nil {
			return fmt.Errorf("make ready blocks: %w", err)
		}
		blocks = append(blocks, block)
		if len(blocks) == 10 { // ten million rows are enough to measure
			break
		}
	}
	if err := b.store.exec(ctx, "CREATE TABLE sextant.bare AS sextant.samples"); err != nil {
		return err
	}
	rows := min(r.Samples, int64(len(blocks))*blockRows)
	db := b.children[1]
	db0, began := db.CPU(), time.Now()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(inserters)
	for _, block := range blocks {
		g.Go(func() error { return b.store.insert(gctx, "sextant.bare", block) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("bare insert: %w", err)
	}
	// Scaled to all samples, so that it stands beside the pipeline's figures.
	scale := float64(r.Samples) / float64(rows)
	r.BareWall = time.Duration(float64(time.Since(began)) * scale)
	r.BareStore = time.Duration(float64(db.CPU()-db0) * scale)
	return b.store.exec(ctx, "DROP TABLE sextant.bare")
}
