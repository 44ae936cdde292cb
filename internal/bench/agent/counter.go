package agent

import (
	"math"
	"strings"
	"sync"

	"github.com/prometheus/prometheus/model/value"
)

// counter counts what a contender delivered. It is safe for concurrent use.
type counter struct {
	mu  sync.Mutex
	got arrived // guarded by mu
	err error   // guarded by mu: the first
}

// arrived is what a sink got since its start.
type arrived struct {
	pages tally // samples of the targets' pages
	all   int64 // and with what the agent adds of itself: up, scrape_*, staleness markers
	bytes int64 // bodies or record batches, compressed
}

// payload is the samples of one request or record.
type payload struct {
	pages tally
	all   int64
}

// add counts one sample. An agent's own are told by name, and a staleness marker by its
// bits: neither was on a page.
func (p *payload) add(name string, v float64) {
	p.all++
	if name == "up" || strings.HasPrefix(name, "scrape_") || math.Float64bits(v) == value.StaleNaN {
		return
	}
	p.pages.add(name, v)
}

// payloadOf takes a payload apart, decompressed.
type payloadOf func(body []byte) (payload, error)

func (c *counter) count(p payload, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got.pages.join(p.pages)
	c.got.all += p.all
	c.got.bytes += bytes
}

func (c *counter) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *counter) read() (arrived, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got, c.err
}
