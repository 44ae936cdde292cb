package kafka

import (
	"context"
	"fmt"
	"strconv"

	"sextant/schema/topics"
	"sextant/schema/wire"
)

// Headers that a dead letter has beside the record's own.
const (
	DeadReason    = "sx-dead-reason"    // why it cannot be read, in words
	DeadTopic     = "sx-dead-topic"     // where it was
	DeadPartition = "sx-dead-partition" //
	DeadOffset    = "sx-dead-offset"    //
	DeadIngest    = "sx-dead-ingest"    // unix ms, its append time there
	DeadSize      = "sx-dead-size"      // bytes of the whole value, when only a part is kept
)

const (
	maxReasonBytes = 1 << 10
	deadOverhead   = 4 << 10 // for the headers above
)

// DeadLetter returns the message that sets r, read from topic, aside with the reason. A
// record too large for the limit keeps the beginning of its value and loses its headers
// if they are what is large: a dead letter must never itself be refused for its size.
func DeadLetter(topic string, r wire.Record, reason string, limit int) Message {
	if len(reason) > maxReasonBytes {
		reason = reason[:maxReasonBytes]
	}
	text := func(k, v string) wire.Header { return wire.Header{Key: k, Value: []byte(v)} }
	dead := []wire.Header{
		text(DeadReason, reason),
		text(DeadTopic, topic),
		text(DeadPartition, strconv.FormatInt(int64(r.Partition), 10)),
		text(DeadOffset, strconv.FormatInt(r.Offset, 10)),
		text(DeadIngest, strconv.FormatInt(r.Ingest, 10)),
	}
	m := Message{Topic: topics.DeadLetter, Key: r.Key, Value: r.Value, Headers: append(dead, r.Headers...)}
	room := limit - deadOverhead
	if recordSize(&m) <= room {
		return m
	}
	m.Headers = append(dead, text(DeadSize, strconv.Itoa(len(r.Value))))
	m.Key = m.Key[:min(len(m.Key), maxReasonBytes)]
	m.Value = nil
	m.Value = r.Value[:min(len(r.Value), max(room-recordSize(&m), 0))]
	return m
}

// SendDead tries once to store the record in the dead-letter topic.
func (p *Producer) SendDead(ctx context.Context, topic string, r wire.Record, reason string) error {
	m := DeadLetter(topic, r, reason, p.opt.MaxRecordBytes)
	if err := p.Send(ctx, []Message{m})[0]; err != nil {
		return fmt.Errorf("set aside %s/%d@%d: %w", topic, r.Partition, r.Offset, err)
	}
	return nil
}
