// Package serving measures the feature API under load, beside Feast's own Python feature server
// over the same rows on the same machine.
package serving

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"sextant/internal/bench/child"
	"sextant/internal/bench/store"
)

// Options of a run. A zero value is the default.
type Options struct {
	Entities int           // in the view that both serve; 10,000
	Nodes    int           // of the cluster that is asked for whole; 100,000
	Duration time.Duration // of each load; 5 s
	Clients  int           // connections, each with one request at a time; 1
	Feast    bool          // beside Feast, in the virtual environment of scripts/feast.sh
}

func (o Options) withDefaults() Options {
	set(&o.Entities, 10_000)
	set(&o.Nodes, 100_000)
	set(&o.Duration, 5*time.Second)
	set(&o.Clients, 1)
	return o
}

func set[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// sizes are the entities of a request; each asks for all features of the view.
var sizes = []int{1, 100, 1000}

// snapshotSpan is how long the whole cluster is asked for, at least: over two ticks, so that versions
// which nobody has built yet are among the answers.
const snapshotSpan = 22 * time.Second

// Row is one load on one program.
type Row struct {
	Program  string
	Entities int
	Width    int
	Load
	CPU   time.Duration // of the server, with its workers
	Fault string        // why there is no figure
}

// perThousand is the CPU time of a thousand requests.
func (r Row) perThousand() time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	return r.CPU * 1000 / time.Duration(len(r.Took))
}

// Result is a run.
type Result struct {
	Options
	Rows []Row
	Busy string // the machine's load average at the start
}

// Run fills a store, serves it and loads the servers one after the other.
func Run(ctx context.Context, o Options, progress io.Writer) (*Result, error) {
	o = o.withDefaults()
	dir, err := os.MkdirTemp("", "sextant-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{Options: o, dir: dir, tick: time.Now().UTC().Truncate(10 * time.Second), progress: progress}
	r := &Result{Options: o, Busy: loadAverage()}
	if err := b.open(ctx); err != nil {
		return nil, err
	}
	defer b.store.Stop()
	if r.Rows, err = b.sextant(ctx); err != nil {
		return nil, err
	}
	if !o.Feast {
		return r, nil
	}
	for _, online := range []string{sqlite, redis} {
		rows, err := b.feast(ctx, online)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			rows = []Row{{Program: "feast " + online, Fault: "not run: " + oneLine(err)}}
		}
		r.Rows = append(r.Rows, rows...)
	}
	return r, nil
}

// bench is a store with rows.
type bench struct {
	Options
	dir      string
	store    *store.Store
	tick     time.Time // of all rows
	progress io.Writer
	answers  map[int][]byte // of Sextant over HTTP, by entities, to compare with Feast's
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "serving: "+format+"\n", args...)
}

// sextant serves the store with sextant serve, and loads it.
func (b *bench) sextant(ctx context.Context) ([]Row, error) {
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	server, err := child.Start(ctx, b.dir, "serve", "", append(slices.Clone(b.store.Env), "SEXTANT_SERVE_LISTEN="+addr), "serve")
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	if err := await(ctx, "http://"+addr+"/readyz", 2*time.Minute, server); err != nil {
		return nil, err
	}
	b.answers = map[int][]byte{}
	var rows []Row
	for _, n := range sizes {
		b.say("sextant, %d × %d over HTTP and gRPC", n, width)
		bodies := requests(n, b.Entities, jsonRequest)
		if b.answers[n], err = post(ctx, "http://"+addr+"/get-online-features", bodies[0]); err != nil {
			return nil, err
		}
		row, err := b.measure(ctx, server, Row{Program: "sextant HTTP", Entities: n, Width: width}, httpLoad("http://"+addr+"/get-online-features", bodies), b.Duration)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		ask, done, err := grpcLoad(addr, requests(n, b.Entities, protoRequest))
		if err != nil {
			return nil, err
		}
		row, err = b.measure(ctx, server, Row{Program: "sextant gRPC", Entities: n, Width: width}, ask, b.Duration)
		if err = errorsOf(err, done()); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	url := "http://" + addr + "/v1/snapshot?service=bench_cluster"
	b.say("sextant, the whole cluster of %d × %d", b.Nodes, clusterWidth)
	if err := await(ctx, url, time.Minute, server); err != nil {
		return nil, err
	}
	row, err := b.measure(ctx, server, Row{Program: "sextant snapshot (Arrow)", Entities: b.Nodes, Width: clusterWidth}, getLoad(url), max(b.Duration, snapshotSpan))
	return append(rows, row), err
}

// measure loads a server and takes its CPU time.
func (b *bench) measure(ctx context.Context, server *child.Process, row Row, ask asker, span time.Duration) (Row, error) {
	if _, err := load(ctx, ask, b.Clients, min(span/10, time.Second)); err != nil { // warm
		return row, err
	}
	before := server.CPUOfAll()
	var err error
	row.Load, err = load(ctx, ask, b.Clients, span)
	row.CPU = server.CPUOfAll() - before
	return row, err
}

// await polls until a server answers 200.
func await(ctx context.Context, url string, within time.Duration, server *child.Process) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := server.Failed(); err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer 200 within %v: %s", url, within, server.Tail())
		}
	}
}
