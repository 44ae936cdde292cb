package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// batch returns n records from offset base as kafka-go encodes them.
func batch(t testing.TB, base int64, n int, codec kafka.Compression) []byte {
	t.Helper()
	var recs []protocol.Record
	for i := range n {
		recs = append(recs, protocol.Record{
			Time: time.UnixMilli(1_000_000 + int64(i)), Key: protocol.NewBytes([]byte("n1")),
			Value:   protocol.NewBytes([]byte(fmt.Sprintf("value %d", base+int64(i)))),
			Headers: []protocol.Header{{Key: "sx-v", Value: []byte("1")}, {Key: "sx-seq", Value: []byte(fmt.Sprint(i))}},
		})
	}
	var buf bytes.Buffer
	rs := protocol.RecordSet{Version: 2, Attributes: protocol.Attributes(codec), Records: protocol.NewRecordReader(recs...)}
	if _, err := rs.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()[4:] // without the size of the set
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(base))
	return b
}

// resum makes the checksum right after a change.
func resum(b []byte) []byte {
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
	return b
}

func values(p *page) (out []string) {
	for _, r := range p.records {
		out = append(out, fmt.Sprintf("%d@%d %s", r.Offset, r.Ingest, r.Value))
	}
	return out
}

func TestDecodeEveryCodec(t *testing.T) {
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		var (
			d decoder
			p page
		)
		for range 2 { // the second time with used buffers
			next, err := d.decode(&p, append(batch(t, 10, 3, codec), batch(t, 13, 2, codec)...), 4, 11)
			if err != nil || next != 15 {
				t.Fatalf("%s: next %d, %v", codec, next, err)
			}
			want := "[11@1000001 value 11 12@1000002 value 12 13@1000000 value 13 14@1000001 value 14]"
			if got := fmt.Sprint(values(&p)); got != want {
				t.Errorf("%s: %s\nwant %s", codec, got, want)
			}
		}
		r := p.records[0]
		if r.Partition != 4 || string(r.Key) != "n1" || len(r.Headers) != 2 || r.Headers[1].Key != "sx-seq" || string(r.Headers[1].Value) != "1" {
			t.Errorf("%s: %+v", codec, r)
		}
	}
}

func TestAppendTimeOverridesTheProducers(t *testing.T) {
	b := batch(t, 0, 2, kafka.Zstd)
	b[atAttributes+1] |= attrAppendTime
	binary.BigEndian.PutUint64(b[atMaxTime:], 42)
	var (
		d decoder
		p page
	)
	if _, err := d.decode(&p, resum(b), 0, 0); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(values(&p)); got != "[0@42 value 0 1@42 value 1]" {
		t.Error(got)
	}
}

func TestDecodeStopsWhereItMust(t *testing.T) {
	good := batch(t, 5, 2, 0)
	control := batch(t, 7, 1, 0)
	control[atAttributes+1] |= attrControl
	resum(control)
	flipped := batch(t, 7, 3, kafka.Zstd)
	flipped[len(flipped)-1] ^= 1
	old := batch(t, 7, 3, 0)
	old[atMagic] = 1
	many := batch(t, 7, 3, 0)
	binary.BigEndian.PutUint32(many[atRecordCount:], 1<<30)
	short := batch(t, 7, 3, 0)
	binary.BigEndian.PutUint32(short[atLength:], 10)

	for _, c := range []struct {
		name    string
		in      []byte
		records int
		next    int64
		corrupt int64 // first offset behind the corrupt batch; 0 for none
	}{
		{"nothing", nil, 0, 5, 0},
		{"half a header", good[:30], 0, 5, 0},
		{"cut off by the fetch limit", append(bytes.Clone(good), good[:len(good)-1]...), 2, 7, 0},
		{"a transaction marker", append(bytes.Clone(good), control...), 2, 8, 0},
		{"a flipped bit", append(bytes.Clone(good), flipped...), 2, 7, 10},
		{"an old format", append(bytes.Clone(good), old...), 2, 7, 10},
		{"more records than bytes", append(bytes.Clone(good), resum(many)...), 2, 7, 10},
		{"a batch shorter than its header", append(bytes.Clone(good), short...), 2, 7, 8},
	} {
		var (
			d   decoder
			p   page
			bad *corruptError
		)
		next, err := d.decode(&p, c.in, 0, 5)
		if len(p.records) != c.records || next != c.next {
			t.Errorf("%s: %d records and next %d, want %d and %d", c.name, len(p.records), next, c.records, c.next)
		}
		if errors.As(err, &bad) != (c.corrupt != 0) || (bad != nil && (bad.Next != c.corrupt || bad.From != c.next)) {
			t.Errorf("%s: error %v, want corrupt up to %d", c.name, err, c.corrupt)
		}
	}
}

// Thousands of small batches are what many agents that send alone leave behind. Once the
// page has grown, reading them allocates nothing.
func TestDecodeDoesNotAllocate(t *testing.T) {
	var in []byte
	for i := range 2000 {
		in = append(in, batch(t, int64(i), 1, kafka.Zstd)...)
	}
	var (
		d decoder
		p page
	)
	decode := func() {
		if _, err := d.decode(&p, in, 0, 0); err != nil || len(p.records) != 2000 {
			t.Fatal(err, len(p.records))
		}
	}
	decode()
	decode()
	if n := testing.AllocsPerRun(5, decode); n > 5 {
		t.Errorf("%.0f allocations for 2000 batches", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		f.Add(batch(f, 3, 2, codec), int64(0))
		f.Add(append(batch(f, 3, 2, codec), batch(f, 5, 1, codec)...), int64(4))
	}
	f.Fuzz(func(t *testing.T, b []byte, want int64) {
		if len(b) >= headerSize {
			// The fuzzer cannot guess checksums.
			if size := int(binary.BigEndian.Uint32(b[atLength:])) + lengthOverhead; size >= headerSize && size <= len(b) {
				resum(b[:size])
			}
		}
		var (
			d decoder
			p page
		)
		next, err := d.decode(&p, b, 0, want)
		if next < want {
			t.Errorf("next %d is below %d", next, want)
		}
		var bad *corruptError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("error %v says no range", err)
		}
		for _, r := range p.records {
			if r.Offset < want {
				t.Errorf("offset %d was not asked for", r.Offset)
			}
		}
	})
}

func FuzzParseFetchResponse(f *testing.F) {
	f.Add(fetchResponseBytes(batch(f, 0, 2, 0), 0))
	f.Add(fetchResponseBytes(nil, 6))
	f.Fuzz(func(t *testing.T, b []byte) {
		res, err := parseFetchResponse(b)
		if err == nil && len(res.batches) > len(b) {
			t.Error("more bytes than there are")
		}
	})
}

// fetchResponseBytes is a response for one partition, written field by field.
func fetchResponseBytes(batches []byte, code int16) []byte {
	be := binary.BigEndian
	b := make([]byte, 8)                   // correlation id, throttle time
	b = append(b, 0, 0, 0, 0, 0, 0)        // error, session
	b = be.AppendUint32(b, 1)              // topics
	b = append(be.AppendUint16(b, 1), 't') //
	b = be.AppendUint32(b, 1)              // partitions
	b = be.AppendUint32(b, 3)              // partition
	b = be.AppendUint16(b, uint16(code))   //
	b = be.AppendUint64(b, 99)             // high watermark
	b = be.AppendUint64(b, 98)             // last stable offset
	b = be.AppendUint64(b, 7)              // log start
	b = be.AppendUint32(b, 1)              // aborted transactions
	b = append(b, make([]byte, 16)...)     //
	b = be.AppendUint32(b, ^uint32(0))     // preferred replica
	b = be.AppendUint32(b, uint32(len(batches)))
	return append(b, batches...)
}

func TestParseFetchResponse(t *testing.T) {
	in := fetchResponseBytes([]byte("batches"), 6)
	res, err := parseFetchResponse(in)
	if err != nil || res.highWatermark != 99 || res.logStart != 7 || string(res.batches) != "batches" || !errors.Is(res.err(), kafka.NotLeaderForPartition) {
		t.Errorf("%+v, %v", res, err)
	}
	for i := range in {
		if _, err := parseFetchResponse(in[:i]); err == nil {
			t.Errorf("a response cut off at byte %d is accepted", i)
		}
	}
}
