package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"sextant/internal/embedded/broker"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// sink is the other end of a contender.
type sink struct {
	addr  string // host:port
	read  func() (arrived, error)
	close func() error
}

// deaf takes connections and never answers: who sends keeps what it scraped, and learns a
// few times a minute that nothing can be sent. One that refuses would be tried every few
// seconds, with a batch read from disk each time.
func deaf() (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts for it
	if err != nil {
		return nil, err
	}
	return &sink{addr: l.Addr().String(), read: func() (arrived, error) { return arrived{}, nil }, close: l.Close}, nil
}

// kafkaSink is a broker in this process with the topic telemetry.samples, and a consumer that
// takes apart and counts what arrives there.
func kafkaSink(ctx context.Context, dir string, decode payloadOf) (*sink, error) {
	dir = filepath.Join(dir, "broker")
	b, err := broker.Start(ctx, broker.Config{Dir: dir, Topics: topics.All(), Group: "bench", Logger: quiet})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var c counter
	var done sync.WaitGroup
	done.Go(func() {
		consumer := kafka.ConsumerOptions{Group: "bench", Topic: topics.Samples, Logger: quiet}
		c.fail(kafka.Consume(ctx, kafka.Config{Brokers: []string{b.Addr()}}, consumer, c.partition(decode)))
	})
	read := func() (arrived, error) {
		got, err := c.read()
		var dirErr error
		got.bytes, dirErr = dirBytes(dir)
		return got, errors.Join(err, dirErr)
	}
	return &sink{addr: b.Addr(), read: read, close: func() error { cancel(); done.Wait(); return b.Close() }}, nil
}

// partition counts the records of one. What they weigh, compressed, only the broker knows.
func (c *counter) partition(decode payloadOf) kafka.Run {
	return func(ctx context.Context, p *kafka.Partition) error {
		for ctx.Err() == nil {
			records, err := p.Fetch(ctx)
			if err != nil {
				return err
			}
			for _, r := range records {
				got, err := decode(r.Value)
				if err != nil {
					c.fail(fmt.Errorf("record %d: %w", r.Offset, err))
				}
				c.count(got, 0)
			}
		}
		return nil
	}
}

// dirBytes is the size of the files in dir. A broker's log is the batches as they came.
func dirBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// writeSink is an HTTP server that takes Remote-Write, either version, snappy or zstd, and
// counts and forgets it.
func writeSink() (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &counter{}
	srv := &http.Server{Handler: http.HandlerFunc(c.write)}
	var done sync.WaitGroup
	done.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			c.fail(err)
		}
	})
	return &sink{addr: l.Addr().String(), read: c.read, close: func() error { defer done.Wait(); return srv.Close() }}, nil
}

// write answers one Remote-Write request.
func (c *counter) write(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	bytes := int64(len(body))
	if err == nil {
		body, err = unpack(r.Header.Get("Content-Encoding"), body)
	}
	var got payload
	if err == nil {
		decode := write1
		if r.Header.Get("X-Prometheus-Remote-Write-Version") == "2.0.0" {
			decode = write2
		}
		got, err = decode(body)
	}
	if err != nil {
		c.fail(err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.count(got, bytes)
	w.Header().Set("X-Prometheus-Remote-Write-Samples-Written", strconv.FormatInt(got.all, 10))
	w.Header().Set("X-Prometheus-Remote-Write-Histograms-Written", "0")
	w.Header().Set("X-Prometheus-Remote-Write-Exemplars-Written", "0")
	w.WriteHeader(http.StatusNoContent)
}

var unzstd = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return d
}()

func unpack(encoding string, body []byte) ([]byte, error) {
	switch encoding {
	case "snappy":
		return snappy.Decode(nil, body)
	case "zstd":
		return unzstd.DecodeAll(body, nil)
	}
	return nil, fmt.Errorf("content encoding %q, want snappy or zstd", encoding)
}
