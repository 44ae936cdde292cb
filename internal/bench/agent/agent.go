// Package agent measures what the node agent costs, beside agents of others that are built
// from their sources: the same pages, on the same machine, in one run.
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
	"slices"
	"strings"
	"time"
)

// Options of a run. The zero value is the default.
type Options struct {
	Module    string        // the module's directory; that of the working directory
	Workloads []Workload    // one node, and 50 of them
	Interval  time.Duration // of the scrapes, 10 s
	Warm      int           // intervals before the measurement, 2
	Intervals int           // intervals measured, 3; twice as many where all are measured at once
	Rounds    int           // how often all is measured; what is printed is the median, 1
	Gzip      bool          // the pages answer gzip to clients that ask for it, as promhttp does
	Only      []string      // parts of the names of contenders; all that are not extra
	Agent     string        // the agent's program; built from the module when empty
	CacheDir  string        // where programs are built, once; sextant in the user's cache directory
}

// Workload is what is scraped by each contender: the pages of so many nodes.
type Workload struct {
	Name     string
	Nodes    int
	Together bool // all contenders at once: each needs so little that none is in the way of another
}

// Workloads are an agent on its node, and one agent for a fleet.
func Workloads(nodes int) []Workload {
	return []Workload{{Name: "one node", Nodes: 1, Together: true}, {Name: fmt.Sprintf("%d nodes", nodes), Nodes: nodes}}
}

func (o Options) withDefaults(ctx context.Context) (Options, error) {
	set(&o.Interval, 10*time.Second)
	set(&o.Warm, 2)
	set(&o.Intervals, 3)
	set(&o.Rounds, 1)
	if len(o.Workloads) == 0 {
		o.Workloads = Workloads(50)
	}
	empty := slices.ContainsFunc(o.Workloads, func(w Workload) bool { return w.Nodes < 1 })
	if empty || o.Interval < time.Second || o.Warm < 1 || o.Intervals < 1 || o.Rounds < 1 {
		return o, errors.New("agent bench: nodes, rounds, warm and intervals have to be at least 1, the interval 1 s")
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

func set[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

// Run measures the contenders in each workload, with progress on w. A peer that cannot be built or
// does not run is named in the report, and costs nobody else's row.
func Run(ctx context.Context, o Options, w io.Writer) (Report, error) {
	o, err := o.withDefaults(ctx)
	if err != nil {
		return Report{}, err
	}
	b := &bench{Options: o, progress: w}
	ready, err := b.build(ctx)
	r := Report{Interval: o.Interval, Rounds: o.Rounds, Gzip: o.Gzip}
	for _, workload := range o.Workloads {
		if err != nil {
			break
		}
		var t Table
		t, err = b.workload(ctx, workload, ready)
		r.Tables = append(r.Tables, t)
	}
	r.Failed = b.failed
	if err != nil {
		return r, fmt.Errorf("agent bench: %w", err)
	}
	return r, nil
}

// quiet is for the parts that run in this process.
var quiet = slog.New(slog.DiscardHandler)
