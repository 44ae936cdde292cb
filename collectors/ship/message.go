package ship

import (
	"sextant/collectors/spool"
	"sextant/pipeline/kafka"
	"sextant/schema/wire"
)

// messages appends a message for each item. The standing is that of this moment: when the
// record is sent again later, it says what is true then.
func (s *Shipper) messages(dst []kafka.Message, items []spool.Item) []kafka.Message {
	for _, it := range items {
		oldest, dropped := s.spool.Standing(it)
		e := wire.Envelope{
			Version: wire.EnvelopeVersion, Node: it.Node, Agent: it.Agent, Target: it.Target, Seq: it.Seq,
			Oldest: oldest, Dropped: dropped, Scrape: it.Scrape, State: it.State,
		}
		dst = append(dst, kafka.Message{
			Topic: s.opt.Topic, Key: []byte(it.Node), Value: it.Payload,
			Headers: e.AppendHeaders(make([]wire.Header, 0, 9)),
		})
	}
	return dst
}
