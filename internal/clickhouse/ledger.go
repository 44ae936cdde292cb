package clickhouse

import (
	"context"
	"fmt"
	"time"
)

// AgentLedger says what became of one agent's records.
type AgentLedger struct {
	Agent, Node string
	Received    uint64 // different records
	Lost        uint64 // numbered by the agent, neither stored nor declared dropped: must be 0
	Pending     uint64 // still with the agent
	Dropped     uint64 // given up by the agent, and said so
	Resent      uint64 // copies; they are stored once
	LastScrape  time.Time
}

// Audit compares the ledger with the samples that a reader finds, over all that is kept.
type Audit struct {
	Expected, Visible uint64
	Lost, Duplicate   uint64 // both must be 0
}

// Ledger returns the view of the same name, by node and agent.
func (db *DB) Ledger(ctx context.Context) ([]AgentLedger, error) {
	rows, err := db.Query(ctx, "SELECT agent, node, received, lost, pending, dropped, resent, last_scrape FROM {db}.ledger")
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer rows.Close()
	var out []AgentLedger
	for rows.Next() {
		var a AgentLedger
		if err := rows.Scan(&a.Agent, &a.Node, &a.Received, &a.Lost, &a.Pending, &a.Dropped, &a.Resent, &a.LastScrape); err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// Audit sums the view ingest_audit.
func (db *DB) Audit(ctx context.Context) (Audit, error) {
	var a Audit
	rows, err := db.Query(ctx, "SELECT toUInt64(sum(expected)), toUInt64(sum(visible)), toUInt64(sum(lost)), toUInt64(sum(duplicate)) FROM {db}.ingest_audit")
	if err != nil {
		return a, fmt.Errorf("read ingest_audit: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&a.Expected, &a.Visible, &a.Lost, &a.Duplicate); err != nil {
			return a, fmt.Errorf("read ingest_audit: %w", err)
		}
	}
	return a, rows.Err()
}
