package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// change is what turns one version of a matrix into a later one: rows that are new or differ in a value or
// status, whole, and the entities that are gone. Of since 0 it is a whole version.
type change struct {
	since, version int64
	rows           *matrix    // in its header what the change is
	removed        [][]string // keys of the entities that are gone, by join key
	size           int        // bytes of rows

	event func() []byte // the change as a server-sent event, encoded once
}

// whole is a version as the change that a reader begins with.
func whole(x *matrix) *change {
	c := &change{version: x.header.Version, rows: x}
	return c.encoders()
}

// changeBetween compares two versions of one service. Ages are of new and changed rows alone:
// they differ in every row.
func changeBetween(old, x *matrix) *change {
	var rows []int32
	var gone [][]string
	added := 0
	if old.ents == x.ents {
		for i := range x.ents.n {
			if !sameRow(old, i, x, i) {
				rows = append(rows, int32(i))
			}
		}
	} else {
		rows, gone, added = compareEntities(old, x)
	}
	c := &change{since: old.header.Version, version: x.header.Version, removed: gone, rows: x.pick(rows)}
	h := &c.rows.header
	h.Kind, h.Since, h.Added = "delta", c.since, added
	if len(gone) > 0 {
		h.Removed = len(gone[0])
	}
	c.rows.layout(removedSections(x.plan.keys, gone)...)
	c.size = len(c.rows.file)
	return c.encoders()
}

// compareEntities walks through two lists of entities, both in the order of their keys.
func compareEntities(old, x *matrix) (rows []int32, gone [][]string, added int) {
	gone = make([][]string, len(x.plan.keys))
	i, j := 0, 0
	for i < old.ents.n || j < x.ents.n {
		order := 0
		switch {
		case i == old.ents.n:
			order = 1
		case j == x.ents.n:
			order = -1
		default:
			for k := 0; k < len(x.plan.keys) && order == 0; k++ {
				order = strings.Compare(old.ents.keys[k][i], x.ents.keys[k][j])
			}
		}
		switch {
		case order < 0:
			for k := range gone {
				gone[k] = append(gone[k], old.ents.keys[k][i])
			}
			i++
		case order > 0:
			rows, added = append(rows, int32(j)), added+1
			j++
		default:
			if !sameRow(old, i, x, j) {
				rows = append(rows, int32(j))
			}
			i, j = i+1, j+1
		}
	}
	return rows, gone, added
}

// sameRow compares values by their bits, so that NaN is NaN.
func sameRow(a *matrix, i int, b *matrix, j int) bool {
	d := len(a.plan.columns)
	return bytes.Equal(a.status[i*d:(i+1)*d], b.status[j*d:(j+1)*d]) &&
		bytes.Equal(bytesOf(a.values[i*d:(i+1)*d]), bytesOf(b.values[j*d:(j+1)*d]))
}

// pick is some rows of a matrix. It has no file yet.
func (x *matrix) pick(rows []int32) *matrix {
	d, w := len(x.plan.columns), len(x.plan.views)
	out := &matrix{plan: x.plan, header: x.header, ents: &entities{n: len(rows), keys: make([][]string, len(x.plan.keys))}}
	for k := range out.ents.keys {
		out.ents.keys[k] = make([]string, 0, len(rows))
	}
	for _, i := range rows {
		for k := range out.ents.keys {
			out.ents.keys[k] = append(out.ents.keys[k], x.ents.keys[k][i])
		}
		out.values = append(out.values, x.values[int(i)*d:int(i+1)*d]...)
		out.status = append(out.status, x.status[int(i)*d:int(i+1)*d]...)
		out.ages = append(out.ages, x.ages[int(i)*w:int(i+1)*w]...)
	}
	out.ents.keyBlobs()
	out.header.Rows = len(rows)
	return out
}

func removedSections(keys []string, gone [][]string) []section {
	if len(gone) == 0 {
		gone = make([][]string, len(keys))
	}
	var out []section
	for k, key := range keys {
		out = append(out, textSection("removed/"+key, gone[k], textBlob(gone[k])))
	}
	return out
}

// encoders makes what is encoded when the first reader needs it.
func (c *change) encoders() *change {
	c.event = sync.OnceValue(func() []byte {
		text, err := json.Marshal(c.rows.header)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		text = append(text[:len(text)-1], `,"keys":`...)
		text = append(c.rows.appendRows(text), `,"removed_keys":`...)
		gone := make(map[string][]string, len(c.rows.plan.keys))
		for k, key := range c.rows.plan.keys {
			gone[key] = []string{}
			if len(c.removed) > 0 {
				gone[key] = append(gone[key], c.removed[k]...)
			}
		}
		keys, err := json.Marshal(gone)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		return event(c.rows.header.Kind, c.version, append(append(text, keys...), '}'))
	})
	return c
}

// frameHead goes before a flat file in a stream: its length.
func frameHead(file []byte) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(len(file)))
}

// event is a server-sent event; its id is what a browser asks to go on from.
func event(kind string, version int64, data []byte) []byte {
	out := append([]byte("event: "), kind...)
	out = append(out, "\nid: "...)
	out = strconv.AppendInt(out, version, 10)
	out = append(out, "\ndata: "...)
	return append(append(out, data...), "\n\n"...)
}

// note is a message without rows: a heartbeat, or the end with its reason.
type note struct {
	Kind    string `json:"kind"`
	Version int64  `json:"version"` // that the reader has
	Reason  string `json:"reason,omitempty"`
}

// message is what is written to a reader.
type message interface {
	encode(format string) (head, body []byte)
}

func (n note) encode(format string) (head, body []byte) {
	if format == formatEvents {
		text, err := json.Marshal(n)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		return nil, event(n.Kind, n.Version, text)
	}
	file := flatFile(nil, func() any { return n })
	return frameHead(file), file
}

func (c *change) encode(format string) (head, body []byte) {
	if format == formatEvents {
		return nil, c.event()
	}
	return frameHead(c.rows.file), c.rows.file
}
