// Package fresh measures how old a feature is when it can first be read: a fleet sends its
// scrapes in real time through broker, pipeline and store, and the feature API is asked
// until each new row is there.
package fresh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"sextant/internal/bench/child"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// Options of a run. The zero value is the default.
type Options struct {
	Nodes int // of the fleet, 200
	Ticks int // of 10 s, 6
}

// Result holds the ages that were seen, sorted.
type Result struct {
	Nodes  int
	Scrape []time.Duration // from a node's last scrape before the tick until the row can be read
	Tick   []time.Duration // from the tick until the row can be read
}

const feature = "node_monitoring:load_per_core_1m"

// Run starts the line as processes, sends for a while, and stops it.
func Run(ctx context.Context, o Options, progress io.Writer) (Result, error) {
	if o.Nodes == 0 {
		o.Nodes = 200
	}
	if o.Ticks == 0 {
		o.Ticks = 6
	}
	dir, err := os.MkdirTemp("", "sextant-bench-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	var addr [3]string // broker, store, api
	for i := range addr {
		if addr[i], err = child.FreeAddr(); err != nil {
			return Result{}, err
		}
	}
	env := []string{"SEXTANT_KAFKA_BROKERS=" + addr[0], "SEXTANT_CLICKHOUSE_ADDR=" + addr[1], "SEXTANT_CLICKHOUSE_PROTOCOL=http",
		"SEXTANT_PIPELINE_LISTEN=", "SEXTANT_SERVE_LISTEN=" + addr[2]}
	for _, p := range [][]string{
		{"embedded", "ready", "embedded", "--dir", filepath.Join(dir, "data"), "--kafka", addr[0], "--clickhouse", addr[1]},
		{"migrate", "", "migrate"}, {"pipeline", "", "pipeline"}, {"serve", "", "serve"},
	} {
		part, err := child.Start(ctx, dir, p[0], p[1], env, p[2:]...)
		if err != nil {
			return Result{}, err
		}
		defer part.Stop()
		if p[0] == "migrate" {
			if err := part.Wait(); err != nil {
				return Result{}, err
			}
		}
	}
	fmt.Fprintf(progress, "freshness: %d nodes in real time for %d s\n", o.Nodes, (o.Ticks+2)*10)
	return measure(ctx, o, addr[0], "http://"+addr[2]+"/get-online-features")
}

func measure(ctx context.Context, o Options, broker, url string) (Result, error) {
	const interval = fleet.Interval * time.Millisecond
	base := time.Now().Add(interval).Truncate(interval)
	f := fleet.NewAt(o.Nodes, 1, base.UnixMilli())
	r := Result{Nodes: o.Nodes}
	ctx, cancel := context.WithDeadline(ctx, base.Add(time.Duration(o.Ticks+2)*interval))
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return send(ctx, f, o, broker) })
	g.Go(func() error { return r.watch(ctx, f, o.Nodes, url, base) })
	if err := g.Wait(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return r, err
	}
	if len(r.Tick) == 0 {
		return r, errors.New("no feature was served")
	}
	slices.Sort(r.Scrape)
	slices.Sort(r.Tick)
	return r, nil
}

// send sends each record at the time of its scrape.
func send(ctx context.Context, f *fleet.Fleet, o Options, broker string) error {
	p, err := kafka.NewProducer(kafka.Config{Brokers: []string{broker}}, kafka.ProducerOptions{Topic: topics.Samples})
	if err != nil {
		return err
	}
	defer p.Close()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	sent := make([]int, o.Nodes) // ticks sent of each node
	for {
		now := time.Now().UnixMilli()
		var due []kafka.Message
		for i := range sent {
			if sent[i] < o.Ticks+2 && f.Scrape(i, sent[i]) <= now {
				r := f.Record(i, sent[i], 0)
				due = append(due, kafka.Message{Key: r.Key, Value: r.Value, Headers: r.Headers})
				sent[i]++
			}
		}
		if len(due) > 0 {
			if err := errors.Join(p.Send(ctx, due)...); err != nil {
				return err
			}
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch asks for all nodes and notes when each has a new row.
func (r *Result) watch(ctx context.Context, f *fleet.Fleet, nodes int, url string, base time.Time) error {
	names := make([]string, nodes)
	for i := range names {
		names[i] = f.Name(i)
	}
	body, err := json.Marshal(map[string]any{"features": []string{feature}, "entities": map[string]any{"node": names}})
	if err != nil {
		return err
	}
	seen := make([]time.Time, nodes)
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		ticks, at, err := ask(ctx, url, body)
		if err != nil {
			continue // the API may not listen yet
		}
		for i, tick := range ticks {
			// The first tick of a node may have been half over before it was there.
			if !tick.After(seen[i]) || !tick.After(base.Add(fleet.Interval*time.Millisecond)) {
				continue
			}
			seen[i] = tick
			k := int(tick.Sub(base) / (fleet.Interval * time.Millisecond))
			last := time.UnixMilli(f.Scrape(i, k-1))
			r.Tick, r.Scrape = append(r.Tick, at.Sub(tick)), append(r.Scrape, at.Sub(last))
		}
	}
}

// ask returns the time of each node's row, zero without one, and when the answer came.
func ask(ctx context.Context, url string, body []byte) ([]time.Time, time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, time.Time{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer resp.Body.Close()
	var a struct {
		Results []struct {
			Times []time.Time `json:"event_timestamps"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || len(a.Results) != 2 {
		return nil, time.Time{}, fmt.Errorf("answer %s with %d columns: %w", resp.Status, len(a.Results), err)
	}
	return a.Results[1].Times, time.Now(), nil
}

// Print writes the table.
func (r Result) Print(w io.Writer) error {
	fmt.Fprintf(w, "\nfreshness: %d nodes, 10 s ticks, 5 s lateness, %d rows\n\n", r.Nodes, len(r.Tick))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "median s\tp99 s\tmax s\t\n")
	for _, row := range []struct {
		name string
		ages []time.Duration
	}{{"scrape to servable", r.Scrape}, {"tick to servable", r.Tick}} {
		at := func(q float64) float64 { return row.ages[int(q*float64(len(row.ages)-1))].Seconds() }
		fmt.Fprintf(t, "%.2f\t%.2f\t%.2f\t  %s\n", at(0.5), at(0.99), at(1), row.name)
	}
	return t.Flush()
}
