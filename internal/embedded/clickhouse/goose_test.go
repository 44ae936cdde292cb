package clickhouse

import (
	"testing"
	"testing/fstest"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"
)

// Migrations run through database/sql.
func TestGoose(t *testing.T) {
	post(t, shared.Addr(), "CREATE DATABASE goosetest")
	t.Cleanup(func() { post(t, shared.Addr(), "DROP DATABASE goosetest") })
	db := ch.OpenDB(&ch.Options{Addr: []string{shared.Addr()}, Protocol: ch.HTTP, Auth: ch.Auth{Database: "goosetest"}})
	defer db.Close()
	files := fstest.MapFS{
		"1_first.sql": {Data: []byte("-- +goose Up\nCREATE TABLE a (x UInt64) ENGINE = MergeTree ORDER BY x;\n\nCREATE VIEW b AS SELECT sum(x) AS s FROM a;\n-- +goose Down\nDROP VIEW b;\nDROP TABLE a;\n")},
		"2_rows.sql":  {Data: []byte("-- +goose Up\nINSERT INTO a VALUES (1), (2);\n")},
	}
	p, err := goose.NewProvider(goose.DialectClickHouse, db, files)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := p.Up(t.Context()); err != nil || len(done) != 2 {
		t.Fatalf("%v, %v", done, err)
	}
	if again, err := p.Up(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("a second time: %v, %v", again, err)
	}
	var sum uint64
	if err := db.QueryRowContext(t.Context(), "SELECT s FROM b WHERE s > ?", 0).Scan(&sum); err != nil || sum != 3 {
		t.Errorf("sum %d, %v", sum, err)
	}
	if _, err := p.DownTo(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if got := post(t, shared.Addr(), "SELECT count() FROM system.tables WHERE database = 'goosetest' AND name IN ('a', 'b')"); got != "0\n" {
		t.Errorf("after the way down %q tables are left", got)
	}
}
