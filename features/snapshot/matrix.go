package snapshot

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"sextant/features"
	"sextant/features/api/feastpb/feast/serving"
)

// fieldStatus is Feast's number of each status.
var fieldStatus = [...]uint8{
	features.Present:       uint8(serving.FieldStatus_PRESENT),
	features.NullValue:     uint8(serving.FieldStatus_NULL_VALUE),
	features.NotFound:      uint8(serving.FieldStatus_NOT_FOUND),
	features.OutsideMaxAge: uint8(serving.FieldStatus_OUTSIDE_MAX_AGE),
}

// matrix is a service at one moment. It is its own flat file: values, statuses and ages are
// parts of it. It never changes once it is built.
type matrix struct {
	plan   *plan
	ents   *entities
	header header
	file   []byte
	values []float32 // row by row, len(plan.columns) each; NaN where there is none
	status []uint8   // likewise, Feast's FieldStatus
	ages   []float32 // row by row, len(plan.views) each: seconds, NaN where the view has no row
}

// header is the JSON header of a matrix.
type header struct {
	Kind           string          `json:"kind"`
	Version        int64           `json:"version"`           // unix ms
	Tick           int64           `json:"tick"`              // unix ms, the same
	Known          int64           `json:"known"`             // unix ms, Moment.At
	Since          int64           `json:"since,omitempty"`   // of a change: the version that it changes
	Added          int             `json:"added,omitempty"`   // likewise: rows that are new
	Removed        int             `json:"removed,omitempty"` // likewise: entities that are gone
	Service        string          `json:"service"`
	ServiceVersion int             `json:"service_version"`
	Keys           []string        `json:"join_keys"`
	Features       []headerFeature `json:"features"`
	Views          []headerView    `json:"views"`
	Rows           int             `json:"rows"`
	Dims           int             `json:"dims"`
	Offsets        *offsets        `json:"offsets,omitempty"`  // of a flat file alone
	Sections       []section       `json:"sections,omitempty"` // likewise
}

type headerFeature struct {
	Name  string `json:"name"`
	View  string `json:"view"`
	DType string `json:"dtype"` // as the view defines it; here it is float32
	Unit  string `json:"unit"`
}

// headerView is a view that the matrix reads, and a column of ages.
type headerView struct {
	View string  `json:"view"`
	TTL  float64 `json:"ttl_seconds"`
	Tick int64   `json:"tick"` // unix ms, of its newest row; 0: it has none
	Rows int     `json:"rows"` // entities that have a row of it, however old
	Late bool    `json:"late"` // it was not asked for what was stored by Known: rows may be missing
}

type offsets struct {
	Keys   int `json:"keys"`
	Values int `json:"values"`
	Status int `json:"status"`
	Ages   int `json:"ages"`
}

var nan = float32(math.NaN())

// blockRows are filled column by column, so that what is written stays in the cache.
const blockRows = 64

// build makes the matrix of rows, one Rows a view of the plan, as of m. Entities of which
// nothing is remembered any more are left out.
func build(p *plan, ents *entities, rows []*features.Rows, late []bool, m Moment) *matrix {
	states, keep, all := judge(p, ents, rows, m)
	if !all {
		ents = ents.only(keep)
		states, _, _ = judge(p, ents, rows, m)
	}
	ents.keyBlobs()
	x := &matrix{plan: p, ents: ents, header: p.header(ents, rows, late, m)}
	x.layout()
	x.fill(rows, states, m)
	return x
}

// judge says of each row, by view and entity, what its existence and age mean, and which
// entities have any row at all.
func judge(p *plan, ents *entities, rows []*features.Rows, m Moment) (states [][]features.Status, keep []bool, all bool) {
	states, keep = make([][]features.Status, len(p.views)), make([]bool, ents.n)
	for v, view := range p.views {
		states[v] = make([]features.Status, ents.n)
		ticks := rows[v].Tick
		for i, row := range ents.rows[v] {
			st := features.NotFound
			if row >= 0 {
				st = view.RowStatus(true, ticks[row], m.At)
			}
			states[v][i] = st
			keep[i] = keep[i] || st != features.NotFound
		}
	}
	all = true
	for _, k := range keep {
		all = all && k
	}
	return states, keep, all
}

func (p *plan) header(ents *entities, rows []*features.Rows, late []bool, m Moment) header {
	h := header{Kind: "snapshot", Version: m.Tick, Tick: m.Tick, Known: m.At, Service: p.name, ServiceVersion: p.version, Keys: p.keys,
		Rows: ents.n, Dims: len(p.columns)}
	for _, c := range p.columns {
		v := p.views[c.view]
		f := &v.Features[c.feature]
		h.Features = append(h.Features, headerFeature{Name: c.name, View: v.Ref(), DType: f.DType.String(), Unit: f.Unit})
	}
	for v, view := range p.views {
		d := headerView{View: view.Ref(), TTL: view.TTL.Seconds(), Late: late != nil && late[v]}
		for _, row := range ents.rows[v] {
			if row >= 0 {
				d.Rows++
				d.Tick = max(d.Tick, rows[v].Tick[row])
			}
		}
		h.Views = append(h.Views, d)
	}
	return h
}

// layout allocates the file and writes all of it but values, statuses and ages where they are
// not there yet. More sections go behind them.
func (x *matrix) layout(more ...section) {
	n, d, w := x.ents.n, len(x.plan.columns), len(x.plan.views)
	var parts []section
	for k, key := range x.plan.keys {
		parts = append(parts, textSection("keys/"+key, x.ents.keys[k], x.ents.blobs[k]))
	}
	first := len(parts)
	parts = append(parts, sized("values", "float32", 4, n, d), sized("status", "uint8", 1, n, d), sized("ages", "float32", 4, n, w))
	parts[first].data, parts[first+1].data, parts[first+2].data = bytesOf(x.values), x.status, bytesOf(x.ages)
	parts = append(parts, more...)
	x.file = flatFile(parts, func() any {
		h := x.header
		h.Offsets = &offsets{Keys: parts[0].Offset, Values: parts[first].Offset, Status: parts[first+1].Offset, Ages: parts[first+2].Offset}
		h.Sections = parts
		return h
	})
	x.values, x.status, x.ages = view[float32](x.file, parts[first]), view[uint8](x.file, parts[first+1]), view[float32](x.file, parts[first+2])
}

// fill copies the columns, block by block, on as many processors as there are.
func (x *matrix) fill(rows []*features.Rows, states [][]features.Status, m Moment) {
	blocks := (x.ents.n + blockRows - 1) / blockRows
	var next atomic.Int64
	work := func() {
		for {
			b := int(next.Add(1)) - 1
			if b >= blocks {
				return
			}
			x.fillBlock(rows, states, m, b*blockRows, min((b+1)*blockRows, x.ents.n))
		}
	}
	workers := min(runtime.GOMAXPROCS(0), blocks/8) // a goroutine costs more than a few blocks
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

func (x *matrix) fillBlock(rows []*features.Rows, states [][]features.Status, m Moment, from, to int) {
	d, w := len(x.plan.columns), len(x.plan.views)
	for j, c := range x.plan.columns {
		col := &rows[c.view].Cols[c.feature]
		place, state := x.ents.rows[c.view], states[c.view]
		for i := from; i < to; i++ {
			value, row := nan, int(place[i])
			st := col.Status(row, state[i])
			switch st {
			case features.Present:
				value = float32(col.Num[row])
			case features.NullValue:
				value = c.fallback
			}
			x.values[i*d+j], x.status[i*d+j] = value, fieldStatus[st]
		}
	}
	for v := range x.plan.views {
		ticks, place := rows[v].Tick, x.ents.rows[v]
		for i := from; i < to; i++ {
			age := nan
			if states[v][i] != features.NotFound {
				age = float32(max(m.At-ticks[place[i]], 0)) / 1000
			}
			x.ages[i*w+v] = age
		}
	}
}
