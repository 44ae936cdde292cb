package pipeline_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"sextant/features"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline"
	"sextant/schema/wire"
)

const benchNodes = 500

// benchMachine has seen enough of a fleet for every window of the built-in views to be
// full, and has closed every tick up to there.
func benchMachine(b *testing.B, interval time.Duration, reference bool) (m *pipeline.Machine, f *fleet.Fleet, tick int) {
	b.Helper()
	views, err := features.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for _, v := range views {
		if interval > 0 {
			v.Interval = interval
		}
	}
	f = fleet.New(benchNodes, 1)
	if m, err = pipeline.NewMachine(pipeline.Config{Views: views, Reference: reference}, pipeline.Checkpoint{}); err != nil {
		b.Fatal(err)
	}
	for ; tick < 32; tick++ {
		addTick(b, m, f, tick)
	}
	return m, f, tick
}

func addTick(b *testing.B, m *pipeline.Machine, f *fleet.Fleet, tick int) {
	b.Helper()
	addAll(b, m, f.Log(tick, tick+1, int64(tick*benchNodes)))
}

func addAll(b *testing.B, m *pipeline.Machine, log []wire.Record) {
	b.Helper()
	for _, r := range log {
		if err := m.Add(r); err != nil {
			b.Fatal(err)
		}
	}
	if batch := m.Take(); batch != nil {
		m.Recycle(batch)
	}
}

// BenchmarkMachineAdd is the cost of a sample from record to batch and windows. An op is
// a sample. No view is ever due, so no tick is evaluated.
func BenchmarkMachineAdd(b *testing.B) {
	m, f, tick := benchMachine(b, 24*time.Hour, false)
	b.ReportAllocs()
	b.ResetTimer()
	var cpu cpuTime
	for n := 0; n < b.N; n += benchNodes * fleet.PerNode {
		b.StopTimer()
		log := f.Log(tick, tick+1, int64(tick*benchNodes))
		tick++
		cpu.start()
		b.StartTimer()
		addAll(b, m, log)
		cpu.stop()
	}
	cpu.report(b)
}

// BenchmarkTick is the cost of evaluating the built-in views for one node at one tick.
// An op is a node.
func BenchmarkTick(b *testing.B) {
	b.Run("compiled", func(b *testing.B) { benchTick(b, false) })
	b.Run("engine", func(b *testing.B) { benchTick(b, true) })
}

func benchTick(b *testing.B, reference bool) {
	before := heap()
	m, f, tick := benchMachine(b, 0, reference)
	state := heap() - before
	b.ReportAllocs()
	b.ResetTimer()
	var cpu cpuTime
	for n := 0; n < b.N; n += benchNodes {
		b.StopTimer()
		addTick(b, m, f, tick)
		tick++
		cpu.start()
		b.StartTimer()
		// Silence closes the ticks that the records left open: one per round.
		m.Idle(fleet.Base + int64(tick)*fleet.Interval + 30_000)
		cpu.stop()
	}
	cpu.report(b)
	b.ReportMetric(float64(state)/benchNodes, "heap-B/node")
}

// heap is the bytes that are in use. Of a machine and its fleet, most are windows.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cpuTime sums CPU time between start and stop: on a shared machine it is firmer than
// the time on the wall. It includes the collector.
type cpuTime struct{ from, total int64 }

func (c *cpuTime) start() { c.from = usage() }
func (c *cpuTime) stop()  { c.total += usage() - c.from }

func (c *cpuTime) report(b *testing.B) {
	b.ReportMetric(float64(c.total)/float64(b.N), "cpu-ns/op")
}

func usage() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
