package clickhouse

import (
	"context"
	"fmt"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/pipeline/backfill"
	"sextant/schema/quality"
)

var _ backfill.Repairs = (*BackfillStore)(nil)

// repairPause is how long a repair that failed is left alone.
const repairPause = 10 * time.Minute

// Pending implements backfill.Repairs.
func (s *BackfillStore) Pending(ctx context.Context, before int64, limit int, again bool) ([]backfill.Late, error) {
	rows, err := s.db.Query(ctx, `SELECT node, toUnixTimestamp(hour) * 1000, late FROM (
		SELECT node, hour, late, status, tried FROM {db}.repairs_pending
		UNION ALL
		SELECT node, hour, sum(late) AS late, '' AS status, toDateTime64(0, 3, 'UTC') AS tried FROM {db}.late_records FINAL WHERE @again GROUP BY node, hour)
		WHERE hour < toDateTime(toInt64(@before), 'UTC') AND (status != 'failed' OR tried < now64(3) - toIntervalSecond(@pause))
		ORDER BY hour, node LIMIT 1 BY node, hour LIMIT @limit`,
		ch.Named("again", again), ch.Named("before", before/1000), ch.Named("pause", int(repairPause.Seconds())), ch.Named("limit", limit))
	if err != nil {
		return nil, fmt.Errorf("pending repairs: %w", err)
	}
	defer rows.Close()
	var out []backfill.Late
	for rows.Next() {
		var l backfill.Late
		var hour uint64
		if err := rows.Scan(&l.Node, &hour, &l.Count); err != nil {
			return nil, fmt.Errorf("pending repairs: %w", err)
		}
		l.Hour = int64(hour)
		out = append(out, l)
	}
	return out, rows.Err()
}

// Span implements backfill.Repairs. The samples of a scrape may be older than it, by an hour
// at most.
func (s *BackfillStore) Span(ctx context.Context, l backfill.Late) (first, last int64, err error) {
	const hour = int64(time.Hour / time.Millisecond)
	rows, err := s.db.Query(ctx, `SELECT toUnixTimestamp64Milli(min(ts)), toUnixTimestamp64Milli(max(ts)) FROM {db}.samples FINAL
		WHERE series GLOBAL IN (SELECT id FROM {db}.series WHERE node = @node)
		AND ts >= fromUnixTimestamp64Milli(toInt64(@from), 'UTC') AND ts < fromUnixTimestamp64Milli(toInt64(@to), 'UTC') AND bitAnd(flags, @late) != 0`,
		ch.Named("node", l.Node), ch.Named("from", l.Hour-hour), ch.Named("to", l.Hour+hour), ch.Named("late", quality.Late))
	if err != nil {
		return 0, 0, fmt.Errorf("late samples of %s: %w", l.Node, err)
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&first, &last)
	}
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("late samples of %s: %w", l.Node, err)
	}
	return first, last, nil
}

// Repaired implements backfill.Repairs.
func (s *BackfillStore) Repaired(ctx context.Context, l backfill.Late, c backfill.Counts, failure error) error {
	status, text := "done", ""
	if failure != nil {
		status, text = "failed", failure.Error()
	}
	err := s.db.Exec(ctx, "INSERT INTO {db}.repairs (node, hour, late, rows, status, error) VALUES (?, toDateTime(toInt64(?), 'UTC'), ?, ?, ?, ?)",
		l.Node, l.Hour/1000, l.Count, uint64(c.Stored), status, text)
	if err != nil {
		return fmt.Errorf("note a repair: %w", err)
	}
	return nil
}
