// Package wire is the format of telemetry between the agent and the pipeline: a Kafka
// value is one scrape of one target as a Remote-Write 2.0 request
// (io.prometheus.write.v2.Request), and the facts around it are Kafka headers.
package wire

import (
	"bytes"
	"slices"
)

// Header is one Kafka header, free of any client's type.
type Header struct {
	Key   string
	Value []byte
}

// Record is one Kafka record as it was read. Its byte slices belong to the reader and
// are valid until the next fetch.
type Record struct {
	Partition int32
	Offset    int64
	Ingest    int64 // unix ms, the broker's append time
	Key       []byte
	Headers   []Header
	Value     []byte
}

// Clone returns a copy that stays valid.
func (r *Record) Clone() Record {
	c := *r
	c.Key, c.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	c.Headers = slices.Clone(r.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = bytes.Clone(c.Headers[i].Value)
	}
	return c
}
