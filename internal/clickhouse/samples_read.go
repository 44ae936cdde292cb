package clickhouse

import (
	"context"
	"errors"
	"io"

	"github.com/ClickHouse/ch-go/proto"

	"sextant/pipeline/backfill"
)

// samplesOfBlocks reads blocks in the Native format with the columns series, ts, value and
// flags. The columns are read into the memory in which f keeps them.
func samplesOfBlocks(in io.Reader, f func(backfill.Samples)) error {
	r := proto.NewReader(in)
	for {
		var series proto.ColUInt64
		var ts proto.ColInt64
		var value proto.ColFloat64
		var flags proto.ColUInt16
		var b proto.Block
		err := b.DecodeRawBlock(r, 0, proto.Results{
			{Data: &series}, {Data: &ts}, {Data: &value}, {Data: &flags},
		})
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && b.Columns == 0:
			return nil
		case err != nil:
			return err
		}
		f(backfill.Samples{Series: series, Time: ts, Value: value, Flags: flags})
	}
}

// scannedSamples is how many samples are handed on at once where they come row by row.
const scannedSamples = 1 << 16

// scanSamples asks for rows with the columns series, ts, value and flags.
func (db *DB) scanSamples(ctx context.Context, query string, args []any, f func(backfill.Samples)) (err error) {
	rows, err := db.conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var id uint64
	var t int64
	var v float64
	var flags uint16
	var s backfill.Samples
	for dest := []any{&id, &t, &v, &flags}; rows.Next(); {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if len(s.Series) == scannedSamples {
			f(s)
			s = backfill.Samples{}
		}
		s.Series, s.Time, s.Value, s.Flags = append(s.Series, id), append(s.Time, t), append(s.Value, v), append(s.Flags, flags)
	}
	f(s)
	return rows.Err()
}
