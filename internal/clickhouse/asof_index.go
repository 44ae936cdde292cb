package clickhouse

import (
	"cmp"
	"math"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"sextant/features"
)

// choice is the identity of a row within an entity. Choices compare by its fields in their
// order.
type choice struct {
	tick, order, known int64
	found              bool
}

func (c choice) above(d choice) bool {
	if c.found != d.found {
		return c.found
	}
	return cmp.Or(cmp.Compare(c.tick, d.tick), cmp.Compare(c.order, d.order), cmp.Compare(c.known, d.known)) > 0
}

// askIndex is the distinct asks, those of an entity side by side and in the order of time.
// Many labels ask the same thing: a node at one moment is asked once for all its tasks.
type askIndex struct {
	view        *features.View
	asks        *features.Asks
	entity      []int32 // of each ask
	order       []int32 // distinct asks, each by one ask that is it
	id          []int32 // of each ask: its place in order
	first, last int64   // unix ms
}

func newAskIndex(v *features.View, asks *features.Asks) *askIndex {
	n := len(asks.At)
	x := &askIndex{view: v, asks: asks, entity: make([]int32, n), id: make([]int32, n), first: math.MaxInt64, last: math.MinInt64}
	entities := make(map[string]int32)
	var buf []byte
	for i := range n {
		buf = buf[:0]
		for _, k := range asks.Keys {
			buf = append(append(buf, k[i]...), 0xff) // which UTF-8 never holds
		}
		e, ok := entities[string(buf)]
		if !ok {
			e = int32(len(entities))
			entities[string(buf)] = e
		}
		x.entity[i] = e
		x.first, x.last = min(x.first, asks.At[i]), max(x.last, asks.At[i])
	}
	x.sort()
	return x
}

func (x *askIndex) sort() {
	all := make([]int32, len(x.entity))
	for i := range all {
		all[i] = int32(i)
	}
	at := x.asks.At
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.entity[a], x.entity[b]), cmp.Compare(at[a], at[b]))
	})
	for i, ask := range all {
		if i == 0 || x.entity[ask] != x.entity[all[i-1]] || at[ask] != at[all[i-1]] {
			x.order = append(x.order, ask)
		}
		x.id[ask] = int32(len(x.order) - 1)
	}
}

// table is the distinct asks as a table that travels with a query.
func (x *askIndex) table() (*ext.Table, error) {
	keys := make([][]string, len(x.asks.Keys))
	at := make([]int64, len(x.order))
	for k := range keys {
		keys[k] = make([]string, len(x.order))
	}
	for id, ask := range x.order {
		at[id] = x.asks.At[ask]
		for k := range keys {
			keys[k][id] = x.asks.Keys[k][ask]
		}
	}
	return externalTable("asks", keys, external{"at", at})
}

// answer turns the best new row of each distinct ask into the best row of every ask: what
// an entity's earlier ask saw, its later ones see too. Rows that nothing remembers are left
// out. The rows have no values yet; picks are their identities.
func (x *askIndex) answer(best []choice) (*features.Answers, []choice) {
	memory := x.view.Memory().Milliseconds()
	rows := &features.Rows{View: x.view, Keys: make([][]string, len(x.asks.Keys))}
	rowOf := make([]int32, len(x.order))
	var picks []choice
	var seen choice
	picked := int32(-1) // the entity of the last pick
	for id, ask := range x.order {
		switch {
		case id > 0 && x.entity[ask] != x.entity[x.order[id-1]], id == 0:
			seen = best[id]
		case best[id].above(seen):
			seen = best[id]
		}
		rowOf[id] = -1
		if !seen.found || x.asks.At[ask]-seen.tick > memory {
			continue
		}
		if x.entity[ask] != picked || picks[len(picks)-1] != seen {
			picks, picked = append(picks, seen), x.entity[ask]
			rows.Tick, rows.Known = append(rows.Tick, seen.tick), append(rows.Known, seen.known)
			for k := range rows.Keys {
				rows.Keys[k] = append(rows.Keys[k], x.asks.Keys[k][ask])
			}
		}
		rowOf[id] = int32(len(picks) - 1)
	}
	x.makeColumns(rows)
	answers := &features.Answers{Rows: rows, Row: make([]int32, len(x.id))}
	for i, id := range x.id {
		answers.Row[i] = rowOf[id]
	}
	return answers, picks
}

func (x *askIndex) makeColumns(rows *features.Rows) {
	n := len(rows.Tick)
	rows.Flags, rows.Cols = make([]uint16, n), make([]features.Column, len(x.view.Features))
	for i := range rows.Cols {
		if x.view.Features[i].DType == features.String {
			rows.Cols[i].Str = make([]string, n)
		} else {
			rows.Cols[i].Num = make([]float64, n)
		}
	}
}
