// Package spool measures the agent's queue on disk, on scrapes of 1,500 series.
package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"sextant/collectors/spool"
	"sextant/schema/wire"
)

// Options of a run. The zero value is the default.
type Options struct {
	Dir     string // where the spools are made and removed again; the system's folder for temporary files
	Entries int    // scrapes in each row, 2,000
}

// series of a scrape.
const series = 1500

const (
	fresh = 50      // scrapes that come in when the spool is opened after the outage
	taken = 1 << 20 // bytes that are asked for at a time
)

// Row is one measured operation over all entries.
type Row struct {
	Name    string
	Entries int
	Bytes   int64 // of the payloads, as they were before compression
	Took    time.Duration
}

// Order is what came out of a spool that was opened again after an outage, when new scrapes came in.
type Order struct {
	Fresh, Backlog int // entries
	FreshBehind    int // fresh entries that came out behind one of the backlog
	Reversed       int // entries that came out behind a younger one of their kind
	Missing        int // entries that did not come out
}

// Report is what Run measured.
type Report struct {
	Rows   []Row
	Order  Order
	OnDisk int64 // bytes of the spool's files, for the payloads of one row
}

// Run measures each operation in a spool of its own.
func Run(ctx context.Context, o Options) (r Report, err error) {
	if o.Entries == 0 {
		o.Entries = 2000
	}
	if o.Entries < 1 {
		return r, fmt.Errorf("spool bench: %d entries, want at least 1", o.Entries)
	}
	dir, err := os.MkdirTemp(o.Dir, "sextant-bench-spool-")
	if err != nil {
		return r, fmt.Errorf("spool bench: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	pages := scrapes(16)
	for _, policy := range []spool.Sync{spool.SyncNone, spool.SyncInterval, spool.SyncAlways} {
		row, err := appendAll(ctx, filepath.Join(dir, string(policy)), policy, pages, o.Entries)
		if err != nil {
			return r, fmt.Errorf("spool bench: %w", err)
		}
		r.Rows = append(r.Rows, row)
	}
	held := filepath.Join(dir, string(spool.SyncInterval))
	if r.OnDisk, err = size(held); err != nil {
		return r, err
	}
	rows, order, err := recovery(ctx, held, pages, o.Entries)
	r.Rows, r.Order = append(r.Rows, rows...), order
	if err != nil {
		err = fmt.Errorf("spool bench: %w", err)
	}
	return r, err
}

// open opens a spool that holds all of the run.
func open(dir string, policy spool.Sync) (*spool.Spool, error) {
	return spool.Open(dir, spool.Options{MaxBytes: 64 << 30, SegmentBytes: 8 << 20, Sync: policy, Fresh: time.Hour, Logger: slog.New(slog.DiscardHandler)})
}

func entry(pages [][]byte, n int) spool.Entry {
	return spool.Entry{Node: "node-17", Target: "node/node-17.example.com:9100", Scrape: start + 10_000*int64(n), Payload: pages[n%len(pages)]}
}

// appendAll keeps all entries, and closes the spool, which syncs the last of them.
func appendAll(ctx context.Context, dir string, policy spool.Sync, pages [][]byte, entries int) (row Row, err error) {
	s, err := open(dir, policy)
	if err != nil {
		return row, err
	}
	row = Row{Name: "append, sync: " + string(policy), Entries: entries}
	begin := time.Now()
	for n := 0; n < entries && ctx.Err() == nil; n++ {
		e := entry(pages, n)
		if _, err := s.Append(e); err != nil {
			return row, errors.Join(err, s.Close())
		}
		row.Bytes += int64(len(e.Payload))
	}
	err = s.Close()
	row.Took = time.Since(begin)
	return row, errors.Join(err, ctx.Err())
}

// recovery opens a spool with a backlog, lets new scrapes in, and takes everything as the shipper does. Without
// an fsync, which the new ones would have to wait for, the order is the shipper's alone.
func recovery(ctx context.Context, dir string, pages [][]byte, backlog int) (rows []Row, order Order, err error) {
	begin := time.Now()
	s, err := open(dir, spool.SyncNone)
	if err != nil {
		return nil, order, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rows = []Row{{Name: "open after an outage", Entries: backlog, Took: time.Since(begin)}}
	for n := range fresh {
		if _, err := s.Append(entry(pages, backlog+n)); err != nil {
			return rows, order, err
		}
	}
	order = Order{Fresh: fresh, Backlog: backlog}
	read := Row{Name: "take and acknowledge", Entries: backlog + fresh}
	begin = time.Now()
	var out []int64
	for len(out) < backlog+fresh && ctx.Err() == nil {
		items, err := next(s)
		if err != nil {
			return rows, order, err
		}
		if len(items) == 0 {
			break
		}
		for _, it := range items {
			out = append(out, (it.Scrape-start)/10_000)
			read.Bytes += int64(len(it.Payload))
		}
		s.Ack(items...)
	}
	read.Took = time.Since(begin)
	order.judge(out)
	return append(rows, read), order, ctx.Err()
}

// next is the shipper's choice: what is fresh, and the backlog when nothing is.
func next(s *spool.Spool) ([]spool.Item, error) {
	items, err := s.TakeFresh(taken)
	if err != nil || len(items) > 0 {
		return items, err
	}
	return s.TakeBacklog(taken)
}

// judge reads what came out, as numbers of the entries.
func (o *Order) judge(out []int64) {
	newest, old := map[bool]int64{true: -1, false: -1}, false
	for _, n := range out {
		isFresh := n >= int64(o.Backlog)
		if isFresh && old {
			o.FreshBehind++
		}
		if n < newest[isFresh] {
			o.Reversed++
		}
		newest[isFresh] = max(newest[isFresh], n)
		old = old || !isFresh
	}
	o.Missing = o.Fresh + o.Backlog - len(out)
}

func size(dir string) (n int64, err error) {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return n, err
		}
		n += info.Size()
	}
	return n, err
}

// start is the time of the first scrape, unix ms.
const start = 1_796_083_200_000

// scrapes are requests of a node_exporter page with changing values.
func scrapes(n int) (out [][]byte) {
	rnd := rand.New(rand.NewPCG(3, 4))
	defs, values := make([]wire.SeriesDef, series), make([]float64, series)
	for i := range defs {
		family := i / 10
		defs[i] = wire.SeriesDef{
			Labels: []wire.Label{
				{Name: "__name__", Value: fmt.Sprintf("node_family_%d_seconds_total", family)}, {Name: "cpu", Value: fmt.Sprint(i % 10)},
				{Name: "instance", Value: "node-17.example.com:9100"}, {Name: "job", Value: "node"},
			},
			Type: wire.TypeCounter, Unit: "seconds", Help: fmt.Sprintf("What family %d counts, in a sentence of usual length.", family),
		}
		values[i] = float64(rnd.IntN(1e9)) / 100
	}
	tmpl := wire.NewTemplate(defs)
	for k := range n {
		for i := range values {
			values[i] += float64(rnd.IntN(1000)) / 100
		}
		out = append(out, tmpl.AppendAt(nil, start+10_000*int64(k), values))
	}
	return out
}

// Print writes the table. MB are of the payloads, 10⁶ bytes.
func (r Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "\nspool: scrapes of %d series, %.1f bytes a sample on disk\n\n", series, float64(r.OnDisk)/float64(r.Order.Backlog)/series)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "MB/s\tscrapes/s\tns/sample\tms\t\n")
	for _, row := range r.Rows {
		s := row.Took.Seconds()
		speed := "-"
		if row.Bytes > 0 {
			speed = fmt.Sprintf("%.0f", float64(row.Bytes)/1e6/s)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.1f\t%d\t  %s\n", speed, float64(row.Entries)/s, float64(row.Took.Nanoseconds())/float64(row.Entries)/series, row.Took.Milliseconds(), row.Name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	o := r.Order
	_, err := fmt.Fprintf(w, "\norder after an outage: %d fresh entries, %d of them behind the backlog; %d of the backlog; %d out of order, %d missing\n",
		o.Fresh, o.FreshBehind, o.Backlog, o.Reversed, o.Missing)
	return err
}
