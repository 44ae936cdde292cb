package clickhouse

import (
	"context"
	"fmt"

	schema "sextant/schema/sql"
)

// LedgerSummary is the account of every agent and every sample together. The SQL views
// ledger and ingest_audit say what each number means, and have them by agent, node and
// hour. Here samples are compared by node, over all hours: one that an exporter dates into the hour
// before is no loss.
type LedgerSummary struct {
	Agents   uint64
	Received uint64 // records, each counted once
	Lost     uint64 // records that should be there and are not
	Dropped  uint64 // records that agents say they gave up
	Pending  uint64 // records that agents still hold
	Resent   uint64 // copies of records that reached Kafka more than once

	Expected  uint64 // samples that the ledger claims
	Visible   uint64 // samples that a reader finds
	Missing   uint64 // samples claimed and not found
	Duplicate uint64 // samples found and not claimed
}

// Ledger reads the account. It reads every sample's key, so it is a check to run now and
// then, not a metric.
func (db *DB) Ledger(ctx context.Context) (LedgerSummary, error) {
	var s LedgerSummary
	text, err := renderFile(schema.Files, "queries/ledger_summary.sql", db.names)
	if err != nil {
		return s, err
	}
	err = db.conn.QueryRow(ctx, text).Scan(&s.Agents, &s.Received, &s.Lost, &s.Dropped, &s.Pending, &s.Resent,
		&s.Expected, &s.Visible, &s.Missing, &s.Duplicate)
	if err != nil {
		return s, fmt.Errorf("read ledger: %w", err)
	}
	return s, nil
}
