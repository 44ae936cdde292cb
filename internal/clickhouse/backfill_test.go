package clickhouse

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline"
	"sextant/pipeline/backfill"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// fleetViews read what a fleet sends, in ranges of several lengths.
func fleetViews() []*features.View {
	v := &features.View{Name: "fleet", Version: 1, Entity: "node", Keys: []string{"node"}, Tier: "monitoring", Interval: 10 * time.Second, TTL: time.Minute}
	for name, expr := range map[string]string{
		"cpu":    `sum by (node) (rate(node_cpu_seconds_total[1m]))`,
		"busy":   `avg by (node) (avg_over_time(accel_busy_ratio[2m]))`,
		"power":  `max by (node) (accel_power_watts)`,
		"memory": `max by (node) (node_memory_MemAvailable_bytes)`,
		"flags":  `count by (node) (sample_flag)`,
		"count":  `count by (node) ({__name__=~"node_.*"})`,
	} {
		v.Features = append(v.Features, features.Feature{Name: "f_" + name, Expr: expr, DType: features.Float64})
	}
	slices.SortFunc(v.Features, func(a, b features.Feature) int { return strings.Compare(a.Name, b.Name) })
	return []*features.View{v}
}

// lateNode of the log has its record of tick 20 delivered at the end of tick 30.
const lateNode = 1

// lateLog is what a fleet sends: with gaps, records that come twice, and one far too late.
func lateLog(f *fleet.Fleet, ticks int) []wire.Record {
	var out []wire.Record
	var held *wire.Record
	add := func(r wire.Record) {
		r.Offset = int64(len(out))
		out = append(out, r)
	}
	for tick := range ticks {
		for i := range 3 {
			sent := f.Record(i, tick, 0)
			r := sent.Clone()
			switch {
			case i == 0 && tick%17 < 3: // a gap
			case i == lateNode && tick == 20:
				held = &r
			case i == 2 && tick%9 == 0: // twice
				add(r)
				add(r)
			default:
				add(r)
			}
			if i == 2 && tick == 30 {
				held.Ingest = r.Ingest + 1
				add(*held)
			}
		}
	}
	return out
}

// runLog stores what the machine makes of records.
func runLog(t *testing.T, s *Sink, views []*features.View, records []wire.Record) {
	t.Helper()
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "telemetry.samples", Views: views}, pipeline.Checkpoint{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := m.Add(r); err != nil {
			t.Fatal(err)
		}
		if m.Len() > 20_000 {
			writeBatch(t, s, m.Take())
		}
	}
	writeBatch(t, s, m.Take())
}

func writeBatch(t *testing.T, s *Sink, b *pipeline.Batch) {
	t.Helper()
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// TestBackfillOverTheEngine: a view that gets its past from stored samples has, to the last
// bit, the rows that it has where the stream computed them; then the late record is repaired.
func TestBackfillOverTheEngine(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	ctx := t.Context()
	f := fleet.New(3, 7)
	live := fleetViews()
	again := fleetViews()
	again[0].Name = "fleet_again"
	apply(t, db, live[0], again[0])
	const ticks = 90
	runLog(t, s, live, lateLog(f, ticks))

	store := db.NewBackfillStore(s)
	closed, err := store.Closed(ctx, 5*time.Second)
	if err != nil || closed < fleet.Base+(ticks-3)*fleet.Interval {
		t.Fatalf("closed until %d ms, %v", closed-fleet.Base, err)
	}
	cfg := backfill.Config{Views: again, Job: "test", From: fleet.Base, To: closed, Lateness: 5 * time.Second, Parallel: 2, GroupSize: 2, Chunk: 12 * 2 * fleet.PerNode, Segment: 7 * time.Minute}
	p, err := backfill.Run(ctx, store, cfg)
	if err != nil || p.Stored != p.Rows || p.Done != p.Ticks || p.Samples == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	was, is := rowsOf(t, db, live[0]), rowsOf(t, db, again[0])
	if len(was.Tick) < 200 {
		t.Fatalf("%d rows prove little", len(was.Tick))
	}
	sameRows(t, was, is)
	for i, k := range is.Known {
		if k != is.Tick[i]+5000 || k > was.Known[i] {
			t.Fatalf("tick %d: known %d, live %d", is.Tick[i], k, was.Known[i])
		}
	}

	if p, err := backfill.Run(ctx, store, cfg); err != nil || p.Samples != 0 || p.Done != p.Ticks {
		t.Errorf("started again, it read: %+v, %v", p, err)
	}
	cfg.Job = ""
	if p, err := backfill.Run(ctx, store, cfg); err != nil || p.Stored != 0 || p.Differ != 0 || p.Same != len(is.Tick) {
		t.Errorf("what is there was not the same: %+v, %v", p, err)
	}

	repaired := int64(fleet.Base) + ticks*fleet.Interval + 7_200_000
	rc := backfill.RepairConfig{Views: live, Lateness: 5 * time.Second, Limit: 10, Now: func() time.Time { return time.UnixMilli(repaired) }}
	if got, err := backfill.Repair(ctx, store, rc); err != nil || got.Done != 0 {
		t.Errorf("repaired while its windows are open: %+v, %v", got, err)
	}
	if err := db.Exec(ctx, "INSERT INTO {db}.ingest_ledger (agent, seq, scrape, ingest) VALUES ('later', 1, fromUnixTimestamp64Milli(toInt64(?)), fromUnixTimestamp64Milli(toInt64(?)))", repaired, repaired); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(ctx, "ALTER TABLE {db}.ingest_ledger DELETE WHERE agent != 'later' SETTINGS mutations_sync = 2"); err != nil {
		t.Fatal(err)
	}
	got, err := backfill.Repair(ctx, store, rc)
	if err != nil || got.Done != 1 || got.Failed != 0 || got.Rows == 0 {
		t.Fatalf("repair: %+v, %v", got, err)
	}
	sameRows(t, was, rowsOf(t, db, live[0])) // as known then stays
	late := fleet.Base + 20*fleet.Interval
	for _, c := range []struct{ what, query, want string }{
		{"only the node that was late", "SELECT arrayStringConcat(groupUniqArray(toString(node)), ',') FROM {db}.features_fleet_v1_corrected FINAL", f.Name(lateNode)},
		{"from the late sample on, as far as the longest window", fmt.Sprintf("SELECT toString(min(toUnixTimestamp64Milli(tick)) > %d AND max(toUnixTimestamp64Milli(tick)) <= %d) FROM {db}.features_fleet_v1_corrected FINAL", late, late+240_000), "1"},
		{"known when it was repaired", fmt.Sprintf("SELECT toString(min(toUnixTimestamp64Milli(known)) = %d AND max(toUnixTimestamp64Milli(known)) = %[1]d) FROM {db}.features_fleet_v1_corrected FINAL", repaired), "1"},
		{"each tick once", "SELECT toString(count() = uniqExact(node, tick)) FROM {db}.fleet_corrected", "1"},
		{"nothing is pending", "SELECT toString(count()) FROM {db}.repairs_pending", "0"},
	} {
		var text string
		if one(t, db, c.query, &text); text != c.want {
			t.Errorf("%s: %q, want %q", c.what, text, c.want)
		}
	}
	if got, err := backfill.Repair(ctx, store, rc); err != nil || got.Done != 0 {
		t.Errorf("repaired twice: %+v, %v", got, err)
	}
}

// TestBackfillCountsWhatItRefuses: values that are out of range are counted by a backfill as by the
// stream, and not again by the next one.
func TestBackfillCountsWhatItRefuses(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	var views []*features.View
	for _, name := range []string{"fleet", "again"} {
		v, limit := fleetViews()[0], 0.5
		v.Name = name
		for i := range v.Features {
			if v.Features[i].Name == "f_busy" {
				v.Features[i].Max = &limit
			}
		}
		views = append(views, v)
	}
	apply(t, db, views...)
	runLog(t, s, views[:1], lateLog(fleet.New(3, 7), 60))
	store := db.NewBackfillStore(s)
	closed, err := store.Closed(t.Context(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	cfg := backfill.Config{Views: views[1:], From: fleet.Base, To: closed, Lateness: 5 * time.Second, GroupSize: 2, Chunk: 12 * 2 * fleet.PerNode}
	query := fmt.Sprintf("SELECT toString(groupArray((feature, tick, refused))) FROM (SELECT feature, tick, sum(refused) AS refused FROM {db}.feature_faults FINAL WHERE view = '%%s@v1' AND toUnixTimestamp64Milli(tick) < %d GROUP BY feature, tick ORDER BY feature, tick)", closed)
	var live, filled string
	one(t, db, fmt.Sprintf(query, "fleet"), &live)
	if strings.Count(live, "f_busy") < 20 || strings.Contains(live, "f_cpu") {
		t.Fatalf("the stream refused %s", live)
	}
	for range 2 {
		if _, err := backfill.Run(t.Context(), store, cfg); err != nil {
			t.Fatal(err)
		}
		if one(t, db, fmt.Sprintf(query, "again"), &filled); filled != live {
			t.Fatalf("the stream refused\n%s\na backfill\n%s", live, filled)
		}
	}
	// What the stream has rows of, it has counted.
	cfg.Views = views[:1]
	if _, err := backfill.Run(t.Context(), store, cfg); err != nil {
		t.Fatal(err)
	}
	if one(t, db, fmt.Sprintf(query, "fleet"), &filled); filled != live {
		t.Fatalf("the stream refused\n%s\nwith a backfill\n%s", live, filled)
	}
}

// TestBackfillFillsWhatIsNull: a feature that an old version gained gets its past, and what
// was served stays.
func TestBackfillFillsWhatIsNull(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	views := fleetViews()
	young := fleetViews()
	young[0].Features = young[0].Features[:2]
	apply(t, db, young[0])
	runLog(t, s, young, lateLog(fleet.New(3, 7), 40))
	served := rowsOf(t, db, young[0])
	apply(t, db, views[0])

	p, err := backfill.Run(t.Context(), db.NewBackfillStore(s), backfill.Config{Views: views, From: fleet.Base, To: served.Tick[len(served.Tick)-1] + 1, Lateness: 5 * time.Second})
	if err != nil || p.Filled == 0 || p.Differ != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	full := rowsOf(t, db, views[0])
	for i := range served.Tick {
		j := 0
		for j < len(full.Tick) && (full.Tick[j] != served.Tick[i] || full.Keys[0][j] != served.Keys[0][i]) {
			j++
		}
		was, is := served.Cols[0].Num[i], full.Cols[0].Num[j]
		if full.Known[j] != served.Known[i] || was == was && is != was {
			t.Fatalf("row %d: known %d became %d, %v became %v", i, served.Known[i], full.Known[j], was, is)
		}
	}
	if got := text(t, db, "toString(countIf(origin = 'backfill') > 0)", "{db}.fleet"); got[0] != "1" {
		t.Error("no row is marked as backfilled")
	}
}

// TestBackfillReadsWhatWindowsHeld: neither late nor unusable samples, and of two of one time
// the one that was in time.
func TestBackfillReadsWhatWindowsHeld(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	b := testBatch(1, 1, 1)
	id := b.Samples.Series[0]
	put := func(at int64, v float64, flags uint16) {
		x := testBatch(1, uint64(at), 1)
		x.Samples.Time[0], x.Samples.Value[0], x.Samples.Flags[0] = t0+at, v, flags
		writeBatch(t, s, x)
	}
	stale := math.Float64frombits(0x7ff0000000000002)
	put(1000, 1, 0)
	put(1000, 2, quality.Late) // the same again, too late
	put(2000, 3, quality.Late)
	put(3000, math.NaN(), quality.Blank)
	put(4000, 5, quality.OutOfRange)
	put(5000, stale, quality.Stale)
	put(6000, 7, quality.Partial)
	for _, c := range []struct {
		late bool
		want []string
	}{{false, []string{"1000 1", "5000 stale", "6000 7"}}, {true, []string{"1000 1", "2000 3", "5000 stale", "6000 7"}}} {
		var got []string
		err := db.NewBackfillStore(s).Samples(t.Context(), backfill.Range{Nodes: []string{"n1"}, From: t0, To: t0 + 7000}, nil, c.late, func(s backfill.Samples) {
			for i, v := range s.Value {
				text := fmt.Sprintf("%d %v", s.Time[i]-t0, v)
				if math.Float64bits(v) == math.Float64bits(stale) {
					text = fmt.Sprintf("%d stale", s.Time[i]-t0)
				}
				if got = append(got, text); s.Series[i] != id {
					t.Errorf("series %d", s.Series[i])
				}
			}
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("late %v: %v, want %v (%v)", c.late, got, c.want, err)
		}
	}
}

func rowsOf(t *testing.T, db *DB, v *features.View) *features.Rows {
	t.Helper()
	r, err := db.RowsBetween(t.Context(), v, 0, math.MaxInt32*1000)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sameRows(t *testing.T, was, is *features.Rows) {
	t.Helper()
	if !slices.Equal(was.Tick, is.Tick) || !slices.Equal(was.Keys[0], is.Keys[0]) {
		t.Fatalf("%d rows and %d, or of other ticks and nodes", len(was.Tick), len(is.Tick))
	}
	for k := range was.Cols {
		for i, v := range was.Cols[k].Num {
			if math.Float64bits(v) != math.Float64bits(is.Cols[k].Num[i]) {
				t.Fatalf("%s at %d of %s: live %v, backfilled %v", was.View.Features[k].Name, was.Tick[i], was.Keys[0][i], v, is.Cols[k].Num[i])
			}
		}
	}
	for i := range was.Tick {
		if was.Flag(i) != is.Flag(i) {
			t.Errorf("flags at %d of %s: live %s, backfilled %s", was.Tick[i], was.Keys[0][i], quality.Text(was.Flag(i)), quality.Text(is.Flag(i)))
		}
	}
}
