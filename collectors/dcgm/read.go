//go:build cgo && linux

package dcgm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

// atOnce is how many fields of an entity one call reads. go-dcgm takes 4 KiB for each, and
// keeps buffers of up to 256 for the next call.
const atOnce = 64

// decode takes a value out of DCGM's 4 KiB field. go-dcgm's own methods would copy all of
// it for each.
func decode(id dcgm.Short, typ uint, status int, at int64, value *[4096]byte) reading {
	r := reading{id: uint16(id), typ: byte(typ), status: status, at: at}
	switch r.typ {
	case typeDouble:
		r.float = math.Float64frombits(binary.NativeEndian.Uint64(value[:8]))
	case typeInt64, typeTimestamp:
		r.num = int64(binary.NativeEndian.Uint64(value[:8]))
	case typeString:
		n := bytes.IndexByte(value[:], 0)
		if n < 0 {
			n = len(value)
		}
		r.text = string(value[:n])
	}
	return r
}

// readFields reads all entities. An entity that cannot be read costs only itself.
func (s *session) readFields(p *page, now time.Time) error {
	batch := newFreshness(s.newest)
	profiled := map[uint]bool{}
	for i := range s.inv.entities {
		e := &s.inv.entities[i]
		fs := slices.Clone(s.watches.byScope[e.scope])
		if e.scope <= scopeCI {
			fs = append(fs, s.watches.profiled(e.gpu).of(e.scope, prof)...)
		}
		for part := range slices.Chunk(fs, atOnce) {
			readings, err := readEntity(e, part)
			if err != nil {
				if gone := lost(err); gone != nil {
					return gone
				}
				p.states[stateError] += len(part)
				p.note(fmt.Sprintf("values of %s %d", e.group, e.id), err)
				continue
			}
			batch.add(e, part, readings)
		}
	}
	if batch.newest > s.newest {
		s.newest, s.advanced = batch.newest, now
	}
	if age := now.Sub(s.advanced); age > frozenAfter(s.period) {
		return fmt.Errorf("the host engine answers, but no value has changed its time for %s", age.Round(time.Second))
	}
	for _, v := range batch.values {
		if s.put(p, v, batch.newest) && v.field.class == prof {
			profiled[v.entity.gpu] = true
		}
	}
	if s.cfg.Profiling {
		for _, g := range s.inv.gpus {
			p.gauge("sextant_dcgm_profiling_available", "Whether the device gave any DCGM_FI_PROF_ value. Where not, use the DEV fields.", g.labels, boolValue(profiled[g.id]))
		}
	}
	return nil
}

func readEntity(e *entity, fs []watched) ([]reading, error) {
	ids := make([]dcgm.Short, len(fs))
	for i, f := range fs {
		ids[i] = f.id
	}
	values, err := dcgm.EntityGetLatestValues(e.group, e.id, ids)
	if err != nil {
		return nil, err
	}
	out := make([]reading, len(values))
	for i := range values {
		v := &values[i]
		out[i] = decode(v.FieldID, v.FieldType, v.Status, v.TS, &v.Value)
	}
	return out, nil
}

// freshness collects readings and the newest time among them.
type freshness struct {
	values []valueOf
	newest int64
}

type valueOf struct {
	entity  *entity
	field   watched
	reading reading
}

func newFreshness(newest int64) *freshness { return &freshness{newest: newest} }

func (b *freshness) add(e *entity, fs []watched, rs []reading) {
	for i, r := range rs {
		b.values = append(b.values, valueOf{e, fs[i], r})
		if r.status == 0 && fs[i].class != event {
			b.newest = max(b.newest, r.at)
		}
	}
}

// frozenAfter is how long an engine may show the same times. A host engine that lost its
// driver goes on to answer with what it had.
func frozenAfter(period time.Duration) time.Duration { return max(5*period, 15*time.Second) }

// put adds a value's sample unless there is none, or it is stale: older than the newest of
// the engine's values by three of its own watch periods. Both times are the engine's, so
// its clock does not matter.
func (s *session) put(p *page, v valueOf, newest int64) bool {
	period := s.period
	if v.field.class == slow {
		period = rescanEvery
	}
	n, ok := v.reading.number()
	switch {
	case v.reading.status != 0:
		p.states[stateError]++
	case !ok:
		p.states[stateBlank]++
	case v.field.class != event && newest-v.reading.at > (3*period).Microseconds():
		p.states[stateStale]++
	default:
		p.states[stateOK]++
		p.add(v.field.name, v.field.help, v.field.kind, v.entity.labels, n)
		return true
	}
	return false
}
