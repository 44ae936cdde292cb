// Package agent measures what the node agent costs, beside Prometheus in agent mode built
// from the same module: the same pages, in turn, on the same machine.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Options of a run. The zero value is the default.
type Options struct {
	Module    string        // the module's directory; that of the working directory
	Targets   int           // pages of 1,500 series, 50
	Interval  time.Duration // of the scrapes, 10 s
	Warm      int           // intervals before the measurement, 3
	Intervals int           // intervals measured, 6
	Gzip      bool          // the pages answer gzip to clients that ask for it, as promhttp does
	Only      []string      // names of contenders, all of them
	Agent     string        // the agent's program; built from the module when empty
	CacheDir  string        // where Prometheus is built, once; sextant in the user's cache directory
}

func (o Options) withDefaults(ctx context.Context) (Options, error) {
	if o.Targets == 0 {
		o.Targets = 50
	}
	if o.Interval == 0 {
		o.Interval = 10 * time.Second
	}
	if o.Warm == 0 {
		o.Warm = 3
	}
	if o.Intervals == 0 {
		o.Intervals = 6
	}
	if o.Targets < 1 || o.Interval < time.Second || o.Warm < 1 || o.Intervals < 1 {
		return o, errors.New("agent bench: targets, warm and intervals have to be at least 1, the interval 1 s")
	}
	if o.Module == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
		if dir := filepath.Dir(strings.TrimSpace(string(out))); err != nil || dir == "." || dir == "/dev" {
			return o, fmt.Errorf("agent bench: run it inside the module's source, it builds the agent from there (go env GOMOD: %w)", err)
		} else {
			o.Module = dir
		}
	}
	if o.CacheDir == "" {
		if o.CacheDir = os.Getenv("SEXTANT_CACHE"); o.CacheDir == "" {
			dir, err := os.UserCacheDir()
			if err != nil {
				return o, fmt.Errorf("agent bench: cache directory: %w", err)
			}
			o.CacheDir = filepath.Join(dir, "sextant")
		}
	}
	return o, nil
}

// contender is a program that scrapes the targets, and where it sends them.
type contender struct {
	name   string
	sends  bool
	binary func(ctx context.Context, o Options, progress io.Writer) (string, error)
	// start makes what it sends to and returns its arguments. dir is its own.
	start func(ctx context.Context, dir string, targets []string, o Options) (*sink, []string, error)
}

// sink is the other end of a contender.
type sink struct {
	delivered func() (samples, bytes int64, err error) // since its start; the samples of the targets' pages and the agent's own
	close     func() error
}

var contenders = []contender{
	{"sextant-agent, scrape and spool", false, buildAgent, startAgentAlone},
	{"sextant-agent, to Kafka", true, buildAgent, startAgentKafka},
	{"prometheus agent, scrape and WAL", false, buildPrometheus, startPrometheusAlone},
	{"prometheus agent, remote write 1", true, buildPrometheus, startPrometheusWrite("prometheus.WriteRequest")},
	{"prometheus agent, remote write 2", true, buildPrometheus, startPrometheusWrite("io.prometheus.write.v2.Request")},
}

// Run measures each contender in turn and prints a table to w, with progress before it.
func Run(ctx context.Context, o Options, w io.Writer) (Report, error) {
	o, err := o.withDefaults(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Targets: o.Targets, Series: pageSeries, Interval: o.Interval, Intervals: o.Intervals, Gzip: o.Gzip}
	for _, c := range contenders {
		if !wanted(c.name, o.Only) {
			continue
		}
		row, err := measure(ctx, c, o, w)
		if err != nil {
			return r, fmt.Errorf("agent bench: %s: %w", c.name, err)
		}
		r.Rows = append(r.Rows, row)
	}
	return r, r.Print(w)
}

func wanted(name string, only []string) bool {
	for _, o := range only {
		if strings.Contains(name, o) {
			return true
		}
	}
	return len(only) == 0
}

// measure runs one contender over whole intervals, so that each target is scraped equally
// often in what is measured.
func measure(ctx context.Context, c contender, o Options, w io.Writer) (row Row, err error) {
	binary, err := c.binary(ctx, o, w)
	if err != nil {
		return row, err
	}
	dir, err := os.MkdirTemp("", "sextant-bench-agent-")
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	pages, err := servePages(o.Targets, o.Gzip)
	if err != nil {
		return row, err
	}
	defer pages.close()
	to, args, err := c.start(ctx, dir, pages.addrs(), o)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	p, err := startProcess(binary, args, dir)
	if err != nil {
		return row, err
	}
	defer p.stop()

	total := time.Duration(o.Warm+o.Intervals) * o.Interval
	fmt.Fprintf(w, "%s: %d targets, %s\n", c.name, o.Targets, total)
	if err := p.wait(ctx, time.Duration(o.Warm)*o.Interval); err != nil {
		return row, err
	}
	row = Row{Name: c.name, Sends: c.sends}
	cpu, scraped := p.cpu(), pages.samples.Load()
	samples, bytes, err := to.delivered()
	if err != nil {
		return row, err
	}
	if err := p.wait(ctx, time.Duration(o.Intervals)*o.Interval); err != nil {
		return row, err
	}
	row.CPUSeconds, row.Scraped = p.cpu()-cpu, pages.samples.Load()-scraped
	row.RSS, row.Anon, row.Peak = p.memory(o.Intervals * int(o.Interval/time.Second))
	afterSamples, afterBytes, err := to.delivered()
	row.Delivered, row.Bytes = afterSamples-samples, afterBytes-bytes
	if want := int64(o.Targets * o.Intervals * pageSeries); err == nil && row.Scraped < want*95/100 {
		err = fmt.Errorf("scraped %d samples in %d intervals, want about %d: %s", row.Scraped, o.Intervals, want, p.tail())
	}
	return row, err
}

// quiet is for the parts that run in this process.
var quiet = slog.New(slog.DiscardHandler)
