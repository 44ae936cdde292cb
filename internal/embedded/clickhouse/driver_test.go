package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/google/uuid"
)

// What clickhouse-go does over HTTP, against the front.

var compressions = map[string]*ch.Compression{
	"none": nil, "lz4": {Method: ch.CompressionLZ4}, "zstd": {Method: ch.CompressionZSTD, Level: 1},
	"gzip": {Method: ch.CompressionGZIP, Level: 1}, "deflate": {Method: ch.CompressionDeflate, Level: 1}, "br": {Method: ch.CompressionBrotli, Level: 1},
}

func dial(t *testing.T, change func(*ch.Options)) ch.Conn {
	t.Helper()
	o := &ch.Options{Addr: []string{shared.Addr()}, Protocol: ch.HTTP, MaxOpenConns: 32, MaxIdleConns: 32}
	if change != nil {
		change(o)
	}
	db, err := ch.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func scan[T any](t *testing.T, ctx context.Context, db ch.Conn, query string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRow(ctx, query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func chCode(err error) int {
	var e *ch.Exception
	if errors.As(err, &e) {
		return int(e.Code)
	}
	return 0
}

// Every column type that the schema uses, and its neighbours, there and back, row
// by row and by columns, under every compression.
func TestDriverColumns(t *testing.T) {
	at := time.Date(2026, 11, 30, 4, 5, 6, 789_000_000, time.UTC)
	id := uuid.MustParse("61f0c404-5cb3-11e7-907b-a6006ad3dba0")
	word := "wörd\x00"
	columns := []struct {
		kind string
		rows []any // two values
		cols any   // the same as a slice
	}{
		{"UInt8", []any{uint8(0), uint8(255)}, []uint8{0, 255}},
		{"UInt64", []any{uint64(1), uint64(math.MaxUint64)}, []uint64{1, math.MaxUint64}},
		{"Int64", []any{int64(math.MinInt64), int64(7)}, []int64{math.MinInt64, 7}},
		{"Float64", []any{math.Inf(1), -0.5}, []float64{math.Inf(1), -0.5}},
		{"Float32", []any{float32(1.5), float32(-2)}, []float32{1.5, -2}},
		{"Bool", []any{true, false}, []bool{true, false}},
		{"String", []any{word, ""}, []string{word, ""}},
		{"LowCardinality(String)", []any{"a", "b"}, []string{"a", "b"}},
		{"LowCardinality(Nullable(String))", []any{&word, (*string)(nil)}, []*string{&word, nil}},
		{"Nullable(Float64)", []any{ptr(2.5), (*float64)(nil)}, []*float64{ptr(2.5), nil}},
		{"DateTime64(3, 'UTC')", []any{at, at.Add(time.Hour)}, []time.Time{at, at.Add(time.Hour)}},
		{"DateTime('UTC')", []any{at.Truncate(time.Second), at.Truncate(time.Second)}, []time.Time{at.Truncate(time.Second), at.Truncate(time.Second)}},
		{"UUID", []any{id, uuid.Nil}, []uuid.UUID{id, uuid.Nil}},
		{"Array(String)", []any{[]string{"x", "y"}, []string{}}, [][]string{{"x", "y"}, {}}},
		{"Array(Float64)", []any{[]float64{1, 2}, []float64{3}}, [][]float64{{1, 2}, {3}}},
		{"Map(String, String)", []any{map[string]string{"k": "v"}, map[string]string{}}, []map[string]string{{"k": "v"}, {}}},
		{"Map(LowCardinality(String), String)", []any{map[string]string{"k": "v", "l": "w"}, map[string]string{}}, []map[string]string{{"k": "v", "l": "w"}, {}}},
		{"Enum8('ok' = 0, 'partial' = 1)", []any{"ok", "partial"}, []string{"ok", "partial"}},
		{"FixedString(4)", []any{"abcd", "efgh"}, []string{"abcd", "efgh"}},
		{"Array(Tuple(String, String))", []any{[]any{[]any{"a", "b"}}, []any{}}, nil},
	}
	for name, compression := range compressions {
		t.Run(name, func(t *testing.T) {
			db := dial(t, func(o *ch.Options) { o.Compression = compression })
			for i, c := range columns {
				tbl := fmt.Sprintf("columns_%s_%d", name, i)
				if err := db.Exec(t.Context(), "CREATE TABLE "+tbl+" (n UInt8, v "+c.kind+") ENGINE = Memory"); err != nil {
					t.Fatalf("%s: %v", c.kind, err)
				}
				b, err := db.PrepareBatch(t.Context(), "INSERT INTO "+tbl)
				if err != nil {
					t.Fatalf("%s: %v", c.kind, err)
				}
				for n, v := range c.rows {
					if err := b.Append(uint8(n), v); err != nil {
						t.Fatalf("%s: %v", c.kind, err)
					}
				}
				if err := b.Send(); err != nil {
					t.Fatalf("%s: %v", c.kind, err)
				}
				if c.cols != nil {
					if b, err = db.PrepareBatch(t.Context(), "INSERT INTO "+tbl+" (n, v)"); err != nil {
						t.Fatalf("%s: %v", c.kind, err)
					}
					if err := errors.Join(b.Column(0).Append([]uint8{2, 3}), b.Column(1).Append(c.cols), b.Send()); err != nil {
						t.Fatalf("%s: %v", c.kind, err)
					}
				}
				rows, err := db.Query(t.Context(), "SELECT v FROM "+tbl+" ORDER BY n")
				if err != nil {
					t.Fatalf("%s: %v", c.kind, err)
				}
				n := 0
				for ; rows.Next(); n++ {
					got := reflect.New(rows.ColumnTypes()[0].ScanType())
					if err := rows.Scan(got.Interface()); err != nil {
						t.Fatalf("%s: %v", c.kind, err)
					}
					if want := c.rows[n%2]; fmt.Sprint(show(got.Elem())) != fmt.Sprint(show(reflect.ValueOf(want))) {
						t.Errorf("%s row %d: %v, want %v", c.kind, n, got.Elem(), want)
					}
				}
				if err := rows.Err(); err != nil {
					t.Errorf("%s: %v", c.kind, err)
				}
				if want := len(c.rows); n != want && n != 2*want {
					t.Errorf("%s: %d rows", c.kind, n)
				}
				if err := errors.Join(rows.Close(), db.Exec(t.Context(), "DROP TABLE "+tbl)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

// show follows pointers, so that a value and a pointer to it print the same.
func show(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		return show(v.Elem())
	}
	if at, ok := v.Interface().(time.Time); ok {
		return at.UTC()
	}
	return v.Interface()
}

func TestDriverArguments(t *testing.T) {
	db := dial(t, nil)
	ctx := t.Context()
	if got := scan[string](t, ctx, db, "SELECT concat(?, ?)", "it's", ` \n"`); got != `it's \n"` {
		t.Errorf("positional: %q", got)
	}
	if got := scan[uint64](t, ctx, db, "SELECT {x:UInt64} + {y:UInt64}", ch.Named("x", 40), ch.Named("y", 2)); got != 42 {
		t.Errorf("named: %d", got)
	}
	evil := "'); DROP TABLE x; --\t\n\\"
	if got := scan[string](t, ctx, db, "SELECT {s:String}", ch.Named("s", evil)); got != evil {
		t.Errorf("named string: %q", got)
	}
	if got := scan[uint64](t, ch.Context(ctx, ch.WithParameters(ch.Parameters{"x": "7"})), db, "SELECT {x:UInt64}"); got != 7 {
		t.Errorf("WithParameters: %d", got)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	if got := scan[time.Time](t, ctx, db, "SELECT {t:DateTime64(3, 'UTC')}", ch.DateNamed("t", at, ch.MilliSeconds)); !got.Equal(at) {
		t.Errorf("time: %v", got)
	}
	if got := scan[[]string](t, ctx, db, "SELECT {l:Array(String)}", ch.Named("l", []string{"a'b", `c\d`})); !reflect.DeepEqual(got, []string{"a'b", `c\d`}) {
		t.Errorf("array: %q", got)
	}
}

func TestDriverSettings(t *testing.T) {
	db := dial(t, func(o *ch.Options) {
		o.Settings = ch.Settings{"max_threads": 1, "max_block_size": 1234}
		o.Auth.Database = "system"
	})
	ctx := ch.Context(t.Context(), ch.WithSettings(ch.Settings{"max_block_size": 77}))
	if got := scan[string](t, ctx, db, "SELECT concat(toString(getSetting('max_threads')), ' ', toString(getSetting('max_block_size')), ' ', currentDatabase())"); got != "1 77 system" {
		t.Errorf("got %q", got)
	}
	if got := scan[uint64](t, t.Context(), db, "SELECT toUInt64(getSetting('max_block_size'))"); got != 1234 {
		t.Errorf("a setting stayed: %d", got)
	}
	err := db.Exec(ch.Context(t.Context(), ch.WithSettings(ch.Settings{"no_such_setting": 1})), "SELECT 1")
	if chCode(err) != 115 {
		t.Errorf("unknown setting: %v", err)
	}
}

func TestDriverExceptions(t *testing.T) {
	for name, compression := range compressions {
		t.Run(name, func(t *testing.T) {
			db := dial(t, func(o *ch.Options) { o.Compression = compression })
			for query, want := range map[string]int{"SELECT * FROM no_such_table": 60, "SELECT nope": 47, "SELEC": 62, "SELECT 1; SELECT 2": 62, "SELECT throwIf(1)": 395, "CREATE TABLE a.b (x UInt8) ENGINE = Memory": 81} {
				err := db.Exec(t.Context(), query)
				if chCode(err) != want {
					t.Errorf("Exec %s: %v, want code %d", query, err, want)
				}
				if rows, err := db.Query(t.Context(), query); chCode(err) != want {
					t.Errorf("Query %s: %v, want code %d", query, err, want)
					if rows != nil {
						rows.Close()
					}
				}
			}
			if _, err := db.PrepareBatch(t.Context(), "INSERT INTO no_such_table"); chCode(err) != 60 {
				t.Errorf("batch: %v", err)
			}
			// With a batch that is larger than what the connection buffers.
			if b, err := db.PrepareBatch(ch.Context(t.Context(), ch.WithColumnNamesAndTypes([]ch.ColumnNameAndType{{Name: "a", Type: "UInt64"}})), "INSERT INTO no_such_table (a)"); err != nil {
				t.Error(err)
			} else if err := errors.Join(b.Column(0).Append(make([]uint64, 2_000_000)), b.Send()); chCode(err) != 60 {
				t.Errorf("large batch: %v", err)
			}
			// In the middle of a result, behind what the server holds back.
			rows, err := db.Query(ch.Context(t.Context(), ch.WithSettings(ch.Settings{"max_block_size": 10000, "max_threads": 1})),
				"SELECT number, randomString(20), throwIf(number = 900000) FROM numbers(1000000)")
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for rows.Next() {
				n++
			}
			if chCode(rows.Err()) != 395 || n < 10000 {
				t.Errorf("after %d rows: %v", n, rows.Err())
			}
			rows.Close()
			if got := scan[uint8](t, t.Context(), db, "SELECT 1"); got != 1 {
				t.Error("the pool did not recover")
			}
		})
	}
}

func TestDriverLargeResult(t *testing.T) {
	for name, compression := range compressions {
		t.Run(name, func(t *testing.T) {
			db := dial(t, func(o *ch.Options) { o.Compression = compression })
			rows, err := db.Query(t.Context(), "SELECT number, toString(number) FROM numbers(1000000)")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var want, n uint64
			var s string
			for ; rows.Next(); want++ {
				if err := rows.Scan(&n, &s); err != nil {
					t.Fatal(err)
				}
				if n != want || len(s) == 0 {
					t.Fatalf("row %d is %d %q", want, n, s)
				}
			}
			if rows.Err() != nil || want != 1_000_000 {
				t.Errorf("%d rows, %v", want, rows.Err())
			}
		})
	}
	db := dial(t, nil)
	rows, err := db.Query(t.Context(), "SELECT number FROM numbers(0)")
	if err != nil {
		t.Fatal(err)
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("an empty result: %v", rows.Err())
	}
	rows.Close()
}

func TestDriverCancel(t *testing.T) {
	db := dial(t, nil)
	const slow = "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1"
	running := "SELECT count() FROM system.processes WHERE query LIKE '%1000000000000%' AND query NOT LIKE '%system.processes%'"
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	rows, err := db.Query(ctx, slow)
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	eventually(t, "the engine still works for a client that left", func() bool { return scan[uint64](t, t.Context(), db, running) == 0 })

	// 200 clients that leave: every slot comes back.
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				if rows, err := db.Query(ctx, slow); err == nil {
					rows.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	eventually(t, "statements still run", func() bool { return scan[uint64](t, t.Context(), db, running) == 0 })
	eventually(t, "slots are held", func() bool { return len(shared.slots.free) == 0 && shared.slots.waiting.Load() == 0 })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func TestDriverConcurrent(t *testing.T) {
	db := dial(t, nil)
	tbl := table(t, "w UInt8, n UInt64")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 5 {
				b, err := db.PrepareBatch(t.Context(), "INSERT INTO "+tbl)
				if err != nil {
					t.Error(err)
					return
				}
				for n := range 100 {
					if err := b.Append(uint8(w), uint64(i*100+n)); err != nil {
						t.Error(err)
					}
				}
				if err := b.Send(); err != nil {
					t.Error(err)
				}
				var count, sum uint64
				if err := db.QueryRow(t.Context(), "SELECT count(), sum(n) FROM "+tbl+" WHERE w = {w:UInt8}", ch.Named("w", w)).Scan(&count, &sum); err != nil {
					t.Error(err)
				}
				if n := uint64(i+1) * 100; count != n || sum != n*(n-1)/2 {
					t.Errorf("worker %d reads %d rows, sum %d after writing %d", w, count, sum, n)
				}
			}
		})
	}
	wg.Wait()
}

func TestDriverQueryID(t *testing.T) {
	db := dial(t, nil)
	ctx := ch.Context(t.Context(), ch.WithQueryID("my-query"))
	if got := scan[string](t, ctx, db, "SELECT getSetting('log_comment')"); !strings.Contains(got, "my-query") {
		t.Errorf("the engine knows the statement as %q", got)
	}
}

func TestDriverAsyncAndDedup(t *testing.T) {
	db := dial(t, nil)
	tbl := table(t, "a UInt64")
	if err := db.Exec(ch.Context(t.Context(), ch.WithAsync(true)), "INSERT INTO "+tbl+" VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	if got := scan[uint64](t, t.Context(), db, "SELECT sum(a) FROM "+tbl); got != 3 {
		t.Errorf("async insert: %d", got)
	}
	if err := db.Exec(t.Context(), "ALTER TABLE "+tbl+" MODIFY SETTING non_replicated_deduplication_window = 100"); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"x", "x", "y"} {
		b, err := db.PrepareBatch(ch.Context(t.Context(), ch.WithSettings(ch.Settings{"insert_deduplication_token": token})), "INSERT INTO "+tbl)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Append(uint64(10)), b.Send()); err != nil {
			t.Fatal(err)
		}
	}
	if got := scan[uint64](t, t.Context(), db, "SELECT sum(a) FROM "+tbl); got != 23 {
		t.Errorf("sum %d, want 23: one row of each token", got)
	}
}

func TestDriverExternalTable(t *testing.T) {
	db := dial(t, nil)
	nodes, err := ext.NewTable("nodes", ext.Column("name", "String"), ext.Column("cores", "UInt64"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b"} {
		if err := nodes.Append(name, uint64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := scan[uint64](t, ch.Context(t.Context(), ch.WithExternalTable(nodes)), db, "SELECT sum(cores) FROM nodes"); got != 3 {
		t.Errorf("sum %d", got)
	}
}

func TestDriverAuth(t *testing.T) {
	for name, c := range map[string]struct {
		auth ch.Auth
		code int
	}{
		"default": {ch.Auth{Username: "default"}, 0}, "another user": {ch.Auth{Username: "bob", Password: "x"}, 516}, "a password": {ch.Auth{Username: "default", Password: "x"}, 516},
	} {
		t.Run(name, func(t *testing.T) {
			err := dial(t, func(o *ch.Options) { o.Auth = c.auth }).Ping(t.Context())
			if chCode(err) != c.code {
				t.Errorf("error %v, want code %d", err, c.code)
			}
		})
	}
}
