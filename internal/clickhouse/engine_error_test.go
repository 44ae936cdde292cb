package clickhouse

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// The server has no room, or cannot merge as fast as we write: rows wait, the reason is
// in the log, and they are stored once it has passed.
func TestWriteOutlastsServerTrouble(t *testing.T) {
	for _, c := range []struct{ name, set, reset, log string }{
		{"full disk", "min_free_disk_bytes_to_perform_insert = 1000000000000000", "min_free_disk_bytes_to_perform_insert = 0", "code: 243"},
		{"too many parts", "parts_to_throw_insert = 1, parts_to_delay_insert = 1", "parts_to_throw_insert = 3000, parts_to_delay_insert = 1000", "code: 252"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openDB(t)
			log := &lockedBuffer{}
			db.log = newLog(log)
			s := newSink(t, db)
			if err := s.Write(context.Background(), testBatch(1, 1, 10)); err != nil {
				t.Fatal(err)
			}
			mustExec(t, db, "ALTER TABLE {db}.samples MODIFY SETTING "+c.set)
			done := make(chan error, 1)
			go func() { done <- s.Write(context.Background(), testBatch(1, 2, 10)) }()
			waitFor(t, "a retry", func() bool { return testutil.ToFloat64(db.metrics.retries.WithLabelValues("samples")) >= 2 })
			var ledger uint64
			one(t, db, "SELECT count() FROM {db}.ingest_ledger", &ledger)
			if ledger != 1 {
				t.Errorf("%d rows in the ledger, want 1: it must not claim what waits", ledger)
			}
			mustExec(t, db, "ALTER TABLE {db}.samples MODIFY SETTING "+c.reset)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), c.log) || !strings.Contains(log.String(), "table=samples") {
				t.Errorf("log does not say why: %s", log)
			}
			var rows uint64
			one(t, db, "SELECT count() FROM {db}.samples FINAL", &rows)
			if rows != 20 {
				t.Errorf("%d rows, want 20", rows)
			}
		})
	}
}

// A table that was dropped behind our back is not waited for.
func TestWriteToADroppedTable(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	mustExec(t, db, "DROP TABLE {db}.samples SYNC")
	err := s.Write(context.Background(), testBatch(1, 1, 10))
	if err == nil || !strings.Contains(err.Error(), "write telemetry.samples/1@1-1: 10 rows to samples: ") {
		t.Errorf("%v", err)
	}
	if kindOf(err) != permanent {
		t.Errorf("kind %d, want permanent: %v", kindOf(err), err)
	}
	if got := testutil.ToFloat64(db.metrics.refused); got != 1 {
		t.Errorf("%v refused, want 1", got)
	}
}

// Days apart, a batch makes more parts than the server takes by default.
func TestBacklogOfManyDays(t *testing.T) {
	db := openDB(t, func(c *Config) { c.Retention.SamplesDays = 0 })
	s := newSink(t, db)
	b := testBatch(1, 1, 150)
	for i := range b.Samples.Time {
		b.Samples.Time[i] -= int64(i) * 24 * 3600 * 1000
	}
	if err := s.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	var rows uint64
	one(t, db, "SELECT count() FROM {db}.samples", &rows)
	if rows != 150 {
		t.Errorf("%d rows, want 150", rows)
	}
}
