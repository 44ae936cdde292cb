package broker

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sextant/schema/topics"
)

// guard puts the broker's own rules in front of kfake's handlers. The functions run in
// kfake's one loop, one request at a time.
func (b *Broker) guard() {
	b.cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		return always(b.cluster, b.produce(r.(*kmsg.ProduceRequest)))
	})
	b.cluster.ControlKey(int16(kmsg.CreateTopics), func(r kmsg.Request) (kmsg.Response, error, bool) {
		safeTopics(r.(*kmsg.CreateTopicsRequest))
		return always(b.cluster, nil)
	})
	b.cluster.ControlKey(int16(kmsg.AlterConfigs), func(r kmsg.Request) (kmsg.Response, error, bool) {
		return always(b.cluster, refuseAlter(r.(*kmsg.AlterConfigsRequest)))
	})
	b.cluster.ControlKey(int16(kmsg.IncrementalAlterConfigs), func(r kmsg.Request) (kmsg.Response, error, bool) {
		return always(b.cluster, refuseIncrementalAlter(r.(*kmsg.IncrementalAlterConfigsRequest)))
	})
}

// always answers with resp, or lets kfake answer if it is nil, and stays for the next
// request.
func always(c *kfake.Cluster, resp kmsg.Response) (kmsg.Response, error, bool) {
	c.KeepControl()
	return resp, nil, resp != nil
}

// produce refuses records while the disk cap is reached, with an error that clients
// retry, and gives the others the time of their append.
//
// It refuses all once the broker closes. After its last snapshot kfake may pick one more request
// before it sees that it is to end, and would acknowledge records that are behind the sizes in
// the snapshot: the next start would take them for absent and write over the place where it looks.
func (b *Broker) produce(req *kmsg.ProduceRequest) kmsg.Response {
	if b.closing.Load() {
		return refuseProduce(req, "the embedded broker is closing")
	}
	var bytes int64
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			bytes += int64(len(p.Records))
		}
	}
	over := b.used.Load()+bytes > b.cfg.MaxBytes
	if over != b.full.Swap(over) {
		b.turn(over)
	}
	if over {
		b.metrics.refused.Inc()
		return refuseProduce(req, "the embedded broker has reached its disk cap")
	}
	b.used.Add(bytes)
	now := time.Now().UnixMilli()
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			stampAppendTime(p.Records, now)
		}
	}
	return nil
}

func (b *Broker) turn(full bool) {
	if full {
		b.log.Warn("disk cap reached: refusing records until the consumer has caught up",
			"bytes", b.used.Load(), "cap", b.cfg.MaxBytes)
		return
	}
	b.log.Info("below the disk cap: taking records again")
}

func refuseProduce(req *kmsg.ProduceRequest, why string) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, kerr.KafkaStorageError.Code
			rp.ErrorMessage = &why
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// The parts of a record batch that stampAppendTime reads and writes.
const (
	atCRC        = 17
	atAttributes = 21
	atFirstTime  = 27
	atMaxTime    = 35
	batchHeader  = 61
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stampAppendTime moves the timestamps of a batch so that its newest is now (unix ms). A
// producer of ours gives all records of a batch the same time, so all then carry the time
// of their append, as the topic's message.timestamp.type says. A record of another
// producer keeps its distance to the newest of its batch.
//
// kfake knows that topic setting and does not act on it. It does act on the attribute that
// a broker sets beside append times, but then changes the timestamps and leaves the
// checksum, and its own restart would drop the batch as damaged.
func stampAppendTime(batch []byte, now int64) {
	if len(batch) < batchHeader {
		return
	}
	sum := batch[atCRC:atAttributes]
	if binary.BigEndian.Uint32(sum) != crc32.Checksum(batch[atAttributes:], castagnoli) {
		return // damaged on the way: kfake refuses it
	}
	first, newest := batch[atFirstTime:atMaxTime], batch[atMaxTime:atMaxTime+8]
	span := int64(binary.BigEndian.Uint64(newest)) - int64(binary.BigEndian.Uint64(first))
	binary.BigEndian.PutUint64(first, uint64(now-span))
	binary.BigEndian.PutUint64(newest, uint64(now))
	binary.BigEndian.PutUint32(sum, crc32.Checksum(batch[atAttributes:], castagnoli))
}

// safeTopics replaces the settings of topics that a client creates by this broker's own.
func safeTopics(req *kmsg.CreateTopicsRequest) {
	for i := range req.Topics {
		t := &req.Topics[i]
		asked := topics.Topic{Config: map[string]string{"message.timestamp.type": "LogAppendTime"}}
		for _, c := range t.Configs {
			if c.Value != nil {
				asked.Config[c.Name] = *c.Value
			}
		}
		t.ReplicationFactor = 1
		t.Configs = nil
		for k, v := range ownSettings(asked) {
			if v == "" {
				continue
			}
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = k, kmsg.StringPtr(v)
			t.Configs = append(t.Configs, c)
		}
	}
}

// whyRefused is what an operator reads who applies topic definitions to this broker.
const whyRefused = "the embedded broker keeps its own settings: its records stay until they are consumed"

func refuseAlter(req *kmsg.AlterConfigsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	for _, r := range req.Resources {
		out := kmsg.NewAlterConfigsResponseResource()
		out.ErrorCode, out.ErrorMessage = kerr.PolicyViolation.Code, kmsg.StringPtr(whyRefused)
		out.ResourceType, out.ResourceName = r.ResourceType, r.ResourceName
		resp.Resources = append(resp.Resources, out)
	}
	return resp
}

func refuseIncrementalAlter(req *kmsg.IncrementalAlterConfigsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for _, r := range req.Resources {
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ErrorCode, out.ErrorMessage = kerr.PolicyViolation.Code, kmsg.StringPtr(whyRefused)
		out.ResourceType, out.ResourceName = r.ResourceType, r.ResourceName
		resp.Resources = append(resp.Resources, out)
	}
	return resp
}
