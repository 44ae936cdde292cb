package clickhouse

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/internal/report"
	schema "sextant/schema/sql"
)

// Limits of one question of a report.
const (
	reportSeconds = 120
	reportMemory  = 4 << 30 // bytes, in the store
	reportRows    = 100_000
)

var _ report.Store = (*DB)(nil)

// reportData is what the queries report_*.sql are filled with. Dimensions come from the
// questions, values as parameters.
type reportData struct {
	names
	q report.Query
}

// expression of a dimension.
func expression(dimension string) string {
	if dimension == "day" {
		return "toDate(u.hour)"
	}
	return "u." + ident(dimension)
}

// Groups is the columns that it is grouped by, to stand before others.
func (d reportData) Groups() string {
	var out strings.Builder
	for _, g := range d.q.GroupBy {
		fmt.Fprintf(&out, "%s AS %s, ", expression(g), ident(g))
	}
	return out.String()
}

// GroupBy is the clause of that name.
func (d reportData) GroupBy() string {
	var out []string
	for _, g := range d.q.GroupBy {
		out = append(out, expression(g))
	}
	return "GROUP BY " + strings.Join(out, ", ")
}

// Tie orders rows that are alike, so that two runs print the same.
func (d reportData) Tie() string { return ", " + identList(d.q.GroupBy) }

// Where keeps the rows that all filters let through.
func (d reportData) Where() string {
	var out []string
	for i, f := range d.q.Where {
		var params []string
		for j := range f.Values {
			params = append(params, fmt.Sprintf("{w%d_%d:String}", i, j))
		}
		out = append(out, "toString("+expression(f.Dimension)+") IN ("+strings.Join(params, ", ")+")")
	}
	if len(out) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(out, " AND ")
}

// Limit is the clause of that name.
func (d reportData) Limit() string { return fmt.Sprintf("LIMIT %d", d.q.Top) }

// escaped is a value as the server reads a parameter.
var escaped = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

// ReportSQL is the statement of a question, with its parameters.
func (db *DB) ReportSQL(q report.Query) (string, ch.Parameters, error) {
	text, err := renderFile(schema.Files, "queries/report_"+q.Name+".sql", reportData{db.names, q})
	if err != nil {
		return "", nil, err
	}
	params := ch.Parameters{"from": parameterTime(q.From.UnixMilli()), "to": parameterTime(q.To.UnixMilli())}
	for i, f := range q.Where {
		for j, v := range f.Values {
			params[fmt.Sprintf("w%d_%d", i, j)] = escaped.Replace(v)
		}
	}
	return text, params, nil
}

// Ask implements report.Store.
func (db *DB) Ask(ctx context.Context, q report.Query) (*report.Answer, error) {
	text, params, err := db.ReportSQL(q)
	if err != nil {
		return nil, err
	}
	settings := ch.Settings{"max_execution_time": reportSeconds, "max_memory_usage": int64(reportMemory), "max_result_rows": reportRows}
	if db.cfg.Cluster != "" {
		settings["distributed_product_mode"] = "global"
	}
	rows, err := db.conn.Query(ch.Context(ctx, ch.WithSettings(settings), ch.WithParameters(params)), text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &report.Answer{Columns: rows.Columns()}
	types := rows.ColumnTypes()
	for rows.Next() {
		cells := make([]any, len(types))
		for i, t := range types {
			cells[i] = reflect.New(t.ScanType()).Interface()
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		for i := range cells {
			cells[i] = plain(reflect.ValueOf(cells[i]).Elem())
		}
		out.Rows = append(out.Rows, cells)
	}
	return out, rows.Err()
}

// plain is a cell as a report has it; NULL, and a number that is none, is nil.
func plain(v reflect.Value) any {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int64(v.Uint())
	case reflect.Bool:
		if v.Bool() {
			return int64(1)
		}
		return int64(0)
	case reflect.String:
		return v.String()
	}
	if at, ok := v.Interface().(time.Time); ok {
		return at.UTC()
	}
	return fmt.Sprint(v.Interface())
}

// Currency implements report.Store.
func (db *DB) Currency(ctx context.Context) (string, error) {
	var currency string
	if err := db.conn.QueryRow(ctx, "SELECT max(currency) FROM "+db.names.Table("prices")).Scan(&currency); err != nil {
		return "", fmt.Errorf("read prices: %w", err)
	}
	return currency, nil
}
