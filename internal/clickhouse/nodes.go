package clickhouse

import (
	"context"
	"fmt"
	"time"

	"sextant/pipeline/nodes"
	schema "sextant/schema/nodes"
)

var nodeRecordsTable = &table{"node_records", columns(
	"cluster", "String", "node", "String", "since", timestamp, "collected", timestamp, "ingest", timestamp, "removed", "UInt8", "hash", "String",
	"uid", "String", "created", "Nullable("+timestamp+")", "provider_id", "String", "region", "String", "zone", "String", "rack", "String",
	"ready", "UInt8", "ready_since", "Nullable("+timestamp+")", "trouble", "Array(String)", "unschedulable", "UInt8", "taints", "Array(String)",
	"labels", "Map(String, String)", "annotations", "Map(String, String)", "capacity", "Map(String, String)", "allocatable", "Map(String, String)",
	"capacity_amounts", "Map(String, Float64)", "allocatable_amounts", "Map(String, Float64)",
	"condition_types", "Array(String)", "condition_statuses", "Array(String)", "condition_reasons", "Array(String)", "addresses", "Array(String)",
	"kubelet", "String", "runtime", "String", "os_image", "String", "kernel", "String", "os", "String", "arch", "String", "boot_id", "String", "document", "String")}

// NodeSink stores what Kubernetes says of nodes. It is a nodes.Sink, safe for concurrent
// use.
type NodeSink struct {
	db     *DB
	outage outage
}

// NewNodeSink returns a sink. It has nothing to close.
func (db *DB) NewNodeSink() *NodeSink {
	return &NodeSink{db: db, outage: outage{log: db.log}}
}

// WriteNodes makes rows durable. While the server is away it tries again until ctx is
// done.
func (s *NodeSink) WriteNodes(ctx context.Context, rows []nodes.Row) error {
	if len(rows) == 0 {
		return nil
	}
	h := newHasher()
	for i := range rows {
		h.nums(int64(rows[i].Partition), rows[i].Offset, rows[i].Ingest)
		h.strs(rows[i].Cluster, rows[i].Node, rows[i].Text)
	}
	t := nodeRecordsTable
	step := step{table: t, rows: len(rows), bytes: h.bytes, token: token(t.name, fmt.Sprintf("nodes %d documents", len(rows)), h.sum()),
		append: func(w *columnWriter) { appendNodes(w, rows) }}
	if err := s.db.insertUntil(ctx, &step, &s.outage); err != nil {
		return fmt.Errorf("%d rows to %s: %w", step.rows, t.name, err)
	}
	return nil
}

// nodeOf is the row's document, or of a node that was deleted the time and nothing else.
func nodeOf(r *nodes.Row) *schema.Node {
	if r.Document == nil {
		return &schema.Node{Cluster: r.Cluster, Node: r.Node, Since: r.Ingest, Collected: r.Ingest}
	}
	return r.Document
}

func appendNodes(w *columnWriter, rows []nodes.Row) {
	text := func(get func(*schema.Node) string) {
		w.add(collect(rows, func(r *nodes.Row) string { return get(nodeOf(r)) }))
	}
	texts := func(get func(*schema.Node) []string) {
		w.add(collect(rows, func(r *nodes.Row) []string { return get(nodeOf(r)) }))
	}
	flag := func(get func(*schema.Node) bool) {
		w.add(collect(rows, func(r *nodes.Row) uint8 { return bit(get(nodeOf(r))) }))
	}
	moment := func(get func(*schema.Node) int64) {
		w.add(collect(rows, func(r *nodes.Row) *time.Time { return momentOf(get(nodeOf(r))) }))
	}
	labels := func(get func(*schema.Node) map[string]string) {
		w.add(collect(rows, func(r *nodes.Row) any { return sorted(get(nodeOf(r))) }))
	}
	amounts := func(get func(*schema.Node) map[string]string) {
		w.add(collect(rows, func(r *nodes.Row) any { return newAmounts(schema.Amounts(get(nodeOf(r)))) }))
	}
	conditions := func(get func(*schema.Condition) string) {
		texts(func(n *schema.Node) []string { return collect(n.Conditions, get) })
	}
	text(func(n *schema.Node) string { return n.Cluster })
	text(func(n *schema.Node) string { return n.Node })
	w.add(collect(rows, func(r *nodes.Row) int64 { return nodeOf(r).Since }))
	w.add(collect(rows, func(r *nodes.Row) int64 { return nodeOf(r).Collected }))
	w.add(collect(rows, func(r *nodes.Row) int64 { return r.Ingest }))
	w.add(collect(rows, func(r *nodes.Row) uint8 { return bit(r.Document == nil) }))
	text(func(n *schema.Node) string { return n.Hash })
	text(func(n *schema.Node) string { return n.UID })
	moment(func(n *schema.Node) int64 { return n.Created })
	text(func(n *schema.Node) string { return n.Provider })
	text(func(n *schema.Node) string { return n.Region })
	text(func(n *schema.Node) string { return n.Zone })
	text(func(n *schema.Node) string { return n.Rack })
	flag(func(n *schema.Node) bool { return readyOf(n).Status == "True" })
	moment(func(n *schema.Node) int64 { return readyOf(n).Since })
	texts((*schema.Node).Trouble)
	flag(func(n *schema.Node) bool { return n.Unschedulable })
	texts(func(n *schema.Node) []string {
		return collect(n.Taints, func(t *schema.Taint) string { return t.Key + "=" + t.Value + ":" + t.Effect })
	})
	labels(func(n *schema.Node) map[string]string { return n.Labels })
	labels(func(n *schema.Node) map[string]string { return n.Annotations })
	labels(func(n *schema.Node) map[string]string { return n.Capacity })
	labels(func(n *schema.Node) map[string]string { return n.Allocatable })
	amounts(func(n *schema.Node) map[string]string { return n.Capacity })
	amounts(func(n *schema.Node) map[string]string { return n.Allocatable })
	conditions(func(c *schema.Condition) string { return c.Type })
	conditions(func(c *schema.Condition) string { return c.Status })
	conditions(func(c *schema.Condition) string { return c.Reason })
	texts(func(n *schema.Node) []string {
		return collect(n.Addresses, func(a *schema.Address) string { return a.Type + "=" + a.Address })
	})
	text(func(n *schema.Node) string { return n.Kubelet })
	text(func(n *schema.Node) string { return n.Runtime })
	text(func(n *schema.Node) string { return n.OSImage })
	text(func(n *schema.Node) string { return n.Kernel })
	text(func(n *schema.Node) string { return n.OS })
	text(func(n *schema.Node) string { return n.Arch })
	text(func(n *schema.Node) string { return n.BootID })
	w.add(collect(rows, func(r *nodes.Row) string { return r.Text }))
}

func readyOf(n *schema.Node) schema.Condition {
	if c := n.Condition(schema.Ready); c != nil {
		return *c
	}
	return schema.Condition{}
}

// momentOf is a point in time, or NULL where it is not known.
func momentOf(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	at := time.UnixMilli(ms).UTC()
	return &at
}
