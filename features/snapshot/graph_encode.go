package snapshot

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// matrices are the four of a graph, by name.
func (g *graph) matrices() []namedMatrix {
	return []namedMatrix{{"nodes", g.nodes}, {"devices", g.devices}, {"edges", g.edges}, {"tasks", g.tasks}}
}

type namedMatrix struct {
	name string
	*matrix
}

// partSets are the vertices without features.
func (g *graph) partSets() []namedParts {
	return []namedParts{{"nics", "nic", &g.top.nics}, {"numas", "numa", &g.top.numas}, {"places", "place", &g.top.places}}
}

type namedParts struct {
	name, key string
	*parts
}

func (g *graph) encode(format string) ([]byte, error) {
	switch format {
	case formatRaw:
		return g.encodeRaw(), nil
	case formatJSON:
		return g.encodeJSON()
	}
	return g.encodeArrow()
}

// encodeRaw is a flat file whose sections are those of the matrices, the names of the other
// vertices, and the arrays of the relations.
func (g *graph) encodeRaw() []byte {
	var all []section
	add := func(name, dtype string, data []byte, shape ...int) {
		all = append(all, section{Name: name, DType: dtype, Shape: shape, Bytes: len(data), data: data})
	}
	for _, x := range g.matrices() {
		for k, key := range x.plan.keys {
			add(x.name+"/keys/"+key, "utf8", x.ents.blobs[k], x.ents.n)
		}
		add(x.name+"/values", "float32", bytesOf(x.values), x.ents.n, len(x.plan.columns))
		add(x.name+"/status", "uint8", x.status, x.ents.n, len(x.plan.columns))
		add(x.name+"/ages", "float32", bytesOf(x.ages), x.ents.n, len(x.plan.views))
	}
	for _, p := range g.partSets() {
		add(p.name+"/keys/node", "utf8", textBlob(p.node), p.len())
		add(p.name+"/keys/"+p.key, "utf8", textBlob(p.parts.name), p.len())
	}
	for _, r := range g.relations {
		add(r.name+"/indptr", "int32", bytesOf(r.indptr), len(r.indptr))
		add(r.name+"/indices", "int32", bytesOf(r.indices), len(r.indices))
		if r.edge != nil {
			add(r.name+"/edge", "int32", bytesOf(r.edge), len(r.edge))
		}
	}
	return flatFile(all, func() any {
		h := g.header
		h.Sections = all
		return h
	})
}

// encodeArrow is Arrow streams, one behind the other: a table for each matrix, each set of other
// vertices, and each relation. The metadata of each has its name, that of the first the header.
func (g *graph) encodeArrow() ([]byte, error) {
	type about struct {
		Name  string       `json:"name"`
		Graph *graphHeader `json:"graph,omitempty"`
	}
	var out bytes.Buffer
	for i, x := range g.matrices() {
		a := about{Name: x.name}
		if i == 0 {
			a.Graph = &g.header
		}
		if err := x.arrow().write(&out, a); err != nil {
			return nil, err
		}
	}
	for _, p := range g.partSets() {
		b := &arrowBuilder{rows: p.len()}
		b.text("node", p.len(), textBlob(p.node))
		b.text(p.key, p.len(), textBlob(p.parts.name))
		if err := b.write(&out, about{Name: p.name}); err != nil {
			return nil, err
		}
	}
	for _, r := range g.relations {
		b := &arrowBuilder{rows: len(r.indptr) - 1}
		b.ragged("to", r.indptr, r.indices)
		if r.edge != nil {
			b.ragged("edge", r.indptr, r.edge)
		}
		if err := b.write(&out, about{Name: r.name}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// ragged adds lists of any length: Arrow lays them out as CSR does.
func (b *arrowBuilder) ragged(name string, indptr, indices []int32) {
	t := arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)
	child := array.NewData(arrow.PrimitiveTypes.Int32, len(indices), buffers(bytesOf(indices)), nil, 0, 0)
	b.add(name, t, array.NewData(t, b.rows, buffers(bytesOf(indptr)), []arrow.ArrayData{child}, 0, 0))
	b.bytes += 4 * (len(indptr) + len(indices))
}

// encodeJSON is the header with, under "data", what the flat file has in its sections: matrices as in a
// snapshot, and each relation as {"indptr", "indices", "edge"}.
func (g *graph) encodeJSON() ([]byte, error) {
	n := 0
	for _, x := range g.matrices() {
		n += len(x.values)
	}
	if n > maxJSON {
		return nil, badRequest("format: json is for %d values at most, and the graph has %d: ask for arrow or raw", maxJSON, n)
	}
	text, err := json.Marshal(g.header)
	if err != nil {
		return nil, err
	}
	out := append(text[:len(text)-1], `,"data":{`...)
	for _, x := range g.matrices() {
		out = append(append(append(out, '"'), x.name...), `":{"keys":`...)
		out = append(x.appendRows(out), `},`...)
	}
	for _, p := range g.partSets() {
		keys, err := json.Marshal(map[string][]string{"node": append([]string{}, p.node...), p.key: append([]string{}, p.parts.name...)})
		if err != nil {
			return nil, err
		}
		out = append(append(append(append(out, '"'), p.name...), `":{"keys":`...), keys...)
		out = append(out, `},`...)
	}
	for i, r := range g.relations {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), r.name...), `":{"indptr":`...)
		out = appendInts(append(appendInts(out, r.indptr), `,"indices":`...), r.indices)
		if r.edge != nil {
			out = appendInts(append(out, `,"edge":`...), r.edge)
		}
		out = append(out, '}')
	}
	return append(out, '}', '}', '\n'), nil
}

func appendInts(dst []byte, values []int32) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ']')
}
