package wire

import (
	"fmt"
	"unicode/utf8"
)

// Labels yields the labels of series i of the last Scan, in ascending order of their
// names, until yield returns false. Labels with an empty value are left out: they mean
// the same as no label. The bytes belong to the request. It reads the whole symbol
// table once per request, so it is for layouts that were not seen before.
//
// The error is permanent and concerns this series alone: a reference that is out of
// range, names that do not ascend, invalid UTF-8, or a *LimitError.
func (d *Decoder) Labels(i int, yield func(name, value []byte) bool) error {
	refs, err := d.refs(i)
	if err != nil {
		return fmt.Errorf("series %d: %w", i, err)
	}
	var before []byte
	for k := 0; k < len(refs); k += 2 {
		name, value := d.symbolAt(refs[k]), d.symbolAt(refs[k+1])
		if err := checkLabel(before, name, value); err != nil {
			return fmt.Errorf("series %d: %w", i, err)
		}
		before = name
		if len(value) > 0 && !yield(name, value) {
			return nil
		}
	}
	return nil
}

func checkLabel(before, name, value []byte) error {
	if err := checkLabelSize(len(name), len(value)); err != nil {
		return err
	}
	if before != nil && string(before) >= string(name) {
		return orderError(string(before), string(name))
	}
	if !utf8.Valid(name) || !utf8.Valid(value) {
		return fmt.Errorf("label %q: %w", clip(string(name)), errUTF8)
	}
	return nil
}

// refs returns the label references of series i: pairs that all lie in the symbol table.
func (d *Decoder) refs(i int) ([]uint32, error) {
	d.indexSymbols()
	at := d.series[i]
	b, refs := d.b[:at.end], d.pairs[:0]
	for p := int(at.start); p < len(b); {
		t, next, err := tag(b, p)
		if err != nil {
			return nil, &OffsetError{p, err}
		}
		start := next
		var end int
		switch t {
		case tagRefs:
			start, end, err = span(b, next)
		case tagRef: // one reference outside a packed list is as valid
			_, end, err = uvarint(b, next)
		default:
			if p, err = skip(b, next, t); err != nil {
				return nil, &OffsetError{int(at.start), err}
			}
			continue
		}
		if err == nil {
			refs, err = d.appendRefs(refs, b[:end], start)
		}
		if err != nil {
			return nil, located(p, err)
		}
		p = end
	}
	d.pairs = refs
	if len(refs)%2 != 0 {
		return nil, &OffsetError{int(at.start), fmt.Errorf("%d label references, want pairs", len(refs))}
	}
	return refs, nil
}

func (d *Decoder) appendRefs(refs []uint32, b []byte, p int) ([]uint32, error) {
	for p < len(b) {
		ref, next, err := uvarint(b, p)
		if err != nil {
			return nil, err
		}
		if ref >= uint64(len(d.symbols)) {
			return nil, fmt.Errorf("reference %d, but there are %d symbols", ref, len(d.symbols))
		}
		if len(refs) == 2*MaxLabels {
			return nil, &LimitError{LimitLabels, MaxLabels, MaxLabels + 1}
		}
		refs = append(refs, uint32(ref))
		p = next
	}
	return refs, nil
}

// Meta returns the metadata of series i of the last Scan. What is absent, out of range
// or not UTF-8 is zero: metadata is advice, no reason to refuse a sample.
func (d *Decoder) Meta(i int) (typ MetricType, unit, help string) {
	d.indexSymbols()
	at := d.series[i]
	var m meta
	for b, p := d.b[:at.end], int(at.start); p < len(b); {
		t, next, err := tag(b, p)
		if err != nil {
			break
		}
		var end int
		if t == tagMetadata {
			if next, end, err = span(b, next); err == nil {
				m.read(b[:end], next)
			}
		} else {
			end, err = skip(b, next, t)
		}
		if err != nil {
			break
		}
		p = end
	}
	if m.typ <= uint64(TypeStateSet) {
		typ = MetricType(m.typ)
	}
	return typ, d.text(m.unit), d.text(m.help)
}

// meta is a Metadata message: its type, and references to symbols.
type meta struct{ typ, unit, help uint64 }

// read takes the fields of b[p:] up to the first that makes no sense.
func (m *meta) read(b []byte, p int) {
	for p < len(b) {
		t, next, err := tag(b, p)
		if err != nil {
			return
		}
		switch t {
		case tagType:
			m.typ, next, err = uvarint(b, next)
		case tagHelp:
			m.help, next, err = uvarint(b, next)
		case tagUnit:
			m.unit, next, err = uvarint(b, next)
		default:
			next, err = skip(b, next, t)
		}
		if err != nil {
			return
		}
		p = next
	}
}

func (d *Decoder) text(ref uint64) string {
	if ref >= uint64(len(d.symbols)) || !utf8.Valid(d.symbolAt(uint32(ref))) {
		return ""
	}
	return string(d.symbolAt(uint32(ref)))
}

func (d *Decoder) symbolAt(ref uint32) []byte {
	s := d.symbols[ref]
	return d.b[s.start:s.end]
}

// indexSymbols finds the symbols of the last Scan, which has already checked them.
func (d *Decoder) indexSymbols() {
	if len(d.symbols) == d.count {
		return
	}
	d.indexRun(d.symbol)
	for _, run := range d.runs {
		d.indexRun(run)
	}
}

func (d *Decoder) indexRun(run bounds) {
	for p := int(run.start); p < int(run.end); {
		start, end, err := span(d.b, p+1)
		if err != nil {
			panic("BUG: a symbol that Scan passed does not parse: " + err.Error())
		}
		d.symbols = append(d.symbols, bounds{uint32(start), uint32(end)})
		p = end
	}
}
