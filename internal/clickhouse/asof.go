package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"sextant/features"
	schema "sextant/schema/sql"
)

// maxTries is how often AsOf asks again when a row that it had chosen was replaced before
// its values were read.
const maxTries = 4

// AsOf answers asks about the features of v. A row is chosen by its keys and times alone,
// and then its values are read, so what is held in memory grows with the asks and not with
// the rows that pass by. The asks travel with the query, over both protocols: nothing is
// left behind in the store.
func (db *DB) AsOf(ctx context.Context, v *features.View, asks *features.Asks) (*features.Answers, error) {
	for try := 1; ; try++ {
		answers, err := db.asOfOnce(ctx, v, asks)
		if !errors.Is(err, errReplaced) || try == maxTries {
			return answers, err
		}
	}
}

// errReplaced says that the store changed between the two questions.
var errReplaced = errors.New("rows were replaced while they were read")

func (db *DB) asOfOnce(ctx context.Context, v *features.View, asks *features.Asks) (*features.Answers, error) {
	index := newAskIndex(v, asks)
	best, err := db.choose(ctx, v, asks.AsCorrected, index)
	if err != nil {
		return nil, fmt.Errorf("choose rows of %s: %w", v.Ref(), err)
	}
	answers, picks := index.answer(best)
	if err := db.fetch(ctx, v, asks.AsCorrected, answers.Rows, picks); err != nil {
		return nil, fmt.Errorf("read rows of %s: %w", v.Ref(), err)
	}
	return answers, nil
}

// asOfData is what the templates asof_*.sql see.
type asOfData struct {
	viewData
	Sources     []asOfSource
	AsCorrected bool
	From, To    int64 // unix ms, both inclusive
}

// asOfSource is a table with rows of a view. Of the rows of one tick that with the higher
// Order stands.
type asOfSource struct {
	Table string
	Order int64
}

// sourcesOf are the tables that are looked at. What was served is in the first alone.
func sourcesOf(v *features.View, asCorrected bool) []asOfSource {
	sources := []asOfSource{{Table: v.Table()}}
	if asCorrected {
		sources = append(sources, asOfSource{v.CorrectedTable(), int64(features.Repair)})
	}
	return sources
}

// choose finds the best new row of each distinct ask; the ask's place in the result is its
// id.
func (db *DB) choose(ctx context.Context, v *features.View, asCorrected bool, x *askIndex) ([]choice, error) {
	best := make([]choice, len(x.order))
	if len(best) == 0 {
		return best, nil
	}
	table, err := x.table()
	if err != nil {
		return nil, err
	}
	data := asOfData{viewData{names: db.names, v: v}, sourcesOf(v, asCorrected), asCorrected, x.first - v.Memory().Milliseconds(), x.last}
	err = db.askWith(ctx, "queries/asof_choose.sql", data, table, func(rows driver.Rows) error {
		var id uint32
		var c choice
		if err := rows.Scan(&id, &c.tick, &c.order, &c.known); err != nil {
			return err
		}
		c.found = true
		best[id] = c
		return nil
	})
	return best, err
}

// fetch fills the values of rows, whose keys and times are picks.
func (db *DB) fetch(ctx context.Context, v *features.View, asCorrected bool, rows *features.Rows, picks []choice) error {
	if len(picks) == 0 {
		return nil
	}
	table, err := picksTable(rows, picks)
	if err != nil {
		return err
	}
	var id uint32
	var flags uint16
	nums, strs := make([]float64, len(v.Features)), make([]string, len(v.Features))
	dest := []any{&id, &flags}
	for i := range v.Features {
		if rows.Cols[i].Str != nil {
			dest = append(dest, &strs[i])
		} else {
			dest = append(dest, &nums[i])
		}
	}
	read := 0
	err = db.askWith(ctx, "queries/asof_fetch.sql", asOfData{viewData: viewData{names: db.names, v: v}, Sources: sourcesOf(v, asCorrected)}, table, func(r driver.Rows) error {
		if err := r.Scan(dest...); err != nil {
			return err
		}
		read++
		rows.Flags[id] = flags
		for i := range rows.Cols {
			if c := &rows.Cols[i]; c.Str != nil {
				c.Str[id] = strs[i]
			} else {
				c.Num[id] = nums[i]
			}
		}
		return nil
	})
	if err == nil && read != len(picks) {
		return fmt.Errorf("%w: %d of %d are there", errReplaced, read, len(picks))
	}
	return err
}

// askWith runs a query of schema/sql with a table that travels with it.
func (db *DB) askWith(ctx context.Context, file string, data any, table *ext.Table, f func(driver.Rows) error) (err error) {
	text, err := renderFile(schema.Files, file, data)
	if err != nil {
		return err
	}
	rows, err := db.conn.Query(ch.Context(ctx, ch.WithExternalTable(table)), text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// picksTable is the table of the rows that were chosen.
func picksTable(rows *features.Rows, picks []choice) (*ext.Table, error) {
	order := make([]int64, len(picks))
	for i, c := range picks {
		order[i] = c.order
	}
	return externalTable("picks", rows.Keys, external{"t", rows.Tick}, external{"k", rows.Known}, external{"o", order})
}

// external is a column of numbers.
type external struct {
	name   string
	values []int64
}

// externalTable has the keys as k0, k1, …, the columns, and as id the number of the row.
func externalTable(name string, keys [][]string, columns ...external) (*ext.Table, error) {
	var defs []func(*ext.Table) error
	var values []any
	add := func(name, kind string, v any) {
		defs, values = append(defs, ext.Column(name, column.Type(kind))), append(values, v)
	}
	n := len(columns[0].values)
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("%d rows at once", n)
	}
	for i, k := range keys {
		add(fmt.Sprintf("k%d", i), "String", k)
	}
	for _, c := range columns {
		add(c.name, "Int64", c.values)
	}
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	add("id", "UInt32", ids)
	table, err := ext.NewTable(name, defs...)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if _, err := table.Block().Columns[i].Append(v); err != nil {
			return nil, err
		}
	}
	return table, nil
}
