package clickhouse

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// codecs are the candidates of docs/adr/0005-sample-codecs.md.
var codecs = []struct{ column, kind, codec string }{
	{"series", "UInt64", "LZ4"},
	{"series", "UInt64", "ZSTD(1)"},
	{"series", "UInt64", "Delta, LZ4"},
	{"series", "UInt64", "Delta, ZSTD(1)"},
	{"series", "UInt64", "DoubleDelta, ZSTD(1)"},
	{"series", "UInt64", "T64, ZSTD(1)"},
	{"ts", timestamp, "LZ4"},
	{"ts", timestamp, "ZSTD(1)"},
	{"ts", timestamp, "Delta, LZ4"},
	{"ts", timestamp, "Delta, ZSTD(1)"},
	{"ts", timestamp, "DoubleDelta, LZ4"},
	{"ts", timestamp, "DoubleDelta, ZSTD(1)"},
	{"ts", timestamp, "T64, ZSTD(1)"},
	{"value", "Float64", "LZ4"},
	{"value", "Float64", "ZSTD(1)"},
	{"value", "Float64", "ZSTD(3)"},
	{"value", "Float64", "Delta, LZ4"},
	{"value", "Float64", "Delta, ZSTD(1)"},
	{"value", "Float64", "DoubleDelta, ZSTD(1)"},
	{"value", "Float64", "Gorilla, LZ4"},
	{"value", "Float64", "Gorilla, ZSTD(1)"},
	{"value", "Float64", "FPC(12), ZSTD(1)"},
	{"flags", "UInt8", "LZ4"},
	{"flags", "UInt8", "ZSTD(1)"},
	{"flags", "UInt8", "T64, ZSTD(1)"},
	// A feature: a share between 0 and 1 as a Float32 that may be NULL.
	{"feature", "Nullable(Float32)", "LZ4"},
	{"feature", "Nullable(Float32)", "ZSTD(1)"},
	{"feature", "Nullable(Float32)", "Delta, ZSTD(1)"},
	{"feature", "Nullable(Float32)", "Gorilla, LZ4"},
	{"feature", "Nullable(Float32)", "Gorilla, ZSTD(1)"},
	{"feature", "Nullable(Float32)", "FPC(12), ZSTD(1)"},
}

// BenchmarkCodecs measures what a column costs: bytes per sample on disk once all parts
// are merged, and CPU of the whole process per sample to write and to read it. The column
// lies in the order of the table, in two shapes: "merged", where every series has a run
// of 200 samples, and "fresh", where 6,666 nodes have one scrape each, as one insert of a
// large fleet has. Run it with -benchtime=1x.
func BenchmarkCodecs(b *testing.B) {
	for _, shape := range []struct {
		name           string
		nodes, scrapes int
	}{{"merged", 100, 200}, {"fresh", 6666, 1}} {
		b.Run(shape.name, func(b *testing.B) {
			db := openDB(b)
			n := loadMix(b, db, shape.nodes, shape.scrapes)
			for _, c := range codecs {
				b.Run(c.column+"/"+c.codec, func(b *testing.B) { benchCodec(b, db, c.column, c.kind, c.codec, n) })
			}
		})
	}
}

// loadMix fills the table mix, in memory and in the order of samples.
func loadMix(b *testing.B, db *DB, nodes, scrapes int) (rows int) {
	var s sampleColumns
	m := newMix(nodes, t0)
	for range scrapes {
		m.scrapeAll(&s.Samples)
	}
	s.sort()
	mustExec(b, db, "CREATE TABLE {db}.mix (series UInt64, ts "+timestamp+", value Float64, flags UInt8, feature Nullable(Float32) MATERIALIZED if(value BETWEEN 0 AND 100, value / 100, NULL)) ENGINE = Memory")
	batch, err := db.openBatch(context.Background(), &table{"mix", samplesTable.columns}, "")
	if err != nil {
		b.Fatal(err)
	}
	w := &columnWriter{batch: batch}
	appendSamples(w, &s.Samples)
	if w.err != nil {
		b.Fatal(w.err)
	}
	if err := batch.Send(); err != nil {
		b.Fatal(err)
	}
	return len(s.Series)
}

func benchCodec(b *testing.B, db *DB, column, kind, codec string, rows int) {
	var write, read time.Duration
	var bytes uint64
	for range b.N {
		mustExec(b, db, "DROP TABLE IF EXISTS {db}.codec SYNC")
		mustExec(b, db, fmt.Sprintf("CREATE TABLE {db}.codec (%s %s CODEC(%s)) ENGINE = MergeTree ORDER BY tuple() SETTINGS min_bytes_for_wide_part = 0", column, kind, codec))
		mustExec(b, db, "SYSTEM STOP MERGES {db}.codec")
		write += cpuOf(func() {
			mustExec(b, db, "INSERT INTO {db}.codec SELECT "+column+" FROM {db}.mix SETTINGS max_threads = 1, max_insert_threads = 1, max_block_size = 1000000")
		})
		mustExec(b, db, "SYSTEM START MERGES {db}.codec")
		mustExec(b, db, "OPTIMIZE TABLE {db}.codec FINAL")
		read += cpuOf(func() {
			mustExec(b, db, "SELECT count() FROM {db}.codec WHERE NOT ignore("+column+") SETTINGS max_threads = 1")
		})
		one(b, db, fmt.Sprintf("SELECT data_compressed_bytes FROM system.columns WHERE database = '%s' AND table = 'codec'", db.cfg.Database), &bytes)
	}
	per := float64(b.N) * float64(rows)
	b.ReportMetric(float64(bytes)/float64(rows), "bytes/sample")
	b.ReportMetric(float64(write)/per, "write-ns/sample")
	b.ReportMetric(float64(read)/per, "read-ns/sample")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDisk measures bytes per sample of the table as it is, written by the sink and
// merged. Run it with -benchtime=1x.
func BenchmarkDisk(b *testing.B) {
	db := openDB(b)
	sink := newSink(b, db)
	var bytes, rows uint64
	for range b.N {
		mustExec(b, db, "TRUNCATE TABLE {db}.samples")
		writeAll(b, sink, benchBatches(8, 125_000), 8)
		mustExec(b, db, "OPTIMIZE TABLE {db}.samples FINAL")
		one(b, db, "SELECT sum(data_compressed_bytes), sum(rows) FROM system.parts WHERE active AND table = 'samples' AND database = '"+db.cfg.Database+"'", &bytes, &rows)
	}
	b.ReportMetric(float64(bytes)/float64(rows), "bytes/sample")
	b.ReportMetric(0, "ns/op")
}

func mustExec(t testing.TB, db *DB, sql string) {
	t.Helper()
	if err := db.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}

// cpuOf is the CPU time of this process, engine included, while f runs.
func cpuOf(f func()) time.Duration {
	before := cpu()
	f()
	return cpu() - before
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
