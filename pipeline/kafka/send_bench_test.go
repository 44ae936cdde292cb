package kafka_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"sextant/pipeline/kafka"
	"sextant/schema/wire"
)

// page is the request of one scrape of 1,500 series.
func page(seed uint64) []byte {
	rnd := rand.New(rand.NewPCG(seed, 4))
	var defs []wire.SeriesDef
	values := make([]float64, 1500)
	for i := range values {
		family := i / 10
		defs = append(defs, wire.SeriesDef{
			Labels: []wire.Label{
				{Name: "__name__", Value: fmt.Sprintf("node_family_%d_seconds_total", family)}, {Name: "cpu", Value: fmt.Sprint(i % 10)},
				{Name: "instance", Value: "node-17.example.com:9100"}, {Name: "job", Value: "node"},
			},
			Type: wire.TypeCounter, Unit: "seconds", Help: fmt.Sprintf("What family %d counts, in a sentence of usual length.", family),
		})
		values[i] = float64(rnd.IntN(1e9)) / 100
	}
	return wire.NewTemplate(defs).AppendAt(nil, 1_700_000_000_000, values)
}

// BenchmarkSend is a send of one page, or of eight, to the embedded broker: by the
// producer and by kafka-go's own Client.Produce. The broker's share is in both. "rare" has
// the garbage collected in between, twice, as it is between the scrapes of a quiet agent.
func BenchmarkSend(b *testing.B) {
	cfg := kafka.Config{Brokers: []string{embeddedAddr(b)}}
	topic := newTopic(b, cfg, 1, nil)
	p := newProducer(b, cfg, topic)
	transport := &kafkago.Transport{}
	b.Cleanup(transport.CloseIdleConnections)
	theirs := &kafkago.Client{Addr: kafkago.TCP(cfg.Brokers...), Transport: transport}

	headers := wire.Envelope{Version: wire.EnvelopeVersion, Node: "node-17", Agent: "0123456789abcdef", Target: "node/node-17:9100", Seq: 1, Oldest: 1, Scrape: 1}.AppendHeaders(nil)
	var msgs []kafka.Message
	for i := range 8 {
		msgs = append(msgs, kafka.Message{Key: []byte("node-17"), Value: page(uint64(i)), Headers: headers})
	}
	ours := func(msgs []kafka.Message) error { return p.Send(b.Context(), msgs)[0] }
	old := func(msgs []kafka.Message) error {
		records := make([]kafkago.Record, len(msgs))
		for i, m := range msgs {
			hs := make([]kafkago.Header, len(m.Headers))
			for k, h := range m.Headers {
				hs[k] = kafkago.Header{Key: h.Key, Value: h.Value}
			}
			records[i] = kafkago.Record{Key: kafkago.NewBytes(m.Key), Value: kafkago.NewBytes(m.Value), Headers: hs}
		}
		res, err := theirs.Produce(b.Context(), &kafkago.ProduceRequest{Topic: topic, RequiredAcks: kafkago.RequireAll, Compression: kafkago.Zstd, Records: kafkago.NewRecordReader(records...)})
		if err == nil {
			err = res.Error
		}
		return err
	}
	for _, n := range []int{1, 8} {
		for _, rare := range []bool{false, true} {
			for name, send := range map[string]func([]kafka.Message) error{"producer": ours, "kafka-go": old} {
				b.Run(fmt.Sprintf("pages=%d/rare=%t/%s", n, rare, name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if rare {
							b.StopTimer()
							runtime.GC()
							runtime.GC()
							b.StartTimer()
						}
						if err := send(msgs[:n]); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
				})
			}
		}
	}
}
