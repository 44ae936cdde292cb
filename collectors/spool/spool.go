package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

var (
	// ErrRefused marks an entry that can never be spooled: it was not kept.
	ErrRefused = errors.New("entry refused")
	// ErrShare marks a received entry for which there is no room now: it was not kept.
	ErrShare = errors.New("what was received may fill half of the spool, and that is full")
	// ErrNotDurable marks an entry that the disk did not take. It is kept in memory and
	// offered for sending, but ends with the process.
	ErrNotDurable = errors.New("entry is not durable")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("spool is closed")
)

// Spool is the queue of one directory. All methods may be called from any goroutine.
type Spool struct {
	dir   string
	agent string
	opt   Options
	log   *slog.Logger
	m     *metrics
	lock  *os.File
	ready chan struct{}
	work  chan struct{} // wakes the keeper
	stop  chan struct{}
	done  chan struct{}

	reader reader     // has a lock of its own, so that a slow read delays no Append
	sideMu sync.Mutex // one Sideline writes at a time

	mu      sync.Mutex
	synced  *sync.Cond // visible moved, or the spool closed
	journal *journal   // guarded by mu, as all below
	segs    []*segment // in order of number
	active  *os.File   // the file of the last segment, nil when the next entry begins a new one
	renamed bool       // a segment was created whose name is not yet synced
	gone    []string   // removed segments that may be open for reading
	full    []*os.File // closed to writing, still to be synced
	next    uint64     // number of the next entry
	visible uint64     // numbers below it are offered
	taken   ranges     // handed out, neither settled nor returned
	recent  []stamp
	warm    warm
	bytes   int64
	buf     []byte
	memory  *memory
	syncErr error // of the last sync
	fault   error // why the disk takes no entries, nil while it does
	atCap   bool  // entries were dropped for want of room, and it has not half emptied since
	closed  bool
	torn    int // entries cut off by Open
}

// stamp says when a number was appended.
type stamp struct {
	seq uint64
	at  time.Time
}

// Open opens the spool of dir, and creates it if need be. It fails when another process
// has it (ErrLocked), when it cannot be written, and on options that make no sense.
func Open(dir string, o Options) (*Spool, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("create spool: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	s := &Spool{
		dir: dir, opt: o, log: o.Logger, lock: lock,
		ready: make(chan struct{}, 1), work: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
		memory: newMemory(o.MemoryBytes),
	}
	s.synced = sync.NewCond(&s.mu)
	s.reader.maxPayload = o.MaxPayload
	if err := s.recover(); err != nil {
		lock.Close()
		return nil, fmt.Errorf("open spool %s: %w", dir, err)
	}
	if s.m, err = newMetrics(s, o.Registerer); err != nil {
		return nil, errors.Join(fmt.Errorf("open spool %s: %w", dir, err), s.journal.close(), lock.Close())
	}
	go s.keep()
	return s, nil
}

// Agent is the id under which the spool numbers its entries.
func (s *Spool) Agent() string { return s.agent }

// Dir is the spool's directory.
func (s *Spool) Dir() string { return s.dir }

// Ready receives after entries were offered or returned. One value may stand for many.
func (s *Spool) Ready() <-chan struct{} { return s.ready }

// Fault is why entries are not durable at the moment, nil while they are.
func (s *Spool) Fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.fault, s.syncErr)
}

// Oldest is the lowest number that is not settled; the next number when all are.
func (s *Spool) Oldest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.settled.gap(1)
}

// Dropped counts the records of this agent id that were given up, over all restarts.
func (s *Spool) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.dropped
}

// Pending counts the entries that are not settled, those in memory included.
func (s *Spool) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.journal.settled.missing(span{1, s.next}) + s.memory.settled.missing(span{1, s.memory.next}))
}

// OldestScrape is the scrape time in unix ms of the oldest unsettled entry on disk, 0 when
// there is none or it cannot be read.
func (s *Spool) OldestScrape() int64 {
	s.mu.Lock()
	seq := s.journal.settled.gap(1)
	seg := s.find(seq)
	if seg == nil || seq >= s.visible || s.closed {
		s.mu.Unlock()
		return 0
	}
	path, first := seg.path, seg.first
	s.mu.Unlock()
	e, err := s.reader.read(path, first, seq)
	if err != nil {
		return 0
	}
	return e.Scrape
}

// Close syncs what was appended and gives the directory back. What was taken and not
// acknowledged is offered again by the next Open.
func (s *Spool) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	<-s.done

	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced.Broadcast()
	err := s.syncErr
	if s.active != nil {
		err = errors.Join(err, s.active.Close())
		s.active = nil
	}
	s.journal.next = s.next
	err = errors.Join(err, s.journal.rewrite(), s.journal.close())
	s.reader.close()
	s.m.unregister()
	return errors.Join(err, s.lock.Close())
}

func (s *Spool) path(name string) string { return filepath.Join(s.dir, name) }
