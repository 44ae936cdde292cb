package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"
)

// Versions of the Produce API that are spoken. 7 is the first that takes zstd (Kafka 2.1),
// 8 the newest that kafka-go's version negotiation knows, and brokers 4.x still have it.
const (
	minProduceVersion = 7
	maxProduceVersion = 8
)

// maxProduceResponse bounds the answer for one partition: a broker may list each record.
const maxProduceResponse = 4 << 20

// produceRequest is one Produce to one partition that goes through kafka-go's transport as
// a fetchRequest does. RawExchange may outlive a cancelled call: a request and its
// buffers are not used again after an error.
type produceRequest struct {
	topic     string
	partition int32

	out     []byte // the whole request: head, and behind it the record batch
	in      []byte // reused for the response
	version int16  // as negotiated on the connection
	res     produceResponse
}

// produceResponse is what came back for the one partition.
type produceResponse struct {
	code    int16  // the broker's error, 0 for none
	message string // what it says beside the code, mostly empty
}

func (*produceRequest) ApiKey() protocol.ApiKey  { return protocol.Produce }
func (*produceResponse) ApiKey() protocol.ApiKey { return protocol.Produce }

// Broker routes the request to the partition's leader.
func (p *produceRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	r := produce.Request{Topics: []produce.RequestTopic{{
		Topic:      p.topic,
		Partitions: []produce.RequestPartition{{Partition: p.partition}},
	}}}
	return r.Broker(c)
}

// Required makes the transport call RawExchange.
func (p *produceRequest) Required(versions map[protocol.ApiKey]int16) bool {
	p.version = min(versions[protocol.Produce], maxProduceVersion)
	return true
}

// begin puts the head of a request to a partition into out. The batch is appended behind
// it, and end fills in what depends on its size.
func (p *produceRequest) begin(clientID, topic string, partition int32, timeout time.Duration) {
	be := binary.BigEndian
	b := p.out[:0]
	str := func(s string) { b = append(be.AppendUint16(b, uint16(len(s))), s...) }

	b = be.AppendUint32(b, 0) // size of what follows
	b = be.AppendUint16(b, uint16(protocol.Produce))
	b = be.AppendUint16(b, 0) // version, known on the connection
	b = be.AppendUint32(b, 0) // correlation id: a connection serves one request at a time
	str(clientID)

	b = be.AppendUint16(b, ^uint16(0)) // no transaction
	b = be.AppendUint16(b, ^uint16(0)) // acks: of all in-sync replicas
	b = be.AppendUint32(b, uint32(timeout/time.Millisecond))
	b = be.AppendUint32(b, 1) // topics
	str(topic)
	b = be.AppendUint32(b, 1) // partitions
	b = be.AppendUint32(b, uint32(partition))
	b = be.AppendUint32(b, 0) // size of the batch
	p.topic, p.partition, p.out = topic, partition, b
}

// end closes a request whose batch starts at offset at of out.
func (p *produceRequest) end(at int) {
	binary.BigEndian.PutUint32(p.out, uint32(len(p.out)-4))
	binary.BigEndian.PutUint32(p.out[at-4:], uint32(len(p.out)-at))
}

// RawExchange sends the request and reads its response.
func (p *produceRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if p.version < minProduceVersion {
		return nil, errTooOld
	}
	binary.BigEndian.PutUint16(p.out[6:], uint16(p.version))
	if _, err := rw.Write(p.out); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(rw, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > maxProduceResponse {
		return nil, fmt.Errorf("produce response of %d bytes exceeds %d", n, maxProduceResponse)
	}
	if cap(p.in) < n {
		p.in = make([]byte, n)
	}
	p.in = p.in[:n]
	if _, err := io.ReadFull(rw, p.in); err != nil {
		return nil, err
	}
	var err error
	if p.res, err = parseProduceResponse(p.in, p.version); err != nil {
		return nil, err
	}
	return &p.res, nil
}

var errProduceResponse = errors.New("produce response is cut off or not for one partition")

// parseProduceResponse reads a response, without its size, to a request for one partition.
func parseProduceResponse(b []byte, version int16) (produceResponse, error) {
	r := reader{b: b}
	r.skip(4) // correlation id
	if topics := r.int32(); topics != 1 {
		return produceResponse{}, errProduceResponse
	}
	r.skip(int(r.int16())) // topic name
	if partitions := r.int32(); partitions != 1 {
		return produceResponse{}, errProduceResponse
	}
	r.skip(4) // partition
	res := produceResponse{code: r.int16()}
	r.skip(8 + 8 + 8) // base offset, append time, log start
	if version >= 8 {
		first := ""
		for n := r.int32(); n > 0 && !r.short; n-- { // errors of single records
			r.skip(4)
			if s := r.nullable(); first == "" {
				first = s
			}
		}
		if res.message = r.nullable(); res.message == "" {
			res.message = first
		}
	}
	r.skip(4) // throttle time: the broker delays its answers by itself
	if r.short {
		return produceResponse{}, errProduceResponse
	}
	return res, nil
}

// nullable reads a string that may be absent.
func (r *reader) nullable() string {
	n := r.int16()
	if n < 0 {
		return ""
	}
	return string(r.take(int(n)))
}

// err is the broker's error as one of kafka-go's.
func (r *produceResponse) err() error {
	switch {
	case r.code == 0:
		return nil
	case r.message != "":
		return fmt.Errorf("%w: %s", kafka.Error(r.code), r.message)
	}
	return kafka.Error(r.code)
}

// stale says that an error may come from what the client believes about the cluster: the
// leader moved, a broker has a new address, a topic is new.
func stale(err error) bool {
	var code kafka.Error
	if !errors.As(err, &code) {
		return true // the connection's
	}
	switch code {
	case kafka.NotLeaderForPartition, kafka.LeaderNotAvailable, kafka.UnknownTopicOrPartition, kafka.KafkaStorageError,
		kafka.FencedLeaderEpoch, kafka.ListenerNotFound, kafka.NetworkException:
		return true
	}
	return false
}
