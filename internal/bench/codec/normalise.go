package codec

import (
	"fmt"
	"testing"
	"time"

	"sextant/features"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline"
)

// The fleet of normalise, and how many of its scrapes fill all windows.
const (
	normaliseNodes = 200
	normaliseWarm  = 32
)

// normalise measures the way of a scrape from the Kafka record to the columns of the batch and the
// windows of the features, in the steady state: each series was seen before, and no tick is evaluated.
func normalise() (Row, error) {
	views, err := features.Builtin()
	if err != nil {
		return Row{}, err
	}
	for _, v := range views {
		v.Interval = 24 * time.Hour
	}
	m, err := pipeline.NewMachine(pipeline.Config{Views: views}, pipeline.Checkpoint{})
	if err != nil {
		return Row{}, err
	}
	f := fleet.New(normaliseNodes, 1)
	tick, bytes := 0, 0
	add := func(pause, resume func()) error {
		pause()
		log := f.Log(tick, tick+1, int64(tick*normaliseNodes))
		tick++
		bytes = len(log[0].Value)
		resume()
		for _, r := range log {
			if err := m.Add(r); err != nil {
				return fmt.Errorf("normalise: %w", err)
			}
		}
		if batch := m.Take(); batch != nil {
			m.Recycle(batch)
		}
		return nil
	}
	for tick < normaliseWarm {
		if err := add(func() {}, func() {}); err != nil {
			return Row{}, err
		}
	}
	var failed error
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; n < b.N && failed == nil; n += normaliseNodes {
			failed = add(b.StopTimer, b.StartTimer)
		}
	})
	// The last round may be longer than what was asked for.
	messages := float64((result.N + normaliseNodes - 1) / normaliseNodes * normaliseNodes)
	return Row{Name: "normalise: record to columns and windows", NsPerSample: float64(result.T.Nanoseconds()) / messages / fleet.PerNode,
		BytesPerSample: float64(bytes) / fleet.PerNode, AllocsPerMessage: float64(result.MemAllocs) / messages}, failed
}
