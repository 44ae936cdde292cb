package kafka

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sextant/schema/wire"
)

func newBuilder(t testing.TB) *batchBuilder {
	t.Helper()
	c, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	return &batchBuilder{pack: c}
}

// all are the indices of msgs.
func all(msgs []Message) []int {
	idx := make([]int, len(msgs))
	for i := range idx {
		idx[i] = i
	}
	return idx
}

func envelope(seq int) []wire.Header {
	return wire.Envelope{
		Version: wire.EnvelopeVersion, Node: "node-17", Agent: "0123456789abcdef", Target: "node/node-17:9100",
		Seq: uint64(seq), Oldest: 1, Scrape: 1_700_000_000_000,
	}.AppendHeaders(nil)
}

// random returns n messages that do not compress: keys, values and headers of any length,
// empty and nil ones among them.
func random(n int) []Message {
	rnd := rand.NewChaCha8([32]byte{7})
	r := rand.New(rnd)
	blob := func(most int) []byte {
		if r.IntN(8) == 0 {
			return nil
		}
		b := make([]byte, r.IntN(most))
		rnd.Read(b)
		return b
	}
	msgs := make([]Message, n)
	for i := range msgs {
		msgs[i] = Message{Key: blob(40), Value: blob(20_000)}
		for range r.IntN(12) {
			msgs[i].Headers = append(msgs[i].Headers, wire.Header{Key: hex.EncodeToString(blob(80)), Value: blob(200)})
		}
	}
	return msgs
}

// The bytes of a small batch, field by field as the protocol has them.
func TestBatchGolden(t *testing.T) {
	msgs := []Message{{Key: []byte("n1"), Value: []byte("v"), Headers: []wire.Header{{Key: "h", Value: []byte("x")}, {Key: "e"}}}, {Value: []byte{}}}
	got := newBuilder(t).append([]byte("head"), msgs, all(msgs), time.UnixMilli(1_700_000_000_123))
	const want = "68656164" + // what was there before
		"0000000000000000" + "00000049" + "ffffffff" + "02" + "6899d104" + // offset, length, epoch, format, checksum
		"0000" + "00000001" + "0000018bcfe5687b" + "0000018bcfe5687b" + // no codec: it does not shrink
		"ffffffffffffffff" + "ffff" + "ffffffff" + "00000002" +
		"20" + "00" + "00" + "00" + "046e31" + "0276" + "04" + "0268" + "0278" + "0265" + "01" +
		"0c" + "00" + "00" + "02" + "01" + "00" + "00"
	if hex.EncodeToString(got) != want {
		t.Errorf("batch is\n%x, want\n%s", got, want)
	}
}

// Uncompressed batches are kafka-go's and franz-go's, byte for byte.
func TestBatchIsThatOfOtherClients(t *testing.T) {
	msgs := random(50)
	now := time.UnixMilli(1_700_000_000_123)
	got := newBuilder(t).append(nil, msgs, all(msgs), now)

	var recs []protocol.Record
	var records []byte
	for k, m := range msgs {
		var headers []protocol.Header
		rec := kmsg.Record{OffsetDelta: int32(k), Key: m.Key, Value: m.Value}
		for _, h := range m.Headers {
			headers = append(headers, protocol.Header{Key: h.Key, Value: h.Value})
			rec.Headers = append(rec.Headers, kmsg.Header{Key: h.Key, Value: h.Value})
		}
		recs = append(recs, protocol.Record{Time: now, Key: protocol.NewBytes(m.Key), Value: protocol.NewBytes(m.Value), Headers: headers})
		rec.Length = int32(len(rec.AppendTo(nil)) - 1) // the length 0 takes one byte
		records = rec.AppendTo(records)
	}
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(msgs) - 1), FirstTimestamp: now.UnixMilli(), MaxTimestamp: now.UnixMilli(),
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(msgs)), Records: records,
	}
	b.Length = int32(len(b.AppendTo(nil)) - lengthOverhead)
	b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[atAttributes:], castagnoli))
	if want := b.AppendTo(nil); !bytes.Equal(got, want) {
		t.Error("not the bytes of franz-go")
	}

	var buf bytes.Buffer
	rs := protocol.RecordSet{Version: 2, Records: protocol.NewRecordReader(recs...)}
	if _, err := rs.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	theirs := buf.Bytes()[4:]
	binary.BigEndian.PutUint32(theirs[atLeaderEpoch:], math.MaxUint32) // kafka-go says 0, Kafka's own client -1
	if !bytes.Equal(got, theirs) {
		t.Error("not the bytes of kafka-go")
	}
}

// A compressed batch is a zstd frame of the same records, read by franz-go's types and by
// another decoder than ours.
func TestCompressedBatchIsReadByOthers(t *testing.T) {
	var msgs []Message
	for i := range 40 {
		msgs = append(msgs, Message{Key: []byte("node-17"), Value: bytes.Repeat([]byte(fmt.Sprintf("series %d ", i)), 3000), Headers: envelope(i)})
	}
	in := newBuilder(t).append(nil, msgs, all(msgs), time.UnixMilli(1_700_000_000_123))
	var b kmsg.RecordBatch
	if err := b.ReadFrom(in); err != nil {
		t.Fatal(err)
	}
	if b.Attributes != 4 || int(b.NumRecords) != len(msgs) || uint32(b.CRC) != crc32.Checksum(in[atAttributes:], castagnoli) || int(b.Length) != len(in)-lengthOverhead {
		t.Fatalf("%+v", b)
	}
	z, err := zstd.NewReader(bytes.NewReader(b.Records))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	rest := raw.Bytes()
	for i := range msgs {
		size, n := binary.Varint(rest)
		var r kmsg.Record
		if err := r.ReadFrom(rest[:n+int(size)]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n+int(size):]
		if int(r.OffsetDelta) != i || !bytes.Equal(r.Value, msgs[i].Value) || len(r.Headers) != len(msgs[i].Headers) || string(r.Headers[4].Value) != fmt.Sprint(i) {
			t.Fatalf("record %d: %d headers, value of %d bytes", i, len(r.Headers), len(r.Value))
		}
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes behind the records", len(rest))
	}
}

func TestBatchDoesNotAllocate(t *testing.T) {
	msgs := []Message{{Key: []byte("n"), Value: bytes.Repeat([]byte("value "), 20_000), Headers: envelope(1)}}
	b, idx, out := newBuilder(t), []int{0}, []byte(nil)
	build := func() { out = b.append(out[:0], msgs, idx, time.UnixMilli(1)) }
	build()
	if n := testing.AllocsPerRun(20, build); n != 0 {
		t.Errorf("%.0f allocations for a batch", n)
	}
}

func FuzzBatchRoundTrip(f *testing.F) {
	f.Add([]byte("n1"), []byte("value"), "sx-v", []byte("1"), uint8(3), uint8(0))
	f.Add([]byte(nil), []byte{}, "", []byte(nil), uint8(1), uint8(200))
	f.Add([]byte("k"), bytes.Repeat([]byte("abc"), 10_000), "h", []byte("v"), uint8(9), uint8(9))
	build := newBuilder(f)
	f.Fuzz(func(t *testing.T, key, value []byte, name string, header []byte, records, headers uint8) {
		msgs := make([]Message, int(records)+1)
		for i := range msgs {
			msgs[i] = Message{Key: key, Value: value[:len(value)*i/len(msgs)]}
			for range int(headers) * i / len(msgs) {
				msgs[i].Headers = append(msgs[i].Headers, wire.Header{Key: name, Value: header})
			}
		}
		in := build.append(nil, msgs, all(msgs), time.UnixMilli(42))
		var (
			d decoder
			p page
		)
		if next, err := d.decode(&p, in, 5, 0); err != nil || next != int64(len(msgs)) || len(p.records) != len(msgs) {
			t.Fatalf("%d records, next %d: %v", len(p.records), next, err)
		}
		for i, r := range p.records {
			m := msgs[i]
			if r.Offset != int64(i) || r.Ingest != 42 || !same(r.Key, m.Key) || !same(r.Value, m.Value) || len(r.Headers) != len(m.Headers) {
				t.Fatalf("record %d is %+v, was %+v", i, r, m)
			}
			for k, h := range r.Headers {
				if h.Key != name || !same(h.Value, header) {
					t.Fatalf("header %d of record %d is %+v", k, i, h)
				}
			}
		}
	})
}

// same tells nil from empty, as a record does.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// BenchmarkBatch builds the batch of one page of metrics: ours, and kafka-go's.
func BenchmarkBatch(b *testing.B) {
	value := make([]byte, 0, 100_000)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(value) < 100_000; i++ { // text that repeats, and doubles that do not
		value = append(value, fmt.Sprintf("node_family_%d_seconds_total", i/10)...)
		value = binary.LittleEndian.AppendUint64(value, math.Float64bits(float64(rnd.IntN(1e9))/100))
	}
	m := Message{Key: []byte("node-17"), Value: value, Headers: envelope(1)}
	b.Run("ours", func(b *testing.B) {
		build, out := newBuilder(b), []byte(nil)
		b.ReportAllocs()
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			out = build.append(out[:0], []Message{m}, []int{0}, time.UnixMilli(1))
		}
		b.ReportMetric(float64(len(out)), "B/batch")
	})
	b.Run("kafka-go", func(b *testing.B) {
		var out bytes.Buffer
		b.ReportAllocs()
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			out.Reset()
			headers := make([]protocol.Header, len(m.Headers))
			for i, h := range m.Headers {
				headers[i] = protocol.Header{Key: h.Key, Value: h.Value}
			}
			rs := protocol.RecordSet{Version: 2, Attributes: protocol.Zstd, Records: protocol.NewRecordReader(protocol.Record{
				Time: time.UnixMilli(1), Key: protocol.NewBytes(m.Key), Value: protocol.NewBytes(m.Value), Headers: headers})}
			if _, err := rs.WriteTo(&out); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(out.Len()), "B/batch")
	})
}

// What a producer holds between two sends, after the largest batch: buffers and encoder.
func TestSenderStaysSmall(t *testing.T) {
	var msgs []Message
	for range 10 {
		value := make([]byte, 100_000)
		for i := range value {
			value[i] = byte(i*i>>9) ^ byte(i)
		}
		msgs = append(msgs, Message{Key: []byte("n"), Value: value})
	}
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the second empties the pools of the first
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	b := newBuilder(t)
	out := b.append(nil, msgs, all(msgs), time.UnixMilli(1))
	took := inUse() - before
	runtime.KeepAlive(b)
	runtime.KeepAlive(msgs)
	t.Logf("%d bytes beside a batch of %d", took-int64(cap(out)), len(out))
	if took-int64(cap(out)) > 4<<20 {
		t.Errorf("a batch builder holds %d bytes", took-int64(cap(out)))
	}
}
