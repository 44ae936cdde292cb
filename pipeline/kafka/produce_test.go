package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A request is what franz-go's generated decoder reads as one.
func TestProduceRequestIsRead(t *testing.T) {
	for _, version := range []int16{7, 8} {
		var p produceRequest
		for range 2 { // the second time in used buffers
			p.begin("agent", "telemetry.samples", 3, 1500*time.Millisecond)
			at := len(p.out)
			p.out = append(p.out, "the batch"...)
			p.end(at)
		}
		req := kmsg.NewPtrProduceRequest()
		req.Version = version
		r := reader{b: p.out}
		if n := r.int32(); int(n) != len(p.out)-4 {
			t.Errorf("size %d of %d bytes", n, len(p.out))
		}
		if key := r.int16(); key != req.Key() {
			t.Errorf("key %d", key)
		}
		r.skip(2 + 4)
		if id := r.nullable(); id != "agent" {
			t.Errorf("client %q", id)
		}
		if err := req.ReadFrom(r.b); err != nil {
			t.Fatal(err)
		}
		if req.TransactionID != nil || req.Acks != -1 || req.TimeoutMillis != 1500 || len(req.Topics) != 1 || req.Topics[0].Topic != "telemetry.samples" ||
			len(req.Topics[0].Partitions) != 1 || req.Topics[0].Partitions[0].Partition != 3 || string(req.Topics[0].Partitions[0].Records) != "the batch" {
			t.Errorf("%+v", req)
		}
	}
}

// produceResponseBytes is a response as franz-go writes it, behind a correlation id.
func produceResponseBytes(version int16, code int16, message string, records ...string) []byte {
	res := kmsg.NewPtrProduceResponse()
	res.Version = version
	part := kmsg.NewProduceResponseTopicPartition()
	part.Partition, part.ErrorCode, part.BaseOffset = 3, code, 12
	if message != "" {
		part.ErrorMessage = &message
	}
	for i, r := range records {
		e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		e.RelativeOffset, e.ErrorMessage = int32(i), &r
		part.ErrorRecords = append(part.ErrorRecords, e)
	}
	topic := kmsg.NewProduceResponseTopic()
	topic.Topic, topic.Partitions = "t", append(topic.Partitions, part)
	res.Topics = append(res.Topics, topic)
	return res.AppendTo([]byte{0, 0, 0, 0})
}

func TestParseProduceResponse(t *testing.T) {
	for _, c := range []struct {
		version, code int16
		message, want string
		records       []string
	}{
		{7, 0, "", "", nil},
		{8, 0, "", "", nil},
		{8, 87, "one is bad", "one is bad", []string{"no key", "no time"}},
		{8, 87, "", "no key", []string{"no key", "no time"}},
	} {
		in := produceResponseBytes(c.version, c.code, c.message, c.records...)
		res, err := parseProduceResponse(in, c.version)
		if err != nil || res.code != c.code || res.message != c.want {
			t.Errorf("version %d: %+v, %v", c.version, res, err)
		}
		for i := range in {
			if _, err := parseProduceResponse(in[:i], c.version); err == nil {
				t.Errorf("version %d: a response cut off at byte %d is accepted", c.version, i)
			}
		}
	}
	if _, err := parseProduceResponse(kmsg.NewPtrProduceResponse().AppendTo([]byte{0, 0, 0, 0}), 7); err == nil {
		t.Error("a response for no partition is accepted")
	}
}

func TestProduceErrors(t *testing.T) {
	for _, c := range []struct {
		code         int16
		large, stale bool
	}{
		{int16(kafka.MessageSizeTooLarge), true, false},
		{int16(kafka.RecordListTooLarge), true, false},
		{int16(kafka.NotLeaderForPartition), false, true},
		{int16(kafka.UnknownTopicOrPartition), false, true},
		{int16(kafka.RequestTimedOut), false, false},
		{int16(kafka.NotEnoughReplicas), false, false},
	} {
		err := (&produceResponse{code: c.code, message: "said"}).err()
		if tooLarge(err) != c.large || stale(err) != c.stale || !errors.Is(err, kafka.Error(c.code)) {
			t.Errorf("%v: too large %t, stale %t", err, tooLarge(err), stale(err))
		}
	}
	if !stale(errors.New("connection refused")) {
		t.Error("a lost connection does not make the client look again")
	}
}

func FuzzParseProduceResponse(f *testing.F) {
	f.Add(produceResponseBytes(7, 0, ""), int16(7))
	f.Add(produceResponseBytes(8, 87, "bad", "one", "two"), int16(8))
	f.Fuzz(func(t *testing.T, b []byte, version int16) {
		res, err := parseProduceResponse(b, version)
		if err == nil && len(res.message) > len(b) {
			t.Error("more bytes than there are")
		}
	})
}
