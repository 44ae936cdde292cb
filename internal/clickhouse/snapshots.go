package clickhouse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/pipeline/derive"
	schema "sextant/schema/sql"
)

// How snapshots of the tasks are kept.
const (
	snapshotsAtOnce = 48               // let go of, before their room is
	snapshotsKept   = 16               // of them, the newest: what the next ones are made of
	snapshotAge     = 30 * time.Minute // after that none is made of it: the table drops it in an hour
	wholeEvery      = 15 * time.Minute // of ticks: then all events are folded again
	// stragglers is how far before the known time of a snapshot events are looked for that were
	// not in the store when it was made. Those that were are folded again, which changes nothing.
	stragglers = time.Minute
)

// taskSnapshot is the tasks at a tick, in task_snapshots.
type taskSnapshot struct {
	at    derive.At
	run   uint64
	whole int64     // tick, unix ms, of the fold of all events that it goes back to
	made  time.Time //
	held  int       // by questions about its tick, and by those that make the next of it
}

// taskSnapshots are those that one store made. What is let go of stays for a while: the next is made
// of it, and room is freed for many at once.
type taskSnapshots struct {
	db *DB

	mu  sync.Mutex
	all []*taskSnapshot // guarded by mu, as what is in it
}

// make takes the snapshot of a tick, and holds it.
func (s *taskSnapshots) make(ctx context.Context, at derive.At) error {
	base := s.base(at)
	next := &taskSnapshot{at: at, run: rand.Uint64(), whole: at.Tick, made: time.Now(), held: 1}
	err := s.fold(ctx, next, base)
	s.mu.Lock()
	defer s.mu.Unlock()
	if base != nil {
		base.held--
		next.whole = base.whole
	}
	if err != nil {
		if base != nil { // whatever is wrong with it, the next attempt does without
			base.made = time.Time{}
		}
		return fmt.Errorf("snapshot of the tasks: %w", err)
	}
	s.all = append(s.all, next)
	return nil
}

// base is what the snapshot of a tick can be made of, held, or nil.
func (s *taskSnapshots) base(at derive.At) (best *taskSnapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		fits := x.at.Tick <= at.Tick && x.at.Known <= at.Known && dayOf(x.at.Known) == dayOf(at.Known) &&
			time.Since(x.made) < snapshotAge && at.Tick-x.whole < wholeEvery.Milliseconds()
		if fits && (best == nil || x.at.Tick > best.at.Tick) {
			best = x
		}
	}
	if best != nil {
		best.held++
	}
	return best
}

func dayOf(ms int64) int64 { return ms - ms%(24*time.Hour).Milliseconds() }

// nextData is what the query of a snapshot that is made of another is filled with.
type nextData struct {
	names
	base derive.At
}

// Since says which events of a tick a snapshot may lack.
func (d nextData) Since() string {
	return fmt.Sprintf("day = toDate({known:DateTime64(3, 'UTC')}) AND ingest <= {known:DateTime64(3, 'UTC')} AND time < {tick:DateTime64(3, 'UTC')}"+
		" AND (ingest > fromUnixTimestamp64Milli(toInt64(%d), 'UTC') OR time >= fromUnixTimestamp64Milli(toInt64(%d), 'UTC'))",
		d.base.Known-stragglers.Milliseconds(), d.base.Tick)
}

func (s *taskSnapshots) fold(ctx context.Context, next, base *taskSnapshot) error {
	file, data, of := "queries/task_snapshot.sql", any(s.db.names), uint64(0)
	if base != nil {
		file, data, of = "queries/task_snapshot_next.sql", nextData{s.db.names, base.at}, base.run
	}
	text, err := renderFile(schema.Files, file, data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*deriveSeconds*time.Second)
	defer cancel()
	asked := ch.Context(s.db.question(ctx, next.at, next.run), ch.WithParameters(ch.Parameters{
		"tick": parameterTime(next.at.Tick), "known": parameterTime(next.at.Known),
		"run": strconv.FormatUint(next.run, 10), "base": strconv.FormatUint(of, 10)}))
	return s.db.conn.Exec(asked, text)
}

// run is the snapshot of a tick that is held; 0 where none is.
func (s *taskSnapshots) run(at derive.At) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range slices.Backward(s.all) {
		if x.at == at && x.held > 0 {
			return x.run
		}
	}
	return 0
}

// release lets go of the snapshot of a tick. When many are let go of, all but the newest are
// dropped by one statement: in a cluster each is a task of all servers.
func (s *taskSnapshots) release(ctx context.Context, at derive.At) error {
	s.mu.Lock()
	free := 0
	released := false
	for _, x := range s.all {
		if x.at == at && x.held > 0 && !released {
			x.held--
			released = true
		}
		if x.held == 0 {
			free++
		}
	}
	s.mu.Unlock()
	if free < snapshotsAtOnce {
		return nil
	}
	return s.drop(ctx, snapshotsKept)
}

// drop frees the room of what is let go of, but for the newest ones.
func (s *taskSnapshots) drop(ctx context.Context, keep int) error {
	s.mu.Lock()
	var gone []string
	for i := len(s.all) - 1; i >= 0; i-- {
		if s.all[i].held > 0 {
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		gone = append(gone, fmt.Sprintf("DROP PARTITION %d", s.all[i].run))
		s.all = slices.Delete(s.all, i, i+1)
	}
	s.mu.Unlock()
	if len(gone) == 0 {
		return nil
	}
	n := s.db.names
	if err := s.db.conn.Exec(ctx, "ALTER TABLE "+n.Local("task_snapshots")+n.OnCluster()+" "+strings.Join(gone, ", ")); err != nil {
		return fmt.Errorf("drop snapshots of the tasks: %w", err)
	}
	return nil
}
