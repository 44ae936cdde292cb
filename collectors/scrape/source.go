package scrape

import (
	"context"

	"github.com/prometheus/prometheus/model/labels"
)

// A source reads a target once and adds each sample to the cache. An error means that
// nothing of the scrape is used.
type source interface {
	read(ctx context.Context, c *cache) (page, error)
	close()
}

// page says what a source read.
type page struct {
	bytes     int // of the exposition after decompression; -1 when it was too large
	badLines  int
	firstBad  string // what is wrong first: a bad line, or a collector that failed
	truncated bool   // the body ended inside a line
}

func (p page) whole() bool { return p.badLines == 0 && p.firstBad == "" && !p.truncated }

// forced is a source that always fails, for a job over its target_limit.
type forced struct{ err error }

func (f forced) read(context.Context, *cache) (page, error) { return page{}, f.err }
func (f forced) close()                                     {}

// localLabels are the labels of a target that lives in this process.
func localLabels(job, instance string) labels.Labels {
	return labels.FromStrings("instance", instance, "job", job)
}
