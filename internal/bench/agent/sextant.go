package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"sextant/internal/embedded/broker"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// startAgentAlone gives the agent a broker that takes connections and never answers: the
// agent scrapes and spools, and a few times a minute learns that nothing can be sent. One
// that refuses would be tried every few seconds, with a batch read from the spool each time.
func startAgentAlone(_ context.Context, dir string, targets []string, o Options) (*sink, []string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts for it
	if err != nil {
		return nil, nil, err
	}
	args, err := agentConfig(dir, l.Addr().String(), targets, o)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return &sink{delivered: nowhere.delivered, close: l.Close}, args, nil
}

// nowhere is the sink of a contender that sends nothing.
var nowhere = &sink{
	delivered: func() (int64, int64, error) { return 0, 0, nil },
	close:     func() error { return nil },
}

// startAgentKafka starts a broker in this process, and a consumer that decodes and counts
// what arrives.
func startAgentKafka(ctx context.Context, dir string, targets []string, o Options) (*sink, []string, error) {
	b, err := broker.Start(ctx, broker.Config{Dir: filepath.Join(dir, "broker"), Topics: topics.All(), Group: "bench", Logger: quiet})
	if err != nil {
		return nil, nil, err
	}
	args, err := agentConfig(dir, b.Addr(), targets, o)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	var c counter
	var done sync.WaitGroup
	done.Go(func() {
		err := kafka.Consume(ctx, kafka.Config{Brokers: []string{b.Addr()}}, kafka.ConsumerOptions{Group: "bench", Topic: topics.Samples, Logger: quiet}, c.partition)
		c.fail(err)
	})
	delivered := func() (samples, bytes int64, err error) {
		samples, _, err = c.read()
		bytes, dirErr := dirBytes(filepath.Join(dir, "broker"))
		return samples, bytes, errors.Join(err, dirErr)
	}
	return &sink{delivered: delivered, close: func() error { cancel(); done.Wait(); return b.Close() }}, args, nil
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

func agentConfig(dir, brokerAddr string, targets []string, o Options) ([]string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	own := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`node: bench
self: false
host: {enabled: false}
kafka: {brokers: [%q]}
spool: {dir: %q}
web: {listen: %q}
%s`, brokerAddr, filepath.Join(dir, "spool"), own, scrapeConfig(targets, o))
	file := filepath.Join(dir, "agent.yaml")
	return []string{"--config", file, "--log-level", "warn"}, os.WriteFile(file, []byte(text), 0o640)
}

// scrapeConfig is the same text for each contender.
func scrapeConfig(targets []string, o Options) string {
	return fmt.Sprintf(`global: {scrape_interval: %s, scrape_timeout: %s}
scrape_configs:
  - job_name: node
    static_configs: [{targets: ["%s"]}]
`, o.Interval, o.Interval, strings.Join(targets, `","`))
}

// counter counts the samples and bytes of what a contender delivered.
type counter struct {
	samples, bytes atomic.Int64
	mu             sync.Mutex
	err            error // guarded by mu: the first
}

func (c *counter) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *counter) read() (samples, bytes int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.samples.Load(), c.bytes.Load(), c.err
}

func (c *counter) partition(ctx context.Context, p *kafka.Partition) error {
	var d wire.Decoder
	for ctx.Err() == nil {
		records, err := p.Fetch(ctx)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := d.Scan(r.Value); err != nil {
				c.fail(fmt.Errorf("record %d: %w", r.Offset, err))
			}
			c.samples.Add(int64(len(d.Values)))
		}
	}
	return nil
}
