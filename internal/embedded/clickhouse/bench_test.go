package clickhouse

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
)

// block is n rows of samples as a Native block: 24 bytes a row.
func block(b *testing.B, n int) []byte {
	b.Helper()
	series, value := make(proto.ColUInt64, n), make(proto.ColFloat64, n)
	at := new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli)
	for i := range n {
		series[i], value[i] = uint64(i/64), float64(i%1000)
		at.AppendRaw(proto.DateTime64(1_800_000_000_000 + int64(i%64)*10_000))
	}
	var buf proto.Buffer
	bl := proto.Block{Info: proto.BlockInfo{BucketNum: -1}, Columns: 3, Rows: n}
	if err := bl.EncodeBlock(&buf, 0, []proto.InputColumn{{Name: "series", Data: series}, {Name: "ts", Data: at}, {Name: "value", Data: value}}); err != nil {
		b.Fatal(err)
	}
	return buf.Buf
}

// BenchmarkInsert is 256 Ki rows an insert: straight into the engine, through the
// front, and through the front with LZ4 frames; into a Null table, where the way
// there is most of it, and into a MergeTree.
func BenchmarkInsert(b *testing.B) {
	const rows = 1 << 18
	body := block(b, rows)
	w := compress.NewWriter(compress.LevelZero, compress.LZ4)
	if err := w.Compress(body); err != nil {
		b.Fatal(err)
	}
	const create = "(series UInt64, ts DateTime64(3, 'UTC'), value Float64) ENGINE = "
	for _, engine := range []string{"Null", "MergeTree ORDER BY (series, ts)"} {
		for _, way := range []struct {
			name string
			body []byte
			send func(b *testing.B, table string, body []byte)
		}{
			{"direct", body, direct}, {"http", body, through("")}, {"http-lz4", w.Data, through("decompress=1&")},
		} {
			b.Run(engine[:4]+"/"+way.name, func(b *testing.B) {
				table := "bench_insert"
				conn, err := shared.engine.Connect()
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				for _, q := range []string{"DROP TABLE IF EXISTS " + table + " SYNC", "CREATE TABLE " + table + " " + create + engine} {
					if err := conn.Exec(context.Background(), q); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					way.send(b, table, way.body)
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
				if err := conn.Exec(context.Background(), "DROP TABLE "+table+" SYNC"); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func direct(b *testing.B, table string, body []byte) {
	conn, err := shared.engine.Connect()
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	in, err := conn.Insert(context.Background(), "INSERT INTO "+table, "Native")
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	in.Append(body)
	if _, err := in.Done(); err != nil {
		b.Fatal(err)
	}
}

func through(params string) func(*testing.B, string, []byte) {
	return func(b *testing.B, table string, body []byte) {
		r, err := http.Post("http://"+shared.Addr()+"/?"+params+form("query", "INSERT INTO "+table+" FORMAT Native"), "", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			b.Fatal(r.Status)
		}
	}
}

// BenchmarkSelect is the cost of a small statement: straight, and through the front.
func BenchmarkSelect(b *testing.B) {
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			conn, err := shared.engine.Connect()
			if err != nil {
				b.Fatal(err)
			}
			r, err := conn.Query(context.Background(), "SELECT 1", "Native")
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
			conn.Close()
		}
	})
	b.Run("http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.Get("http://" + shared.Addr() + "/?" + form("query", "SELECT 1", "default_format", "Native"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fmt.Fscan(r.Body, new(string)); err != nil {
				b.Fatal(err)
			}
			r.Body.Close()
		}
	})
}
