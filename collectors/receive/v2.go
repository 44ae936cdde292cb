package receive

import (
	"math/bits"

	"github.com/zeebo/xxh3"

	"sextant/schema/wire"
)

// decoderV2 gives the series of a 2.0 request a key. The wire decoder reads labels of
// series that are new; here it is enough to hash each symbol once, and then the hashes
// instead of the texts.
type decoderV2 struct {
	wire.Decoder
	b       []byte
	indexed bool
	series  []field // of the request
	symbols []xxh3.Uint128
}

func (d *decoderV2) scan(b []byte) error {
	d.b, d.indexed = b, false
	return d.Scan(b)
}

// index finds the series and hashes the symbols of a request that Scan has taken.
func (d *decoderV2) index() {
	d.indexed = true
	d.series, d.symbols = d.series[:0], d.symbols[:0]
	for p := 0; p < len(d.b); {
		f, err := next(d.b, p)
		if err != nil {
			panic("BUG: a request that was scanned does not parse: " + err.Error())
		}
		switch f.tag {
		case outSymbol:
			d.symbols = append(d.symbols, xxh3.Hash128Seed(d.b[f.start:f.end], d.Seed))
		case outSeries:
			d.series = append(d.series, f)
		}
		p = f.end
	}
}

// keyOf is the state of a key that is being made.
type keyOf [2]uint64

// add takes in the next word. The words are hashes under a seed that senders do not know,
// so a cheap mixture keeps their distance.
func (k *keyOf) add(hi, lo uint64) {
	k[0] = (bits.RotateLeft64(k[0], 29) ^ hi) * 0x9e3779b97f4a7c15
	k[1] = (bits.RotateLeft64(k[1], 37) ^ lo) * 0xc2b2ae3d27d4eb4f
}

func (d *decoderV2) key(i int) ([2]uint64, error) {
	if !d.indexed {
		d.index()
	}
	var k keyOf
	s := d.series[i]
	for b, p := d.b[:s.end], s.start; p < s.end; {
		f, err := next(b, p)
		if err != nil {
			return [2]uint64{}, err
		}
		switch f.tag {
		case outRefs:
			err = d.addRefs(&k, b[:f.end], f.start)
		case outRefs&^7 | wireVarint: // one reference outside a packed list
			err = d.addRefs(&k, b[:f.end], f.start)
		case outMetadata:
			d.addMeta(&k, b[f.start:f.end])
		}
		if err != nil {
			return [2]uint64{}, err
		}
		p = f.end
	}
	return k, nil
}

// addRefs takes in the symbols to which b[p:] refers.
func (d *decoderV2) addRefs(k *keyOf, b []byte, p int) error {
	for p < len(b) {
		var ref uint64
		if b[p] < 0x80 {
			ref, p = uint64(b[p]), p+1
		} else {
			var err error
			if ref, p, err = uvarint(b, p); err != nil {
				return err
			}
		}
		if ref < uint64(len(d.symbols)) {
			k.add(d.symbols[ref].Hi, d.symbols[ref].Lo)
		} else {
			k.add(ref, 1) // Labels refuses it
		}
	}
	return nil
}

// addMeta takes in a metadata message. One that says nothing leaves the key as it is.
func (d *decoderV2) addMeta(k *keyOf, b []byte) {
	for p := 0; p < len(b); {
		f, err := next(b, p)
		if err != nil {
			k.add(0, 2) // Meta reads up to here
			return
		}
		if f.tag&7 == wireVarint {
			v, _, _ := uvarint(b, f.start) // next has read it
			switch {
			case v == 0:
			case f.tag != outType && v < uint64(len(d.symbols)):
				k.add(d.symbols[v].Hi^f.tag, d.symbols[v].Lo)
			default:
				k.add(v^f.tag<<56, 3)
			}
		}
		p = f.end
	}
}
