package tasks

import (
	"fmt"

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
