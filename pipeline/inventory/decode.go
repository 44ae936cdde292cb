package inventory

import (
	"fmt"
	"strings"

	schema "sextant/schema/inventory"
	"sextant/schema/wire"
)

// Decode reads one record. Every error is permanent. The row holds nothing of the record.
func Decode(r *wire.Record) (Row, error) {
	row := Row{Partition: r.Partition, Offset: r.Offset, Ingest: r.Ingest, Node: string(r.Key)}
	if row.Node == "" || len(row.Node) > schema.MaxNode || strings.ContainsFunc(row.Node, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return Row{}, fmt.Errorf("key %.64q is no node name", row.Node)
	}
	if len(r.Value) == 0 {
		return row, nil
	}
	d, err := schema.Decode(r.Value)
	if err != nil {
		return Row{}, err
	}
	if d.Node != row.Node {
		return Row{}, fmt.Errorf("document of node %q under the key %q", d.Node, row.Node)
	}
	row.Document, row.Text = d, string(r.Value)
	return row, nil
}
