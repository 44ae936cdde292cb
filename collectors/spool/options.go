package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Sync says when entries are forced to the disk. The death of the process is survived in
// each case; the policies differ in what the loss of power takes and in who waits.
type Sync string

const (
	// SyncInterval, the default: Append returns once the kernel has the entry, and a
	// background fsync follows at once, but at most one every SyncEvery. An entry is
	// offered for sending when its fsync is done, so nothing is sent that a power cut could
	// take back, and a slow disk delays sending, not scraping.
	SyncInterval Sync = "interval"
	// SyncAlways: Append waits for the fsync that covers its entry. Appends that wait
	// together share one.
	SyncAlways Sync = "always"
	// SyncNone: no fsync; for a spool whose disk does not outlive a power cut. After
	// one, numbers that were already sent may be given out again.
	SyncNone Sync = "none"
)

// Options of a spool. The zero value is the default.
type Options struct {
	MaxBytes     int64         // cap of all segments, 1 GiB; at the cap the oldest segment goes
	SegmentBytes int64         // size at which a segment is closed, 8 MiB and at most an eighth of MaxBytes
	MaxPayload   int           // bytes of one payload, 32 MiB and at most a quarter of MaxBytes; a larger one is refused
	MemoryBytes  int           // what is held in memory while the disk takes no more, 8 MiB
	MaxOversize  int64         // cap of the side-lined records, 64 MiB
	Sync         Sync          // SyncInterval
	SyncEvery    time.Duration // 100 ms
	Fresh        time.Duration // how long an entry is fresh and goes before the backlog, 20 s

	Logger     *slog.Logger          // slog.Default
	Registerer prometheus.Registerer // none
}

func (o Options) withDefaults() Options {
	set(&o.MaxBytes, 1<<30)
	set(&o.SegmentBytes, max(min(8<<20, o.MaxBytes/8), 1))
	set(&o.MaxPayload, int(min(32<<20, o.MaxBytes/4)))
	set(&o.MemoryBytes, 8<<20)
	set(&o.MaxOversize, 64<<20)
	set(&o.Sync, SyncInterval)
	set(&o.SyncEvery, 100*time.Millisecond)
	set(&o.Fresh, 20*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	return o
}

func set[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// check reports every fault at once.
func (o Options) check() error {
	var errs []error
	fault := func(bad bool, format string, a ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	fault(o.MaxBytes < 1<<16, "spool size %d: want at least 64 KiB", o.MaxBytes)
	fault(o.SegmentBytes < 1 || o.SegmentBytes > maxSegment/2 || o.SegmentBytes > o.MaxBytes/2,
		"spool segment size %d: want at most half of the spool's %d and of %d", o.SegmentBytes, o.MaxBytes, maxSegment)
	fault(o.MaxPayload < 1 || int64(o.MaxPayload) > min(o.MaxBytes, maxSegment)/4,
		"spool payload limit %d: want at most a quarter of the spool's %d and of %d", o.MaxPayload, o.MaxBytes, maxSegment)
	fault(o.MemoryBytes < 0, "spool memory size %d: want at least 0", o.MemoryBytes)
	fault(o.MaxOversize < 0, "spool oversize cap %d: want at least 0", o.MaxOversize)
	fault(o.SyncEvery < 0, "spool sync interval %s: want at least 0", o.SyncEvery)
	fault(o.Fresh < 0, "spool fresh time %s: want at least 0", o.Fresh)
	switch o.Sync {
	case SyncAlways, SyncInterval, SyncNone:
	default:
		fault(true, "spool sync policy %q: want %s, %s or %s", o.Sync, SyncAlways, SyncInterval, SyncNone)
	}
	return errors.Join(errs...)
}
