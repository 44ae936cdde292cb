package clickhouse

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/internal/fetch"
)

// The library allows one engine in a process, so the tests share this server.
// Those that start and end one do it in another process.
var (
	shared  *Server
	library string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if library, err = fetch.Chdb(context.Background(), os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if dir := os.Getenv("SEXTANT_TEST_SERVE"); dir != "" {
			return serve(dir)
		}
		dir, err := os.MkdirTemp("", "clickhouse-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if shared, err = Start(context.Background(), Config{Dir: dir, Library: library, Concurrency: 16}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		http.DefaultClient.CloseIdleConnections()
		if err := shared.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := goleak.Find(); code == 0 && err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

// serve is the other process: a server until its standard input ends.
func serve(dir string) int {
	s, err := Start(context.Background(), Config{Dir: dir, Library: library, Drain: 200 * time.Millisecond})
	if err != nil {
		fmt.Println("err", err)
		return 1
	}
	fmt.Println("addr", s.Addr())
	io.Copy(io.Discard, os.Stdin)
	begun := time.Now()
	if err := s.Close(); err != nil {
		fmt.Println("err", err)
		return 1
	}
	fmt.Println("closed", time.Since(begun) < 5*time.Second)
	return 0
}

// process is a server in another process.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	addr string
}

func start(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "SEXTANT_TEST_SERVE="+dir)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.out.Scan()
	addr, ok := strings.CutPrefix(p.out.Text(), "addr ")
	if !ok {
		t.Fatalf("the server says %q", p.out.Text())
	}
	p.addr = addr
	return p
}

func (p *process) stop(t *testing.T) string {
	t.Helper()
	p.in.Close()
	p.out.Scan()
	said := p.out.Text()
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return said
}

// post sends one statement and gives the answer's text.
func post(t *testing.T, addr, query string) string {
	t.Helper()
	r, err := http.Post("http://"+addr+"/", "text/plain", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", query, r.StatusCode, err, b)
	}
	return string(b)
}

const createLog = "CREATE TABLE log (a UInt64) ENGINE = MergeTree ORDER BY a"

// An insert that was acknowledged is there after the process died at once.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	post(t, p.addr, "CREATE DATABASE kept")
	post(t, p.addr, strings.Replace(createLog, "log", "kept.log", 1))
	for i := range 20 {
		post(t, p.addr, fmt.Sprintf("INSERT INTO kept.log VALUES (%d)", i))
	}
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait()
	http.DefaultClient.CloseIdleConnections()

	again := start(t, dir)
	if got := post(t, again.addr, "SELECT count(), sum(a) FROM kept.log"); got != "20\t190\n" {
		t.Errorf("after the kill: %q", got)
	}
	if said := again.stop(t); said != "closed true" {
		t.Errorf("close: %q", said)
	}
}

// Close ends what does not end by itself, in bounded time.
func TestCloseWithWork(t *testing.T) {
	p := start(t, t.TempDir())
	post(t, p.addr, createLog)
	running := make(chan int, 1)
	go func() {
		r, err := http.Post("http://"+p.addr+"/?log_comment=longwork", "text/plain", strings.NewReader("SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1"))
		if err != nil {
			running <- 0
			return
		}
		r.Body.Close()
		running <- r.StatusCode
	}()
	for deadline := time.Now().Add(20 * time.Second); post(t, p.addr, "SELECT count() FROM system.processes WHERE Settings['log_comment'] LIKE 'longwork%'") != "1\n"; {
		if time.Now().After(deadline) {
			t.Fatal("the statement does not run")
		}
	}
	post(t, p.addr, "INSERT INTO log VALUES (1)")
	if said := p.stop(t); said != "closed true" {
		t.Errorf("close: %q", said)
	}
	if code := <-running; code == http.StatusOK {
		t.Error("the long statement ended well")
	}
}

func TestStartRefuses(t *testing.T) {
	taken := shared.Addr()
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"everything at once": {Config{Addr: "0.0.0.0:8123", Queue: -1}, "dir: is empty\nlibrary: is empty\naddr: 0.0.0.0:8123 is not a loopback address"},
		"a name":             {Config{Dir: "x", Library: library, Addr: "example.org:1"}, "is not a loopback address"},
		"port is taken":      {Config{Dir: t.TempDir(), Library: library, Addr: taken}, "address already in use"},
		"second engine":      {Config{Dir: t.TempDir(), Library: library}, "this process already runs an engine"},
		"other library":      {Config{Dir: t.TempDir(), Library: "/nowhere/libchdb.so"}, "already uses"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Start(t.Context(), c.cfg)
			if err == nil {
				s.Close()
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

// withServer serves another configuration of the front on the shared engine.
func withServer(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Dir, cfg.Library = "unused", "unused"
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, engine: shared.engine, version: shared.version, zone: shared.zone, slots: newSlots(cfg.Concurrency, cfg.Queue)}
	var err error
	if s.metrics, err = newMetrics(cfg.Registerer, s.slots); err != nil {
		t.Fatal(err)
	}
	return s
}

// table makes an empty table of these columns and gives its name.
func table(t *testing.T, columns string) string {
	t.Helper()
	name := "t_" + strings.ToLower(strings.NewReplacer("/", "_", "#", "_", "-", "_", " ", "_", ",", "_", "'", "", "(", "", ")", "", ".", "_", ":", "_").Replace(t.Name()))
	post(t, shared.Addr(), "CREATE TABLE `"+name+"` ("+columns+") ENGINE = MergeTree ORDER BY tuple()")
	t.Cleanup(func() { post(t, shared.Addr(), "DROP TABLE `"+name+"`") })
	return name
}

// form makes a URL query of names and values in turn.
func form(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v.Encode()
}
