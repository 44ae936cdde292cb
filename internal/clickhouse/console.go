package clickhouse

import (
	"context"
	"fmt"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"sextant/dashboards/console"
	schema "sextant/schema/sql"
	"sextant/schema/wire"
)

// consoleData is what the console's queries are filled with.
type consoleData struct {
	accounts
	Failed, Partial uint8 // states of a scrape
	Seconds         int   // that the line tells of
}

// Database is the name, for system tables.
func (d consoleData) Database() string { return d.database }

func (db *DB) consoleSQL(file string) (string, error) {
	return renderFile(schema.Files, "queries/console_"+file+".sql", consoleData{accounts: db.accounts(),
		Failed: uint8(wire.StateFailed), Partial: uint8(wire.StatePartial), Seconds: int(console.Window / time.Second)})
}

// consoleEach runs a query of the console and hands each row to scan.
func (db *DB) consoleEach(ctx context.Context, file string, scan func(driver.Rows) error, args ...any) error {
	text, err := db.consoleSQL(file)
	if err != nil {
		return err
	}
	rows, err := db.conn.Query(bounded(ctx), text, args...)
	if err != nil {
		return fmt.Errorf("read %s for the console: %w", file, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read %s for the console: %w", file, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s for the console: %w", file, err)
	}
	return nil
}

// bounded lets the server end a query when its caller's deadline is over.
func bounded(ctx context.Context) context.Context {
	at, ok := ctx.Deadline()
	if !ok {
		return ctx
	}
	return ch.Context(ctx, ch.WithSettings(ch.Settings{"max_execution_time": max(1, int(time.Until(at).Seconds())), "max_threads": 2}))
}

// ConsoleNodes implements console.Reader.
func (db *DB) ConsoleNodes(ctx context.Context, limit int) ([]console.Node, error) {
	return db.consoleNodes(ctx, "", limit)
}

func (db *DB) consoleNodes(ctx context.Context, name string, limit int) ([]console.Node, error) {
	var out []console.Node
	err := db.consoleEach(ctx, "nodes", func(rows driver.Rows) error {
		out = append(out, console.Node{})
		p := &out[len(out)-1]
		return rows.Scan(&p.Node, &p.Simulated, &p.Cordoned, &p.Region, &p.Zone, &p.Rack, &p.Switch, &p.Group, &p.Vendor, &p.Model,
			&p.Accelerators, &p.Threads, &p.MemoryBytes)
	}, name, name, uint64(limit))
	return out, err
}

// ConsoleNode implements console.Reader. The questions are asked at once.
func (db *DB) ConsoleNode(ctx context.Context, name string) (*console.NodeDetail, error) {
	d := &console.NodeDetail{}
	known := false
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(3)
	g.Go(func() error {
		list, err := db.consoleNodes(ctx, name, 1)
		if err != nil || len(list) == 0 {
			return err
		}
		known, d.Node = true, list[0]
		return db.consoleEach(ctx, "node", func(rows driver.Rows) error {
			return rows.Scan(&d.Arch, &d.Kernel, &d.OS, &d.Maker, &d.Product, &d.Hypervisor, &d.CPUModel, &d.Sockets, &d.Cores, &d.NUMANodes,
				&d.Taints, &d.Labels, &d.Unread, &d.Collected, &d.Facts)
		}, name)
	})
	for _, q := range []struct {
		file string
		scan func(driver.Rows) error
		args []any
	}{
		{"devices", scanInto(&d.Devices, scanDevice), []any{name}},
		{"ports", scanInto(&d.Ports, scanPort), []any{name}},
		{"targets", scanInto(&d.Targets, scanTarget), []any{name, name}},
		{"flags", scanInto(&d.Flags, scanFlag), []any{name, name}},
		{"faults", scanInto(&d.Faults, scanFault), []any{name, name}},
		{"changes", scanInto(&d.Changes, scanChange), []any{name}},
	} {
		g.Go(func() error { return db.consoleEach(ctx, q.file, q.scan, q.args...) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if !known && len(d.Targets) == 0 {
		return nil, console.ErrUnknown
	}
	d.Node.Node = name
	return d, nil
}
