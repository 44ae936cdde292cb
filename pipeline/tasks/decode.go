package tasks

import (
	"bytes"
	"fmt"
	"slices"

	schema "sextant/schema/tasks"
	"sextant/schema/wire"
)

// Decode reads one record, at the broker's time. Every error is permanent. The row holds
// nothing of the record. The key is the sender's business: it decides the partition, and
// what a task is does not depend on the order of its events.
func Decode(r *wire.Record) (Row, error) {
	if len(r.Value) == 0 {
		return Row{}, fmt.Errorf("no value: a task event is never deleted")
	}
	e, err := schema.Decode(r.Value, r.Ingest)
	if err != nil {
		return Row{}, err
	}
	text, err := e.Encode(r.Ingest)
	if err != nil {
		return Row{}, err
	}
	return Row{Partition: r.Partition, Offset: r.Offset, Ingest: r.Ingest, Event: e, Text: string(text)}, nil
}

func clone(r *wire.Record) wire.Record {
	c := *r
	c.Key, c.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	c.Headers = slices.Clone(r.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = bytes.Clone(c.Headers[i].Value)
	}
	return c
}
