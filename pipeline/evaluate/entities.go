package evaluate

import (
	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/pipeline/compile"
)

// entities numbers the entities of one view in one group of nodes, so that a result finds
// its row without its labels.
type entities struct {
	byKey   map[string]int32 // joined keys to entity
	keys    [][]string       // by entity: the values of the view's keys
	version uint64           // counts how often all was forgotten
	slots   []slots          // by feature
	used    int              // rows of the last tick
	buf     []byte
}

// slots says for one compiled feature what each slot of a result belongs to.
type slots struct {
	program, entities uint64   // versions of what this was made from
	entity            []int32  // by slot; -1 where the labels are not those of an entity
	text              []string // by slot: a String feature's value
}

func (v *view) entitiesOf(group int) *entities {
	for len(v.groups) <= group {
		v.groups = append(v.groups, &entities{byKey: map[string]int32{}, slots: make([]slots, len(v.Features)), version: 1})
	}
	x := v.groups[group]
	// Entities come and go. Those that are gone are forgotten in bulk.
	if len(x.keys) > 2*x.used+64 {
		clear(x.byKey)
		x.keys = nil
		x.version++
	}
	return x
}

// of returns the entity that labels name, and the value of a String feature. Labels
// belong to an entity only when they are exactly the view's keys, and the value's label
// for a String feature.
func (x *entities) of(ls labels.Labels, keys []string, f *features.Feature) (entity int32, text string) {
	want := len(keys)
	if f.DType == features.String {
		want++
		if !ls.Has(f.Label) {
			return -1, ""
		}
		text = ls.Get(f.Label)
	}
	if ls.Len() != want {
		return -1, ""
	}
	x.buf = x.buf[:0]
	for _, k := range keys {
		v := ls.Get(k)
		if v == "" {
			return -1, ""
		}
		x.buf = append(append(x.buf, v...), 0xff)
	}
	if e, ok := x.byKey[string(x.buf)]; ok {
		return e, text
	}
	e := int32(len(x.keys))
	x.byKey[string(x.buf)] = e
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = ls.Get(k)
	}
	x.keys = append(x.keys, values)
	return e, text
}

// slotsOf returns what the slots of feature i mean, worked out anew when they changed.
func (x *entities) slotsOf(i int, p *compile.Program, keys []string, f *features.Feature) *slots {
	s := &x.slots[i]
	version := p.Version()
	if s.program == version && s.entities == x.version {
		return s
	}
	*s = slots{program: version, entities: x.version}
	for _, ls := range p.Labels() {
		entity, text := x.of(ls, keys, f)
		s.entity = append(s.entity, entity)
		if f.DType == features.String {
			s.text = append(s.text, text)
		}
	}
	return s
}
