package clickhouse

import (
	"fmt"
	"strings"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
)

// table is one that we insert into. Its columns, in this order, are what the appenders
// of append.go fill.
type table struct {
	name    string
	columns []ch.ColumnNameAndType
}

func columns(nameType ...string) []ch.ColumnNameAndType {
	out := make([]ch.ColumnNameAndType, 0, len(nameType)/2)
	for i := 0; i < len(nameType); i += 2 {
		out = append(out, ch.ColumnNameAndType{Name: nameType[i], Type: nameType[i+1]})
	}
	return out
}

const timestamp = "DateTime64(3, 'UTC')"

var samplesTable = &table{"samples", columns(
	"series", "UInt64", "ts", timestamp, "value", "Float64", "flags", "UInt16")}

var seriesTable = &table{"series", columns(
	"id", "UInt64", "node", "String", "name", "String", "labels", "Map(String, String)",
	"kind", "String", "unit", "String", "source", "String", "first_seen", timestamp, "unknown_of", "String")}

var ledgerTable = &table{"ingest_ledger", columns(
	"agent", "String", "seq", "UInt64", "partition", "Int32", "offset", "Int64",
	"node", "String", "target", "String", "oldest", "UInt64", "dropped", "UInt64",
	"scrape", timestamp, "ingest", timestamp,
	"rows", "UInt32", "late", "UInt32", "duplicates", "UInt32", "state", "UInt8")}

var deadTable = &table{"dead_letters", columns(
	"topic", "String", "partition", "Int32", "offset", "Int64", "ingest", timestamp,
	"reason", "String", "key", "String", "headers", "Array(Tuple(String, String))", "value", "String")}

// origins is the type of the column origin.
var origins = fmt.Sprintf("Enum8('%v' = %d, '%v' = %d, '%v' = %d)", features.Live, features.Live,
	features.Backfill, features.Backfill, features.Repair, features.Repair)

// tableOf is the name of the table that rows of an origin lie in.
func tableOf(v *features.View, o features.Origin) string {
	if o == features.Repair {
		return v.CorrectedTable()
	}
	return v.Table()
}

// viewTable is a table of a feature view: keys, tick, known, flags, origin, features.
func viewTable(v *features.View, o features.Origin) *table {
	var c []string
	for _, k := range v.Keys {
		c = append(c, k, "String")
	}
	c = append(c, "tick", timestamp, "known", timestamp, "flags", "UInt16", "origin", origins)
	for i := range v.Features {
		c = append(c, v.Features[i].Name, "Nullable("+baseType(v.Features[i].DType)+")")
	}
	return &table{tableOf(v, o), columns(c...)}
}

func baseType(d features.DType) string {
	switch d {
	case features.Float32:
		return "Float32"
	case features.Float64:
		return "Float64"
	case features.Int64:
		return "Int64"
	case features.String:
		return "String"
	case features.Bool:
		return "Bool"
	}
	panic("BUG: feature type without a column type")
}

// insert is the statement that begins a batch.
func (t *table) insert(n names) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + n.Table(t.name) + " (")
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ident(c.Name))
	}
	b.WriteString(")")
	return b.String()
}
