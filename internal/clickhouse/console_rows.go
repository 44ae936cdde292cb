package clickhouse

import (
	"context"
	"strconv"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"sextant/dashboards/console"
	"sextant/schema/wire"
)

// scanInto appends each row to a list, which is never null in JSON.
func scanInto[T any](list *[]T, scan func(driver.Rows, *T) error) func(driver.Rows) error {
	*list = []T{}
	return func(rows driver.Rows) error {
		var row T
		if err := scan(rows, &row); err != nil {
			return err
		}
		*list = append(*list, row)
		return nil
	}
}

func scanDevice(rows driver.Rows, d *console.Device) error {
	return rows.Scan(&d.UID, &d.ID, &d.Vendor, &d.Kind, &d.Model, &d.Generation, &d.Firmware, &d.Driver, &d.PCI, &d.NUMA,
		&d.MemoryBytes, &d.PowerLimit, &d.LinkWidth, &d.LinkMax, &d.Partition, &d.MIG, &d.Sharing, &d.Slices, &d.Simulated)
}

func scanPort(rows driver.Rows, p *console.Port) error {
	return rows.Scan(&p.Name, &p.Kind, &p.Model, &p.DPU, &p.Speed, &p.Up)
}

func scanTarget(rows driver.Rows, t *console.Target) error {
	var state uint8
	if err := rows.Scan(&t.Target, &t.Last, &t.Samples, &state, &t.Records, &t.Failed, &t.Late); err != nil {
		return err
	}
	t.State = wire.State(state).String()
	return nil
}

func scanFlag(rows driver.Rows, f *console.Flag) error {
	return rows.Scan(&f.Flag, &f.UID, &f.Metric, &f.Target, &f.First, &f.Last, &f.Scrapes, &f.InForce)
}

func scanFault(rows driver.Rows, f *console.Fault) error {
	return rows.Scan(&f.Time, &f.Device, &f.Kind, &f.Code, &f.Count)
}

func scanChange(rows driver.Rows, c *console.Change) error {
	return rows.Scan(&c.Time, &c.Fact, &c.Before, &c.After)
}

// ConsoleTasks implements console.Reader.
func (db *DB) ConsoleTasks(ctx context.Context, q console.TaskQuery) ([]console.Task, error) {
	var out []console.Task
	ctx = ch.Context(ctx, ch.WithParameters(ch.Parameters{
		"from": parameterTime(q.From.UnixMilli()), "to": parameterTime(q.To.UnixMilli()), "state": q.State, "tenant": q.Tenant,
		"queue": q.Queue, "node": q.Node, "limit": strconv.Itoa(q.Limit),
	}))
	err := db.consoleEach(ctx, "tasks", scanInto(&out, scanConsoleTask))
	return out, err
}

func scanConsoleTask(rows driver.Rows, t *console.Task) error {
	var kinds []string
	var times []time.Time
	var promised, measured []float64
	if err := rows.Scan(&t.Cluster, &t.Task, &t.Name, &t.Kind, &t.Type, &t.State, &t.Tenant, &t.Queue, &t.Node, &t.Devices, &t.Priority,
		&t.Accelerators, &t.CPUCores, &t.MemoryBytes, &t.Begun, &t.WaitingFrom, &t.Scheduled, &t.Started, &t.Evicted, &t.Changed, &t.Ended,
		&t.Deadline, &t.MaxQueue, &t.Evictions, &t.Reason, &t.Simulated, &kinds, &times, &promised, &measured); err != nil {
		return err
	}
	t.Breaks = make([]console.Break, len(kinds))
	for i := range kinds {
		t.Breaks[i] = console.Break{Kind: kinds[i], Time: times[i], Promised: promised[i], Measured: measured[i]}
	}
	return nil
}

// ConsoleLine implements console.Reader.
func (db *DB) ConsoleLine(ctx context.Context) (*console.Line, error) {
	l := &console.Line{At: time.Now().UTC(), Window: console.Window.Seconds()}
	c := &l.Collectors
	for _, q := range []struct {
		file string
		scan func(driver.Rows) error
	}{
		{"flow", scanInto(&l.Flow, scanFlow)},
		{"collectors", func(rows driver.Rows) error {
			return rows.Scan(&c.Nodes, &c.Agents, &c.Targets, &c.Records, &c.Partial, &c.Failed, &c.Newest, &c.Stored)
		}},
		{"partitions", scanInto(&l.Partitions, scanPartition)},
		{"dead", scanInto(&l.Dead, func(rows driver.Rows, d *console.Dead) error {
			return rows.Scan(&d.Topic, &d.Reason, &d.Records, &d.Last)
		})},
		{"tables", scanInto(&l.Tables, func(rows driver.Rows, t *console.Table) error { return rows.Scan(&t.Table, &t.Rows, &t.Bytes) })},
	} {
		if err := db.consoleEach(ctx, q.file, q.scan); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func scanFlow(rows driver.Rows, f *console.Flow) error {
	return rows.Scan(&f.Time, &f.Records, &f.Samples, &f.Late, &f.Repeated, &f.TransportP50, &f.TransportP99, &f.StorageP50, &f.StorageP99)
}

func scanPartition(rows driver.Rows, p *console.Partition) error {
	return rows.Scan(&p.Partition, &p.Offset, &p.Records, &p.Appended, &p.Lag)
}
