package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/schema/topics"
)

// deadShare is the part of the cap that dead letters may hold: one in so many bytes.
const deadShare = 16

// trimLoop deletes what the group has consumed, and looks how full the disk is.
func (b *Broker) trimLoop(ctx context.Context) {
	tick := time.NewTicker(trimInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		b.trim()
		if err := b.measure(); err != nil {
			b.log.Warn("measuring the data directory", "err", err)
		}
	}
}

// trim deletes all records that lie below what the group committed. A commit is the
// oldest record that an open window still needs, so nothing that a restart reads goes.
func (b *Broker) trim() {
	commits := map[string]map[int32]int64{}
	for _, g := range b.groups() {
		maps.Copy(commits, b.commits(g)) // a topic has one of the groups
	}
	for _, t := range b.cfg.Topics {
		for _, p := range b.cluster.PartitionInfos(t.Name) {
			committed, ok := commits[t.Name][p.Partition]
			if t.Name == topics.DeadLetter && p.NumBytes > b.cfg.MaxBytes/deadShare {
				// Nobody has to consume dead letters. The older half goes, so that they
				// never hold the cap against the records that matter.
				committed, ok = p.LogStartOffset+(p.HighWatermark-p.LogStartOffset)/2, true
			}
			if !ok {
				continue
			}
			to := trimTo(committed, p.LogStartOffset, p.HighWatermark)
			if to <= p.LogStartOffset {
				continue
			}
			if err := b.cluster.DeleteRecords(t.Name, p.Partition, to); err != nil {
				b.log.Warn("trimming", "topic", t.Name, "partition", p.Partition, "to", to, "err", err)
				continue
			}
			b.metrics.trimmed.Add(float64(to - p.LogStartOffset))
		}
	}
}

// trimTo returns the first offset to keep. The newest record always stays: kfake forgets
// a high watermark that no segment shows, and would number new records from 0 again.
func trimTo(committed, first, highWatermark int64) int64 {
	return max(first, min(committed, highWatermark-1))
}

// groups are those whose commits say what is consumed.
func (b *Broker) groups() []string { return append([]string{b.cfg.Group}, b.cfg.Groups...) }

// commits returns what a group committed, by topic and partition.
func (b *Broker) commits(group string) map[string]map[int32]int64 {
	out := map[string]map[int32]int64{}
	info := b.cluster.GroupInfo(group)
	if info == nil {
		return out
	}
	for topic, parts := range info.Commits {
		out[topic] = map[int32]int64{}
		for id, c := range parts {
			out[topic][id] = c.Offset
		}
	}
	return out
}

// mendCommits resets commits that lie above what the log holds, which is what a crash of
// the whole machine can leave behind. A consumer would wait there until as many records
// had come again as were lost, and skip them all.
func (b *Broker) mendCommits(ctx context.Context) error {
	for _, g := range b.groups() {
		if err := b.mendGroup(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) mendGroup(ctx context.Context, group string) error {
	reset := kadm.Offsets{}
	for topic, parts := range b.commits(group) {
		for id, committed := range parts {
			p := b.cluster.PartitionInfo(topic, id)
			if p == nil || committed <= p.HighWatermark {
				continue
			}
			b.log.Error("records that were consumed already are gone from the log: the group starts again at the first that is left",
				"group", group, "topic", topic, "partition", id, "committed", committed, "end", p.HighWatermark, "first", p.LogStartOffset)
			reset.AddOffset(topic, id, p.LogStartOffset, -1)
		}
	}
	if len(reset) == 0 {
		return nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		return fmt.Errorf("reset commits: %w", err)
	}
	defer cl.Close()
	if err := kadm.NewClient(cl).CommitAllOffsets(ctx, group, reset); err != nil {
		return fmt.Errorf("reset commits: %w", err)
	}
	return nil
}

// measure counts the bytes on disk.
func (b *Broker) measure() error {
	var sum int64
	err := filepath.WalkDir(b.cfg.Dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return ignoreGone(err)
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return ignoreGone(err)
	})
	if err != nil {
		return err
	}
	b.used.Store(sum)
	b.metrics.bytes.Set(float64(sum))
	return nil
}

// ignoreGone forgives a segment that was trimmed away in mid-walk.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
