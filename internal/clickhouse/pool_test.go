package clickhouse

import (
	"context"
	"sync"
	"testing"
	"time"
)

// TestCancelledQueriesGiveTheirConnectionsBack: field report 16 (clickhouse-go PR #1759, PR #1795, #1041, SigNoz PR #11506). Old
// clients kept the slot of a query whose context ended, until no connection was left.
func TestCancelledQueriesGiveTheirConnectionsBack(t *testing.T) {
	db := openDB(t, func(c *Config) { c.MaxConns = 5 })
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%20)*time.Millisecond)
			defer cancel()
			if rows, err := db.Query(ctx, "SELECT sleep(0.02)"); err == nil {
				_ = rows.Close() // which of them are in time says nothing
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	// Five at once: each slot is free again.
	for range 5 {
		all.Go(func() {
			rows, err := db.Query(ctx, "SELECT sleep(0.02)")
			if err != nil {
				t.Errorf("a connection is gone: %v", err)
				return
			}
			defer func() { _ = rows.Close() }()
			if !rows.Next() {
				t.Errorf("no row: %v", rows.Err())
			}
		})
	}
	all.Wait()
}
