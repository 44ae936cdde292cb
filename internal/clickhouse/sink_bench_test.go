package clickhouse

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/pipeline"
)

// The benchmarks of inserts write the same 4 M samples, 15 k series of 100 nodes, again
// and again. The engine runs in this process, so CPU is that of both sides.
const benchScrapes = 267

// BenchmarkSinkSamples writes samples as eight partitions do, in batches of 125 k.
func BenchmarkSinkSamples(b *testing.B) {
	for _, inserts := range []int{1, 2, 3} {
		b.Run(fmt.Sprintf("inserts=%d", inserts), func(b *testing.B) {
			db := openDB(b)
			mustExec(b, db, "SYSTEM STOP MERGES {db}.samples")
			batches := benchBatches(8, 125_000)
			sink := newSink(b, db, func(c *SinkConfig) { c.Inserts = inserts; c.MaxDelay = time.Second })
			measure(b, len(batches)*125_000, func() { writeAll(b, sink, batches, 8) })
			b.ReportMetric(testutil.ToFloat64(db.metrics.inserts.WithLabelValues("samples"))/float64(b.N), "inserts/op")
		})
	}
}

// BenchmarkNativeInsert is the limit: it posts ready blocks of a million rows, sorted and
// encoded before, to the same table over the same HTTP interface.
func BenchmarkNativeInsert(b *testing.B) {
	for _, inserts := range []int{1, 2, 3} {
		b.Run(fmt.Sprintf("inserts=%d", inserts), func(b *testing.B) {
			db := openDB(b)
			mustExec(b, db, "SYSTEM STOP MERGES {db}.samples")
			blocks := benchBlocks(1_000_000)
			target := "http://" + engineAddr(b) + "/?query=" + url.QueryEscape("INSERT INTO "+db.names.Table("samples")+" (series, ts, value, flags) FORMAT Native")
			measure(b, len(blocks)*1_000_000, func() {
				var next atomic.Int64
				var wg sync.WaitGroup
				for range inserts {
					wg.Go(func() {
						for i := int(next.Add(1)) - 1; i < len(blocks); i = int(next.Add(1)) - 1 {
							post(b, target, blocks[i])
						}
					})
				}
				wg.Wait()
			})
		})
	}
}

// measure reports samples per second and the CPU of a sample.
func measure(b *testing.B, samples int, round func()) {
	b.ReportAllocs()
	b.ResetTimer()
	start, used := time.Now(), cpu()
	for range b.N {
		round()
	}
	n := float64(samples) * float64(b.N)
	b.ReportMetric(n/time.Since(start).Seconds()/1e6, "Msamples/s")
	b.ReportMetric(float64(cpu()-used)/n, "cpu-ns/sample")
}

// benchBatches are samples as partitions collect them: scrape after scrape.
func benchBatches(partitions int, rows int) []*pipeline.Batch {
	m := newMix(100, t0)
	open := make([]*pipeline.Batch, partitions)
	var full []*pipeline.Batch
	offset := int64(0)
	for range benchScrapes {
		for i := range m.nodes {
			p := i % partitions
			if open[p] == nil {
				open[p] = &pipeline.Batch{Topic: "telemetry.samples", Partition: int32(p), First: offset}
			}
			m.scrapeNode(&open[p].Samples, i)
			open[p].Last, offset = offset, offset+1
			if len(open[p].Samples.Series) >= rows {
				open[p].Samples = cut(open[p].Samples, rows)
				full, open[p] = append(full, open[p]), nil
			}
		}
		m.scrape++
	}
	return full
}

func writeAll(b *testing.B, sink *Sink, batches []*pipeline.Batch, partitions int) {
	var wg sync.WaitGroup
	for p := range partitions {
		wg.Go(func() {
			for _, batch := range batches {
				if int(batch.Partition) != p {
					continue
				}
				if err := sink.Write(context.Background(), batch); err != nil {
					b.Error(err)
				}
				batch.First++ // the next round is not a retry of this one
			}
		})
	}
	wg.Wait()
}

// benchBlocks are the same samples as sorted blocks in the Native format.
func benchBlocks(rows int) [][]byte {
	m := newMix(100, t0)
	var blocks [][]byte
	var s sampleColumns
	for range benchScrapes {
		m.scrapeAll(&s.Samples)
		if len(s.Series) >= rows {
			s.Samples = cut(s.Samples, rows)
			s.sort()
			blocks = append(blocks, nativeBlock(&s.Samples))
			s.reset()
		}
	}
	return blocks
}

func nativeBlock(s *pipeline.Samples) []byte {
	var b bytes.Buffer
	uvarint := func(v uint64) { b.Write(binary.AppendUvarint(nil, v)) }
	str := func(v string) { uvarint(uint64(len(v))); b.WriteString(v) }
	uvarint(4)
	uvarint(uint64(len(s.Series)))
	for i, data := range []any{s.Series, s.Time, s.Value, s.Flags} {
		str(samplesTable.columns[i].Name)
		str(samplesTable.columns[i].Type)
		if err := binary.Write(&b, binary.LittleEndian, data); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func post(b *testing.B, target string, body []byte) {
	res, err := http.Post(target, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		b.Errorf("status %d: %.200s, %v", res.StatusCode, answer, err)
	}
}
