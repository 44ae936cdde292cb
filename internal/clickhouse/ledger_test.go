package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sextant/pipeline"
)

// rec is a record of an agent, as the ledger keeps it.
type rec struct {
	seq, oldest, dropped uint64
	offset               int64
}

// writeRecords stores records of agent on node, with two samples each, one batch a record,
// all at the same time: their order does not matter.
func writeRecords(t *testing.T, s *Sink, node uint64, agent string, records ...rec) {
	t.Helper()
	var wg sync.WaitGroup
	for _, r := range records {
		b := testBatch(node, r.seq, 2)
		b.First, b.Last = r.offset, r.offset
		l := &b.Ledger[0]
		l.Agent, l.Oldest, l.Dropped, l.Offset = agent, r.oldest, r.dropped, r.offset
		wg.Go(func() {
			if err := s.Write(context.Background(), b); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// ledgerOf is what the view says: first last received missing dropped lost pending resent.
func ledgerOf(t *testing.T, db *DB, agent string) string {
	t.Helper()
	rows := text(t, db, "first, last, received, missing, dropped, lost, pending, resent", fmt.Sprintf("{db}.ledger WHERE agent = '%s'", agent))
	if len(rows) != 1 {
		t.Fatalf("%d rows of agent %s", len(rows), agent)
	}
	return rows[0]
}

func TestLedger(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	for i, c := range []struct {
		name    string
		records []rec
		want    string // first last received missing dropped lost pending resent
	}{
		{"complete", []rec{{1, 1, 0, 0}, {2, 2, 0, 1}, {3, 3, 0, 2}}, "1 3 3 0 0 0 0 0"},
		{"lost", []rec{{1, 1, 0, 0}, {3, 3, 0, 1}, {4, 4, 0, 2}}, "1 4 3 1 0 1 0 0"},
		{"first_lost", []rec{{3, 3, 0, 0}, {4, 4, 0, 1}}, "3 4 2 2 0 2 0 0"},
		{"fresh_first", []rec{{1, 1, 0, 0}, {9, 2, 0, 1}, {2, 2, 0, 2}, {3, 3, 0, 3}}, "1 9 4 0 0 0 5 0"},
		{"backlog_done", []rec{{1, 1, 0, 0}, {4, 2, 0, 1}, {2, 2, 0, 2}, {3, 3, 0, 3}, {5, 5, 0, 4}}, "1 5 5 0 0 0 0 0"},
		{"dropped", []rec{{1, 1, 0, 0}, {4, 4, 2, 1}}, "1 4 2 2 2 0 0 0"},
		{"dropped_and_lost", []rec{{1, 1, 0, 0}, {5, 5, 2, 1}}, "1 5 2 3 2 1 0 0"},
		{"sent_twice", []rec{{1, 1, 0, 0}, {2, 1, 0, 1}, {1, 1, 0, 2}, {2, 2, 0, 3}}, "1 2 2 0 0 0 0 2"},
		{"replayed", []rec{{1, 1, 0, 0}, {2, 2, 0, 1}, {1, 1, 0, 0}, {2, 2, 0, 1}}, "1 2 2 0 0 0 0 0"},
		{"all_pending_but_one", []rec{{7, 1, 0, 0}}, "7 7 1 0 0 0 6 0"},
	} {
		writeRecords(t, s, uint64(i+1), c.name, c.records...)
		if got := ledgerOf(t, db, c.name); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	sum, err := db.Ledger(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := LedgerSummary{Agents: 10, Received: 26, Lost: 4, Dropped: 4, Pending: 11, Resent: 2, Expected: 52, Visible: 52}
	if sum != want {
		t.Errorf("summary %+v, want %+v", sum, want)
	}
}

// When the rows of an agent's first days are gone, what is left is no loss.
func TestLedgerAfterExpiry(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	writeRecords(t, s, 1, "old", rec{1, 1, 0, 0}, rec{2, 2, 0, 1}, rec{5, 5, 2, 2}, rec{6, 6, 2, 3}, rec{8, 8, 2, 4}, rec{10, 10, 3, 5})
	mustExec(t, db, "ALTER TABLE {db}.ingest_ledger DELETE WHERE seq < 5 SETTINGS mutations_sync = 2")
	if got, want := ledgerOf(t, db, "old"), "5 10 4 2 1 1 0 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A new spool is a new agent, which starts at 1 again.
func TestLedgerOfNewSpool(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	writeRecords(t, s, 1, "first-spool", rec{1, 1, 0, 0}, rec{2, 2, 0, 1})
	writeRecords(t, s, 1, "second-spool", rec{1, 1, 0, 2})
	if got, want := ledgerOf(t, db, "second-spool"), "1 1 1 0 0 0 0 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAudit(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	ctx := context.Background()
	audit := func() []string {
		return text(t, db, "node, records, expected, visible, lost, duplicate", "{db}.ingest_audit ORDER BY node")
	}
	check := func(what string, want ...string) {
		t.Helper()
		if got := audit(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	writeRecords(t, s, 1, "a", rec{1, 1, 0, 0}, rec{2, 2, 0, 1}, rec{2, 2, 0, 1}, rec{2, 2, 0, 9})
	check("a replay and a record sent twice", "n1 2 4 4 0 0")

	// A second copy may be told apart already by the pipeline: it claims nothing then.
	again := testBatch(1, 2, 2)
	again.Samples = pipeline.Samples{}
	again.Ledger[0].Agent, again.Ledger[0].Offset, again.Ledger[0].Rows, again.Ledger[0].Duplicates = "a", 11, 0, 2
	if err := s.Write(ctx, again); err != nil {
		t.Fatal(err)
	}
	check("a copy that the pipeline left out", "n1 2 4 4 0 0")

	mustExec(t, db, "ALTER TABLE {db}.samples DELETE WHERE series = bitShiftLeft(toUInt64(1), 48) + 1 AND value > 2 SETTINGS mutations_sync = 2")
	check("a sample lost", "n1 2 4 3 1 0")

	extra := testBatch(2, 1, 3)
	extra.Ledger[0].Rows = 2
	if err := s.Write(ctx, extra); err != nil {
		t.Fatal(err)
	}
	check("a sample too many", "n1 2 4 3 1 0", "n2 1 2 3 0 1")

	unclaimed := testBatch(3, 1, 2)
	unclaimed.Ledger = nil
	if err := s.Write(ctx, unclaimed); err != nil {
		t.Fatal(err)
	}
	check("samples without a record", "n1 2 4 3 1 0", "n2 1 2 3 0 1", "n3 0 0 2 0 2")
}

// TestAuditOverTheBorderOfAnHour moves a sample into the hour before, as an exporter's own
// timestamps do: in the sum that is no loss.
func TestAuditOverTheBorderOfAnHour(t *testing.T) {
	db := openDB(t)
	b := testBatch(1, 1, 2)
	b.Samples.Time[0] -= time.Hour.Milliseconds()
	if err := newSink(t, db).Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got, want := text(t, db, "expected, visible, lost, duplicate", "{db}.ingest_audit ORDER BY time"), []string{"0 1 0 1", "2 1 1 0"}; !slices.Equal(got, want) {
		t.Errorf("by hour: %q, want %q", got, want)
	}
	sum, err := db.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sum.Expected != 2 || sum.Visible != 2 || sum.Missing != 0 || sum.Duplicate != 0 {
		t.Errorf("sum: %+v, want nothing lost and nothing twice", sum)
	}
}

// Samples and ledger do not expire in the same moment, nor after the same days: what one of
// them may have lost to its retention is not compared.
func TestAuditLeavesOutWhatMayHaveExpired(t *testing.T) {
	for _, c := range []struct {
		samples, ledger int
		want            []string
	}{
		{7, 30, []string{"n2 1 2 0 2 0"}},
		{30, 7, []string{"n2 1 2 0 2 0"}},
		{0, 7, []string{"n2 1 2 0 2 0"}},
		{0, 0, []string{"n1 1 2 0 2 0", "n2 1 2 0 2 0"}},
	} {
		db := openDB(t, func(cfg *Config) { cfg.Retention.SamplesDays, cfg.Retention.LedgerDays = c.samples, c.ledger })
		s := newSink(t, db)
		for node, age := range map[uint64]time.Duration{1: 7 * 24 * time.Hour, 2: 7*24*time.Hour - 2*time.Hour} {
			b := testBatch(node, 1, 2)
			at := time.Now().Add(-age).UnixMilli()
			b.Ledger[0].Scrape, b.Samples.Time = at, []int64{at, at}
			if err := s.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		mustExec(t, db, "TRUNCATE TABLE {db}.samples")
		if got := text(t, db, "node, records, expected, visible, lost, duplicate", "{db}.ingest_audit ORDER BY node"); !slices.Equal(got, c.want) {
			t.Errorf("samples %d days, ledger %d days: %q, want %q", c.samples, c.ledger, got, c.want)
		}
	}
}

func TestFreshness(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	b := testBatch(1, 1, 2)
	mustExec(t, db, "INSERT INTO {db}.ingest_ledger (agent, seq, node, scrape, ingest, written) SELECT 'x', number, 'n9', now64(3) - INTERVAL 2 SECOND, now64(3) - INTERVAL 1500 MILLISECOND, now64(3) - INTERVAL 500 MILLISECOND FROM numbers(10)")
	if err := s.Write(context.Background(), b); err != nil { // older than an hour: not in the view
		t.Fatal(err)
	}
	if got, want := text(t, db, "node, transport_p50_seconds, storage_p99_seconds, age_seconds >= 2 AND age_seconds < 60", "{db}.freshness"), []string{"n9 0.5 1 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
