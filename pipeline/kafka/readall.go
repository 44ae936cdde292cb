package kafka

import (
	"context"
	"fmt"
	"time"

	"sextant/schema/wire"
)

// ReadAll calls each for every record that the topic holds when it is called, partition
// by partition, in the order of their offsets. It is for compacted topics that are read
// whole at a start. A record is valid until each returns. There is no patience: a broker
// that fails ends it, and the caller begins again.
func ReadAll(ctx context.Context, cfg Config, topic string, each func(*wire.Record) error) error {
	c, err := newClient(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	ids, err := c.partitions(ctx, topic)
	if err != nil {
		return err
	}
	bounds, err := c.positions(ctx, topic, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.readPartition(ctx, topic, int32(id), bounds[id], each); err != nil {
			return fmt.Errorf("read %s/%d: %w", topic, id, err)
		}
	}
	return nil
}

func (c *client) readPartition(ctx context.Context, topic string, id int32, at position, each func(*wire.Record) error) error {
	var d decoder
	var pg page
	progress := time.Now()
	for next := at.first; next < at.end; {
		pg.records = pg.records[:0]
		req := &fetchRequest{topic: topic, partition: id, offset: next, clientID: c.transport.ClientID}
		once, cancel := context.WithTimeout(ctx, fetchDeadline)
		_, err := c.transport.RoundTrip(once, c.Addr, req)
		cancel()
		if err == nil { // after a failed round trip the transport may still write to it
			err = req.res.err()
		}
		if err != nil {
			return fmt.Errorf("fetch at %d: %w", next, err)
		}
		before := next
		if next, err = d.decode(&pg, req.res.batches, id, next); err != nil {
			return err
		}
		for i := range pg.records {
			if err := each(&pg.records[i]); err != nil {
				return err
			}
		}
		if next > before {
			progress = time.Now()
		} else if time.Since(progress) > stallLimit {
			return fmt.Errorf("at %d of %d: %w", next, at.end, errStalled)
		}
	}
	return nil
}
