package training_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"sextant/features"
	"sextant/internal/clickhouse"
	embedded "sextant/internal/embedded/clickhouse"
	"sextant/internal/fetch"
	"sextant/pipeline"
)

var engine struct {
	server *embedded.Server
	dir    string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if engine.server != nil {
		if err := errors.Join(engine.server.Close(), os.RemoveAll(engine.dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// openStore opens an empty store of the real engine with these views.
func openStore(t testing.TB, database string, views ...*features.View) *clickhouse.DB {
	t.Helper()
	if engine.server == nil {
		lib, err := fetch.Chdb(context.Background(), os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		if engine.dir, err = os.MkdirTemp("", "sextant-training"); err != nil {
			t.Fatal(err)
		}
		if engine.server, err = embedded.Start(context.Background(), embedded.Config{Dir: engine.dir, Library: lib}); err != nil {
			t.Fatal(err)
		}
	}
	c := clickhouse.DefaultConfig()
	c.Addr, c.Protocol, c.Database = []string{engine.server.Addr()}, "http", database
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := clickhouse.Open(ctx, c, slog.New(slog.NewTextHandler(t.Output(), nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(db.Migrate(ctx), db.ApplyViews(ctx, views)); err != nil {
		t.Fatal(err)
	}
	return db
}

// write stores rows in their order, each by an insert of its own: later ones replace earlier
// ones of the same entity, tick and known time.
func write(t testing.TB, db *clickhouse.DB, rows ...*features.Rows) {
	t.Helper()
	c := clickhouse.DefaultSinkConfig()
	c.MaxDelay = time.Millisecond
	s, err := db.NewSink(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if err := s.Write(context.Background(), &pipeline.Batch{Topic: "test", First: int64(i), Last: int64(i), Rows: []*features.Rows{r}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
