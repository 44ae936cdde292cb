package training

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"sextant/features"
)

// Bounds of a chunk, the rows that are asked together: its features are in memory at once,
// in about 16 bytes each. Larger chunks read the store less often.
const (
	chunkValues  = 16 << 20
	maxChunkRows = 1 << 20
	minChunkRows = 1 << 14
)

func (s *Set) chunkRows() int64 {
	return min(max(chunkValues/int64(len(s.names)), minChunkRows), maxChunkRows)
}

// Summary says what became of the labels.
type Summary struct {
	Rows     int64
	Statuses [4]int64 // values, by features.Status
}

// Build writes a row for each row of labels, in their order. Labels have the schema that
// the set was planned for.
func (s *Set) Build(ctx context.Context, src Source, labels array.RecordReader, out Writer) (Summary, error) {
	var sum Summary
	for {
		chunk, err := s.read(labels, sum.Rows)
		if err != nil || chunk.rows == 0 {
			return sum, err
		}
		err = s.join(ctx, src, chunk, out, &sum)
		chunk.release()
		if err != nil {
			return sum, err
		}
		sum.Rows += chunk.rows
	}
}

// Check reads all labels and finds the first that Build would refuse. It gives their number.
func (s *Set) Check(labels array.RecordReader) (rows int64, err error) {
	for {
		chunk, err := s.read(labels, rows)
		chunk.release()
		if err != nil || chunk.rows == 0 {
			return rows, err
		}
		rows += chunk.rows
	}
}

// chunk is labels that are answered together.
type chunk struct {
	batches []arrow.RecordBatch
	rows    int64
	keys    [][]string // in the order of Set.keys
	at      []int64
}

func (c *chunk) release() {
	for _, b := range c.batches {
		b.Release()
	}
}

// read takes labels until a chunk is full. A file that is damaged is an error, whatever the
// library makes of it.
func (s *Set) read(labels array.RecordReader, before int64) (c *chunk, err error) {
	c = &chunk{keys: make([][]string, len(s.keys))}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("read labels behind row %d: damaged: %v", before+c.rows, fault)
		}
	}()
	for c.rows < s.chunkRows() && labels.Next() {
		b := labels.RecordBatch()
		b.Retain()
		c.batches = append(c.batches, b)
		if err := s.take(c, b, before+c.rows+1); err != nil {
			return c, err
		}
		c.rows += b.NumRows()
	}
	if err := labels.Err(); err != nil {
		return c, fmt.Errorf("read labels behind row %d: %w", before+c.rows, err)
	}
	return c, nil
}

// take reads keys and times of a batch whose first row has this number.
func (s *Set) take(c *chunk, b arrow.RecordBatch, first int64) error {
	for k, i := range s.keys {
		values, err := texts(b.ColumnName(i), b.Column(i), first)
		if err != nil {
			return err
		}
		c.keys[k] = append(c.keys[k], values...)
	}
	at, err := times(b.ColumnName(s.time), b.Column(s.time), first)
	c.at = append(c.at, at...)
	return err
}

// join answers a chunk view by view, and then writes it batch by batch, as it came.
func (s *Set) join(ctx context.Context, src Source, c *chunk, out Writer, sum *Summary) error {
	answers := make([]*features.Answers, len(s.parts))
	for i, p := range s.parts {
		asks := &features.Asks{At: c.at, AsCorrected: s.spec.AsCorrected}
		for _, k := range p.keys {
			asks.Keys = append(asks.Keys, c.keys[k])
		}
		var err error
		if answers[i], err = src.AsOf(ctx, p.view, asks); err != nil {
			return fmt.Errorf("rows behind %d: %w", sum.Rows, err)
		}
	}
	from := 0
	for _, b := range c.batches {
		record := s.record(b, c, answers, from, sum)
		err := out.Write(record)
		record.Release()
		if err != nil {
			return fmt.Errorf("write rows behind %d: %w", sum.Rows+int64(from), err)
		}
		from += int(b.NumRows())
	}
	return nil
}
