package chdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/internal/fetch"
)

func TestMain(m *testing.M) {
	path, err := fetch.Chdb(context.Background(), os.Stderr)
	if err == nil {
		err = Load(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if dir := os.Getenv("CHDB_TEST_OPEN"); dir != "" { // the other process of TestLockedByAnotherProcess
		_, err := Open(dir)
		fmt.Println(err)
		os.Exit(0)
	}
	if dir := os.Getenv("CHDB_TEST_CHURN"); dir != "" { // the other process of TestQuiet
		if err := churn(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, dir string) *Engine {
	t.Helper()
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func connect(t *testing.T, e *Engine, settings ...Setting) *Conn {
	t.Helper()
	c, err := e.Connect(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func get(t *testing.T, c *Conn, query string, params ...Param) string {
	t.Helper()
	r, err := c.Query(t.Context(), query, "TabSeparated", params...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	return string(r.Bytes())
}

func code(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestQuery(t *testing.T) {
	c := connect(t, open(t, t.TempDir()))
	if got := get(t, c, "SELECT 1, 'a'"); got != "1\ta\n" {
		t.Errorf("got %q", got)
	}
	// Text with a NUL byte is text.
	if got := get(t, c, "SELECT length('a\x00b')"); got != "3\n" {
		t.Errorf("got %q", got)
	}
	for query, want := range map[string]int{
		"SELECT nope": 47, "SELECT * FROM nope": 60, "SELEC 1": 62, "SELECT throwIf(1)": 395,
	} {
		_, err := c.Query(t.Context(), query, "TabSeparated")
		if code(err) != want {
			t.Errorf("%q: %v, want code %d", query, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "(version") {
			t.Errorf("%q: the text names the version: %v", query, err)
		}
	}
	// A failed statement does not spoil the session.
	if got := get(t, c, "SELECT 2"); got != "2\n" {
		t.Errorf("got %q", got)
	}
}

func TestParamsAreValues(t *testing.T) {
	c := connect(t, open(t, t.TempDir()))
	nasty := `'; DROP TABLE x; -- {b:String} \\ "`
	if got := get(t, c, "SELECT {a:String} = {b:String}, {n:Nullable(UInt8)} IS NULL, {l:Array(UInt8)}",
		Param{"a", nasty}, Param{"b", nasty}, Param{"n", `\N`}, Param{"l", "[1,2]"}); got != "1\t1\t[1,2]\n" {
		t.Errorf("got %q", got)
	}
	if _, err := c.Query(t.Context(), "SELECT {n:UInt8}", "TabSeparated", Param{"n", "1, 2"}); code(err) != 457 {
		t.Errorf("not a number: %v", err)
	}
	if _, err := c.Query(t.Context(), "SELECT {n:UInt8}", "TabSeparated"); code(err) != 456 {
		t.Errorf("a parameter of an earlier statement is still there: %v", err)
	}
}

func TestSettingsAreTheSessions(t *testing.T) {
	e := open(t, t.TempDir())
	a := connect(t, e, Setting{"max_threads", "1"}, Setting{"log_comment", "it's mine"})
	b := connect(t, e)
	if got := get(t, a, "SELECT getSetting('max_threads'), startsWith(getSetting('log_comment'), 'it\\'s mine ')"); got != "1\t1\n" {
		t.Errorf("a: %q", got)
	}
	if got := get(t, b, "SELECT getSetting('log_comment') LIKE 'it%'"); got != "0\n" {
		t.Errorf("b: %q", got)
	}
	for _, s := range []Setting{{"nope", "1"}, {"max_threads = 1, max_threads", "1"}, {"max_threads", "many"}, {"", ""}} {
		if c, err := e.Connect(s); code(err) == 0 {
			t.Errorf("%v: %v", s, err)
			c.Close()
		}
	}
	if _, err := e.Connect(Setting{"nope", "1"}); code(err) != 115 {
		t.Errorf("unknown setting: %v", err)
	}
}

func TestStream(t *testing.T) {
	c := connect(t, open(t, t.TempDir()))
	s, err := c.Stream(t.Context(), "SELECT number FROM numbers({n:UInt64}) SETTINGS max_block_size = 1000", "RowBinary", Param{"n", "100000"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	blocks, size := 0, 0
	for {
		b, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		blocks++
		size += len(b)
	}
	if blocks < 100 || size != 800_000 || s.Stats().ResultRows != 100_000 {
		t.Errorf("%d blocks, %d bytes, %+v", blocks, size, s.Stats())
	}
	if b, err := s.Next(t.Context()); b != nil || err != nil {
		t.Errorf("behind the end: %q, %v", b, err)
	}
}

func TestStreamFailsInTheMiddle(t *testing.T) {
	c := connect(t, open(t, t.TempDir()))
	s, err := c.Stream(t.Context(), "SELECT throwIf(number = 50) FROM numbers(100) SETTINGS max_block_size = 1", "TabSeparated")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		_, err = s.Next(t.Context())
	}
	if code(err) != 395 || n < 2 {
		t.Errorf("after %d blocks: %v", n, err)
	}
	s.Close()
	if got := get(t, c, "SELECT 1"); got != "1\n" {
		t.Errorf("the session is spoilt: %q", got)
	}
	// Left in the middle.
	s, err = c.Stream(t.Context(), "SELECT number FROM numbers(1000000000)", "TabSeparated")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := get(t, c, "SELECT 1"); got != "1\n" {
		t.Errorf("the session is spoilt: %q", got)
	}
}

func TestStreamRefuses(t *testing.T) {
	c := connect(t, open(t, t.TempDir()))
	for _, query := range []string{"CREATE TABLE t (a UInt8) ENGINE = Memory", "SHOW TABLES", "SET max_threads = 1"} {
		_, err := c.Stream(t.Context(), query, "TabSeparated")
		var e *Error
		if !errors.As(err, &e) || !e.NotStreamable() {
			t.Errorf("%s: %v", query, err)
		}
	}
	if got := get(t, c, "EXISTS TABLE t"); got != "0\n" {
		t.Errorf("a refused statement ran: %q", got)
	}
	if _, err := c.Stream(t.Context(), "SELECT 1; SELECT 2", "TabSeparated"); code(err) != 62 {
		t.Errorf("two statements: %v", err)
	}
}

func TestInsert(t *testing.T) {
	c := connect(t, open(t, t.TempDir()))
	get(t, c, "CREATE TABLE t (a UInt64, b String DEFAULT 'x') ENGINE = MergeTree ORDER BY a")
	var data bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&data, "%d\n", i)
	}
	in, err := c.Insert(t.Context(), "INSERT INTO t (a)", "CSV")
	if err != nil {
		t.Fatal(err)
	}
	for b := data.Bytes(); len(b) > 0; b = b[min(len(b), 777):] { // rows are cut anywhere
		if !in.Append(b[:min(len(b), 777)]) {
			break
		}
	}
	stats, err := in.Done()
	in.Close()
	if err != nil || stats.WrittenRows != 100_000 {
		t.Errorf("%+v, %v", stats, err)
	}
	if got := get(t, c, "SELECT count(), sum(a), uniq(b) FROM t"); got != "100000\t4999950000\t1\n" {
		t.Errorf("got %q", got)
	}

	// Refused at the start, failed by the data, and given up: nothing is stored.
	if _, err := c.Insert(t.Context(), "INSERT INTO nope", "CSV"); code(err) != 60 {
		t.Errorf("unknown table: %v", err)
	}
	in, err = c.Insert(t.Context(), "INSERT INTO t (a)", "CSV")
	if err != nil {
		t.Fatal(err)
	}
	in.Append([]byte("1\nx\n"))
	if _, err := in.Done(); code(err) == 0 || code(err) == CodeUnknown {
		t.Errorf("bad data: %v", err)
	}
	in.Close()
	in, err = c.Insert(t.Context(), "INSERT INTO t (a)", "CSV")
	if err != nil {
		t.Fatal(err)
	}
	in.Append([]byte("1\n2\n"))
	in.Close()
	if got := get(t, c, "SELECT count() FROM t"); got != "100000\n" {
		t.Errorf("got %q", got)
	}
}

func TestCancel(t *testing.T) {
	e := open(t, t.TempDir())
	for name, run := range map[string]func(context.Context, *Conn) error{
		"query": func(ctx context.Context, c *Conn) error {
			_, err := c.Query(ctx, "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1", "Null")
			return err
		},
		"stream": func(ctx context.Context, c *Conn) error {
			s, err := c.Stream(ctx, "SELECT number FROM numbers(1000000000000) WHERE sipHash64(number) = 1", "TabSeparated")
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.Next(ctx)
			return err
		},
		"sleep": func(ctx context.Context, c *Conn) error {
			_, err := c.Query(ctx, "SELECT sleepEachRow(1) FROM numbers(100) SETTINGS max_block_size = 1", "Null")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, e)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			begun := time.Now()
			if err := run(ctx, c); code(err) != CodeCancelled {
				t.Errorf("error %v", err)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if got := get(t, c, "SELECT 1"); got != "1\n" {
				t.Errorf("the session is spoilt: %q", got)
			}
		})
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	e := open(t, t.TempDir())
	get(t, connect(t, e), "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 10 {
				c, err := e.Connect()
				if err != nil {
					t.Error(err)
					return
				}
				if err := c.Exec(t.Context(), "INSERT INTO t SELECT {n:UInt64}", Param{"n", fmt.Sprint(w*10 + i)}); err != nil {
					t.Error(err)
				}
				c.Close()
			}
		})
	}
	wg.Wait()
	if got := get(t, connect(t, e), "SELECT count(), sum(a) FROM t"); got != "160\t12720\n" {
		t.Errorf("got %q", got)
	}
}

func TestOneEngineAndItsData(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		e, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.TempDir()); !errors.Is(err, ErrBusy) {
			t.Errorf("a second engine: %v", err)
		}
		c, err := e.Connect()
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err == nil {
			t.Error("closed under an open connection")
		}
		get(t, c, "CREATE TABLE IF NOT EXISTS t (a UInt64) ENGINE = MergeTree ORDER BY a")
		get(t, c, "INSERT INTO t VALUES (1)")
		if got, want := get(t, c, "SELECT count() FROM t"), fmt.Sprintf("%d\n", i+1); got != want {
			t.Errorf("after %d starts: %q rows, want %q", i+1, got, want)
		}
		c.Close()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Connect(); err == nil {
			t.Error("a closed engine gave a connection")
		}
	}
}

func TestLockedByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CHDB_TEST_OPEN="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("open %s: in use by process %d (%s is locked)\n", dir, os.Getpid(), filepath.Join(dir, "sextant.lock"))
	if string(out) != want {
		t.Errorf("the other process says %q, want %q", out, want)
	}
}

func TestLoad(t *testing.T) {
	if err := Load("/nowhere/libchdb.so"); err == nil || !strings.Contains(err.Error(), "already uses") {
		t.Errorf("another library: %v", err)
	}
}

func FuzzParseError(f *testing.F) {
	f.Add("Code: 60. DB::Exception: no. (UNKNOWN_TABLE) (version 26.7.2.1)")
	f.Add("Streaming insert failed")
	f.Add("Code: 99999999999999999999. x")
	f.Fuzz(func(t *testing.T, text string) {
		e := parseError(text)
		if e.Code <= 0 && !strings.HasPrefix(text, "Code: 0") || !strings.HasPrefix(e.Text, "Code: ") {
			t.Errorf("%+v", e)
		}
	})
}
