package api

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"sextant/features"
)

// flushAt is how many bytes gather before they are written.
const flushAt = 64 << 10

// epoch stands where there is no row, and beside join keys, as in Feast.
const epoch = `"1970-01-01T00:00:00Z"`

// encoder writes a response by appending to buf. Nothing is reflected on and nothing is
// allocated a value.
type encoder struct {
	w        io.Writer
	buf      []byte
	err      error // of the first write that failed; later ones are left out
	statuses [4]int
	ofColumn []features.Status // of the column that is being written, by entity
	before   statusText        // of the column that was written last

	tick int64  // the last tick that was formatted
	text []byte // and its text: neighbours share ticks
}

// statusText is statuses and their text. Most columns of an answer have those of their neighbour.
type statusText struct {
	statuses []features.Status
	text     []byte
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

func (e *encoder) raw(s string) {
	e.buf = append(e.buf, s...)
	if len(e.buf) >= flushAt {
		e.flush()
	}
}

// response writes {"metadata":…,"results":[…]}: results[i] is the column of
// metadata.feature_names[i]. metadata.flags is what Feast does not have: for each view, by
// entity, what was wrong with the samples of its row.
func (e *encoder) response(p *plan, groups []group) {
	e.raw(`{"metadata":{"feature_names":[`)
	for i, key := range p.keys {
		e.comma(i)
		e.string(key)
	}
	for _, c := range p.columns {
		e.raw(",")
		e.string(c.name)
	}
	e.raw(`],"flags":{`)
	for i := range p.views {
		e.comma(i)
		e.string(p.views[i].Ref())
		e.raw(":[")
		e.rowFlags(&groups[i])
		e.raw("]")
	}
	e.raw("}")
	e.viewMetadata(p.described)
	e.raw(`},"results":[`)
	for i := range p.keys {
		e.comma(i)
		e.keyColumn(p.values[i])
	}
	for _, c := range p.columns {
		if e.err != nil {
			return
		}
		e.raw(",")
		g := &groups[c.group]
		e.column(g, &g.snapshot.Cols[c.col], &g.snapshot.View.Features[c.col])
	}
	e.raw("]}\n")
	e.flush()
}

// viewMetadata writes name and version of each view, as Feast does when asked.
func (e *encoder) viewMetadata(views []*features.View) {
	if len(views) == 0 {
		return
	}
	e.raw(`,"feature_view_metadata":[`)
	for i, v := range views {
		e.comma(i)
		e.raw(`{"name":`)
		e.string(v.Name)
		e.raw(`,"version":`)
		e.buf = strconv.AppendInt(e.buf, int64(v.Version), 10)
		e.raw("}")
	}
	e.raw("]")
}

// rowFlags writes the flags of each entity's row; 0 where there is none.
func (e *encoder) rowFlags(g *group) {
	for i, row := range g.rows {
		e.comma(i)
		flags := uint16(0)
		if row >= 0 {
			flags = g.snapshot.Flag(int(row))
		}
		e.buf = strconv.AppendUint(e.buf, uint64(flags), 10)
	}
}

func (e *encoder) keyColumn(values []string) {
	e.raw(`{"values":[`)
	for i, v := range values {
		e.comma(i)
		e.string(v)
	}
	e.raw(`],"statuses":[`)
	for i := range values {
		e.comma(i)
		e.raw(`"PRESENT"`)
	}
	e.raw(`],"event_timestamps":[`)
	for i := range values {
		e.comma(i)
		e.raw(epoch)
	}
	e.raw("]}")
}

func (e *encoder) column(g *group, c *features.Column, f *features.Feature) {
	e.ofColumn = e.ofColumn[:0]
	for i, row := range g.rows {
		st := c.Status(int(row), g.statuses[i])
		e.ofColumn = append(e.ofColumn, st)
		e.statuses[st]++
	}
	e.raw(`{"values":[`)
	for i, st := range e.ofColumn {
		e.comma(i)
		switch row := g.rows[i]; {
		case st == features.NullValue && f.Default != nil:
			e.number(*f.Default, f.DType)
		case st != features.Present:
			e.buf = append(e.buf, "null"...)
		case c.Str != nil:
			e.string(c.Str[row])
		default:
			e.number(c.Num[row], f.DType)
		}
	}
	e.raw(`],"statuses":[`)
	e.bytes(e.statusList())
	e.raw(`],"event_timestamps":[`)
	e.bytes(e.stampList(g))
	e.raw("]}")
}

// statusList is the text of the statuses of the column.
func (e *encoder) statusList() []byte {
	b := &e.before
	if len(b.text) > 0 && slices.Equal(b.statuses, e.ofColumn) {
		return b.text
	}
	b.statuses, b.text = append(b.statuses[:0], e.ofColumn...), b.text[:0]
	for i, st := range e.ofColumn {
		if i > 0 {
			b.text = append(b.text, ',')
		}
		b.text = append(b.text, quotedStatus[st]...)
	}
	return b.text
}

// stampList is the text of the ticks of a view's rows, which all of its columns share.
func (e *encoder) stampList(g *group) []byte {
	if len(g.stamps) > 0 {
		return g.stamps
	}
	for i, row := range g.rows {
		if i > 0 {
			g.stamps = append(g.stamps, ',')
		}
		if row < 0 {
			g.stamps = append(g.stamps, epoch...)
		} else {
			g.stamps = e.appendTime(g.stamps, g.snapshot.Tick[row])
		}
	}
	return g.stamps
}

// bytes writes text that may be long, in pieces.
func (e *encoder) bytes(text []byte) {
	for len(text) > 0 {
		n := min(max(flushAt-len(e.buf), 1), len(text))
		e.buf = append(e.buf, text[:n]...)
		if text = text[n:]; len(e.buf) >= flushAt {
			e.flush()
		}
	}
}

// quotedStatus is each status as it stands in an answer.
var quotedStatus = func() (quoted [4]string) {
	for st := range quoted {
		quoted[st] = `"` + features.Status(st).String() + `"`
	}
	return quoted
}()

// comma stands before all but the first of a list. It sends what has gathered.
func (e *encoder) comma(i int) {
	if i == 0 {
		return
	}
	if e.buf = append(e.buf, ','); len(e.buf) >= flushAt {
		e.flush()
	}
}

// number writes a finite number in the shortest form that reads back as the same value
// of its type.
func (e *encoder) number(x float64, dtype features.DType) {
	switch dtype {
	case features.Bool:
		e.buf = strconv.AppendBool(e.buf, x != 0)
	case features.Int64:
		if math.Abs(x) < 1<<62 {
			e.buf = strconv.AppendInt(e.buf, int64(math.Round(x)), 10)
			return
		}
		e.buf = strconv.AppendFloat(e.buf, x, 'f', 0, 64)
	case features.Float32:
		e.buf = appendFloat(e.buf, x, 32)
	default:
		e.buf = appendFloat(e.buf, x, 64)
	}
}

func appendFloat(dst []byte, x float64, bits int) []byte {
	format := byte('f')
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, x, format, -1, bits)
}

// appendTime writes a tick as RFC 3339, with milliseconds only where there are some.
func (e *encoder) appendTime(dst []byte, tick int64) []byte {
	if e.text == nil || e.tick != tick {
		e.tick = tick
		e.text = append(e.text[:0], '"')
		e.text = time.UnixMilli(tick).UTC().AppendFormat(e.text, "2006-01-02T15:04:05.999Z07:00")
		e.text = append(e.text, '"')
	}
	return append(dst, e.text...)
}

func (e *encoder) string(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			text, err := json.Marshal(s)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			e.buf = append(e.buf, text...)
			return
		}
	}
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, '"')
}
