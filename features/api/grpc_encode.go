package api

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"sextant/features"
	"sextant/features/api/feastpb/feast/serving"
)

// The fields of Feast's messages that answers have: numbers of serving_service.proto and
// value.proto.
const (
	responseMetadata, responseResults, responseStatus = 1, 2, 3
	metadataNames, metadataViews                      = 1, 2
	listVal                                           = 1
	viewName, viewVersion                             = 1, 2
	vectorValues, vectorStatuses, vectorTimes         = 1, 2, 3
	valueString, valueInt64, valueDouble              = 2, 4, 5
	valueFloat, valueBool                             = 6, 7
	timeSeconds, timeNanos                            = 1, 2
)

// protoEncoder writes GetOnlineFeaturesResponse by appending. Nothing is reflected on and
// nothing is allocated a value: one value is a Value message of a few bytes.
type protoEncoder struct {
	part     []byte // the message that is being built, whose length must stand before it
	statuses [4]int
	ofColumn []features.Status // of the column that is being written, by entity

	tick int64  // the last tick that was encoded
	text []byte // and its Timestamp
}

func (e *protoEncoder) response(dst []byte, p *plan, groups []group) []byte {
	dst = e.metadata(dst, p)
	for i := range p.keys {
		e.keyColumn(p.values[i])
		dst = appendBytes(dst, responseResults, e.part)
	}
	for _, c := range p.columns {
		g := &groups[c.group]
		e.column(g, &g.snapshot.Cols[c.col], &g.snapshot.View.Features[c.col])
		dst = appendBytes(dst, responseResults, e.part)
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, responseStatus, protowire.VarintType), 1)
}

func (e *protoEncoder) metadata(dst []byte, p *plan) []byte {
	var names, all []byte
	for _, key := range p.keys {
		names = appendString(names, listVal, key)
	}
	for _, c := range p.columns {
		names = appendString(names, listVal, c.name)
	}
	all = appendBytes(all, metadataNames, names)
	for _, v := range p.described {
		view := appendString(nil, viewName, v.Name)
		view = protowire.AppendVarint(protowire.AppendTag(view, viewVersion, protowire.VarintType), uint64(v.Version))
		all = appendBytes(all, metadataViews, view)
	}
	return appendBytes(dst, responseMetadata, all)
}

// keyColumn makes the vector of a join key in part: present, at the epoch.
func (e *protoEncoder) keyColumn(values []string) {
	e.part = e.part[:0]
	for _, v := range values {
		e.stringValue(v)
	}
	e.header(vectorStatuses, len(values))
	for range values {
		e.part = append(e.part, byte(serving.FieldStatus_PRESENT))
	}
	for range values {
		e.header(vectorTimes, 0)
	}
}

// column makes the vector of a feature in part.
func (e *protoEncoder) column(g *group, c *features.Column, f *features.Feature) {
	e.part, e.ofColumn = e.part[:0], e.ofColumn[:0]
	for i, row := range g.rows {
		st := c.Status(int(row), g.statuses[i])
		e.ofColumn = append(e.ofColumn, st)
		e.statuses[st]++
		switch {
		case st == features.NullValue && f.Default != nil:
			e.number(*f.Default, f.DType)
		case st != features.Present:
			e.header(vectorValues, 0) // a Value that has none, as Feast has it
		case c.Str != nil:
			e.stringValue(c.Str[row])
		default:
			e.number(c.Num[row], f.DType)
		}
	}
	e.header(vectorStatuses, len(g.rows))
	for _, st := range e.ofColumn {
		e.part = append(e.part, byte(fieldStatus[st]))
	}
	for _, row := range g.rows {
		if row < 0 {
			e.header(vectorTimes, 0)
			continue
		}
		e.time(g.snapshot.Tick[row])
	}
}

var fieldStatus = [...]serving.FieldStatus{features.Present: serving.FieldStatus_PRESENT, features.NullValue: serving.FieldStatus_NULL_VALUE,
	features.NotFound: serving.FieldStatus_NOT_FOUND, features.OutsideMaxAge: serving.FieldStatus_OUTSIDE_MAX_AGE}

// header begins a field of n bytes.
func (e *protoEncoder) header(field protowire.Number, n int) {
	e.part = protowire.AppendVarint(protowire.AppendTag(e.part, field, protowire.BytesType), uint64(n))
}

func (e *protoEncoder) stringValue(s string) {
	e.header(vectorValues, 1+protowire.SizeBytes(len(s)))
	e.part = appendString(e.part, valueString, s)
}

func (e *protoEncoder) number(x float64, dtype features.DType) {
	switch dtype {
	case features.Float32:
		e.header(vectorValues, 5)
		e.part = protowire.AppendFixed32(protowire.AppendTag(e.part, valueFloat, protowire.Fixed32Type), math.Float32bits(float32(x)))
	case features.Int64:
		e.varint(valueInt64, uint64(wholeInt64(x)))
	case features.Bool:
		e.varint(valueBool, protowire.EncodeBool(x != 0))
	default:
		e.header(vectorValues, 9)
		e.part = protowire.AppendFixed64(protowire.AppendTag(e.part, valueDouble, protowire.Fixed64Type), math.Float64bits(x))
	}
}

func (e *protoEncoder) varint(field protowire.Number, v uint64) {
	e.header(vectorValues, 1+protowire.SizeVarint(v))
	e.part = protowire.AppendVarint(protowire.AppendTag(e.part, field, protowire.VarintType), v)
}

// wholeInt64 is the integer next to x, and the last one where there is none.
func wholeInt64(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	}
	return int64(math.Round(x))
}

// time writes a tick as a Timestamp; neighbours share ticks.
func (e *protoEncoder) time(tick int64) {
	if e.text == nil || e.tick != tick {
		e.tick = tick
		e.text = protowire.AppendVarint(protowire.AppendTag(e.text[:0], timeSeconds, protowire.VarintType), uint64(tick/1000))
		if nanos := tick % 1000 * 1_000_000; nanos != 0 {
			e.text = protowire.AppendVarint(protowire.AppendTag(e.text, timeNanos, protowire.VarintType), uint64(nanos))
		}
	}
	e.part = appendBytes(e.part, vectorTimes, e.text)
}

func appendBytes(dst []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), b)
}

func appendString(dst []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), s)
}
