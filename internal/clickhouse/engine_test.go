package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	embedded "sextant/internal/embedded/clickhouse"
	"sextant/internal/fetch"
)

// engine is the embedded ClickHouse that the tests of this package share: a process can
// have one.
var engine struct {
	sync.Mutex
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
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// engineAddr starts the engine when the first test needs it.
func engineAddr(t testing.TB) string {
	t.Helper()
	engine.Lock()
	defer engine.Unlock()
	if engine.server == nil {
		lib, err := fetch.Chdb(context.Background(), os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := os.MkdirTemp("", "sextant-clickhouse")
		if err != nil {
			t.Fatal(err)
		}
		// Not t's context: the engine outlives the test.
		s, err := embedded.Start(context.Background(), embedded.Config{Dir: dir, Library: lib})
		if err != nil {
			t.Fatal(err)
		}
		engine.server, engine.dir = s, dir
	}
	return engine.server.Addr()
}

func testConfig(t testing.TB) Config {
	c := DefaultConfig()
	c.Addr, c.Protocol = []string{engineAddr(t)}, "http"
	c.Database = "t_" + identifierOf(t.Name())
	return c
}

func identifierOf(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			b[i] = '_'
		}
	}
	return string(b)
}

// openDB opens an empty, migrated database of the engine, named for the test.
func openDB(t testing.TB, change ...func(*Config)) *DB {
	t.Helper()
	c := testConfig(t)
	for _, f := range change {
		f(&c)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := Open(ctx, c, slog.New(slog.NewTextHandler(t.Output(), nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Exec(context.Background(), "DROP DATABASE IF EXISTS {db} SYNC"); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Exec(ctx, "DROP DATABASE IF EXISTS {db} SYNC"); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	return db
}

func newLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
