package clickhouse

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"sextant/pipeline/derive"
)

// crowd stores 100,000 tasks that live and 200,000 that ended on the day, 1.3 million events, and
// 300 more in each 10 s after second 40,000.
func crowd(b *testing.B, db *DB) {
	b.Helper()
	const insert = `INSERT INTO {db}.task_events (cluster, task, event_id, time, sequence, state, source, ingest, kind, tenant, queue, type, priority, node, owner_ids, requests, content)
		SELECT 'c', concat('task-00000000-0000-0000-0000-', toString(number %% 300000)) AS of_task, concat(of_task, toString(intDiv(number, 300000))),
			fromUnixTimestamp64Milli(%[1]d + toInt64(%[2]s)) AS happened, 0, ['submitted', 'queued', 'scheduled', 'started', 'finished'][1 + intDiv(number, 300000)] AS is, 'bench', happened, 'pod',
			concat('tenant', toString(number %% 20)), concat('queue', toString(number %% 50)), 'training', number %% 10,
			if(is IN ('scheduled', 'started'), concat('n', toString(number %% 5000)), ''), [concat('job-', toString(number %% 30000))],
			map('cpu_cores', 4., 'memory_bytes', 1e9, 'accelerators_nvidia', 1.), number
		FROM numbers(%[3]d, %[4]d)`
	var errs error
	for _, q := range []string{
		fmt.Sprintf(insert, t0, "number % 39000000", 0, 1_200_000),
		fmt.Sprintf(insert, t0, "number % 39000000", 1_200_000, 100_000),
		fmt.Sprintf(insert, t0, "40000000 + number % 300000 * 1000 / 30", 1_300_000, 9_000),
	} {
		if err := db.Exec(b.Context(), q); err != nil {
			errs = err
		}
	}
	if errs == nil {
		errs = db.Exec(b.Context(), "OPTIMIZE TABLE {db}.task_log FINAL")
	}
	if errs != nil {
		b.Fatal(errs)
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // never fails for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSnapshot is the snapshot of a tick, of all events and of the snapshot before it: CPU
// seconds of this process, engine included.
func BenchmarkSnapshot(b *testing.B) {
	db := openDB(b)
	crowd(b, db)
	for _, whole := range []bool{true, false} {
		b.Run(map[bool]string{true: "whole", false: "next"}[whole], func(b *testing.B) {
			s := db.NewDeriveStore()
			s.carried[t0] = true // all events came on the day
			tick := func(i int) derive.At { return at(40_000 + 10*int64(i%29)) }
			if !whole {
				if err := s.Prepare(b.Context(), tick(0)); err != nil {
					b.Fatal(err)
				}
			}
			was := cpuTime()
			n := 0
			for b.Loop() {
				n++
				if whole {
					s.tasks.all = nil
				}
				if err := s.Prepare(b.Context(), tick(n)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuTime()-was).Seconds()/float64(n), "cpu-s/op")
			if err := s.Release(b.Context(), tick(n)); err != nil {
				b.Fatal(err)
			}
		})
	}
}
