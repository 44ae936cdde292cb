package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

// fetchVersion is the version of the Fetch API that is spoken: the newest that kafka-go's
// version negotiation knows. Brokers have it since Kafka 2.3 and 4.x still do.
const fetchVersion = 11

// Limits of one fetch.
const (
	fetchMaxWait  = 100 * time.Millisecond // the broker answers then, with what it has
	fetchMinBytes = 16 << 10               // the broker waits for so much
	fetchMaxBytes = 1 << 20                // compressed; one larger batch may still come alone
	maxResponse   = 128 << 20
)

// fetchRequest is one Fetch of one partition that goes through kafka-go's transport, which
// finds the leader and brings TLS and login, and is put on the wire and read back here.
// The transport calls RawExchange in a goroutine of its own, which may outlive a
// cancelled call: a request and its buffer are not used again after an error.
type fetchRequest struct {
	topic     string
	partition int32
	offset    int64
	clientID  string

	buf     []byte // reused for the response
	version int16  // as negotiated on the connection
	res     fetchResponse
}

// fetchResponse is what came back for the one partition.
type fetchResponse struct {
	code          int16 // the broker's error, 0 for none
	highWatermark int64
	logStart      int64
	batches       []byte // record batches, part of the request's buffer
}

func (*fetchRequest) ApiKey() protocol.ApiKey  { return protocol.Fetch }
func (*fetchResponse) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker routes the request to the partition's leader.
func (f *fetchRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	r := fetch.Request{Topics: []fetch.RequestTopic{{
		Topic:      f.topic,
		Partitions: []fetch.RequestPartition{{Partition: f.partition}},
	}}}
	return r.Broker(c)
}

// Required makes the transport call RawExchange.
func (f *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	f.version = versions[protocol.Fetch]
	return true
}

// RawExchange sends the request and reads its response. The connection serves one request
// at a time, so the correlation id carries nothing.
func (f *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if f.version != fetchVersion {
		return nil, errTooOld
	}
	f.buf = f.appendRequest(f.buf[:0])
	if _, err := rw.Write(f.buf); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(rw, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > maxResponse {
		return nil, fmt.Errorf("fetch response of %d bytes exceeds %d", n, maxResponse)
	}
	if cap(f.buf) < n {
		f.buf = make([]byte, n)
	}
	f.buf = f.buf[:n]
	if _, err := io.ReadFull(rw, f.buf); err != nil {
		return nil, err
	}
	res, err := parseFetchResponse(f.buf)
	if err != nil {
		return nil, err
	}
	f.res = res
	return &f.res, nil
}

func (f *fetchRequest) appendRequest(b []byte) []byte {
	be := binary.BigEndian
	str := func(s string) { b = append(be.AppendUint16(b, uint16(len(s))), s...) }
	const none = ^uint32(0) // -1

	b = be.AppendUint32(b, 0) // size, below
	b = be.AppendUint16(b, uint16(protocol.Fetch))
	b = be.AppendUint16(b, fetchVersion)
	b = be.AppendUint32(b, 0) // correlation id
	str(f.clientID)

	b = be.AppendUint32(b, none) // replica: a consumer
	b = be.AppendUint32(b, uint32(fetchMaxWait/time.Millisecond))
	b = be.AppendUint32(b, fetchMinBytes)
	b = be.AppendUint32(b, fetchMaxBytes)
	b = append(b, 0)             // isolation: nothing here is transactional
	b = be.AppendUint32(b, 0)    // no fetch session
	b = be.AppendUint32(b, none) // and none wanted
	b = be.AppendUint32(b, 1)    // topics
	str(f.topic)
	b = be.AppendUint32(b, 1) // partitions
	b = be.AppendUint32(b, uint32(f.partition))
	b = be.AppendUint32(b, none) // leader epoch: unknown
	b = be.AppendUint64(b, uint64(f.offset))
	b = be.AppendUint64(b, ^uint64(0)) // log start: only for replicas
	b = be.AppendUint32(b, fetchMaxBytes)
	b = be.AppendUint32(b, 0) // forgotten topics
	str("")                   // rack
	be.PutUint32(b, uint32(len(b)-4))
	return b
}

var errResponse = errors.New("fetch response is cut off or not for one partition")

// parseFetchResponse reads a response, without its size, to a request for one partition.
func parseFetchResponse(b []byte) (fetchResponse, error) {
	r := reader{b: b}
	r.skip(4 + 4) // correlation id, throttle time
	if code := r.int16(); code != 0 && !r.short {
		return fetchResponse{code: code}, nil
	}
	r.skip(4) // session
	if topics := r.int32(); topics != 1 {
		return fetchResponse{}, errResponse
	}
	r.skip(int(r.int16())) // topic name
	if partitions := r.int32(); partitions != 1 {
		return fetchResponse{}, errResponse
	}
	r.skip(4) // partition
	res := fetchResponse{code: r.int16(), highWatermark: r.int64()}
	r.skip(8) // last stable offset
	res.logStart = r.int64()
	if aborted := r.int32(); aborted > 0 {
		r.skip(16 * int(aborted))
	}
	r.skip(4) // preferred read replica
	if n := int(r.int32()); n > 0 {
		res.batches = r.take(n)
	}
	if r.short {
		return fetchResponse{}, errResponse
	}
	return res, nil
}

// err is the broker's error as one of kafka-go's.
func (r *fetchResponse) err() error {
	if r.code == 0 {
		return nil
	}
	return kafka.Error(r.code)
}

// reader reads big-endian fields; once it runs out it returns zeros and short is true.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) skip(n int) { r.take(n) }

func (r *reader) int16() int16 {
	if v := r.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *reader) int32() int32 {
	if v := r.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *reader) int64() int64 {
	if v := r.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}
