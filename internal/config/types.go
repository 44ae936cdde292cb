package config

import (
	"fmt"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"
)

// Duration reads as Prometheus' durations do: 10s, 1m30s, 7d.
type Duration time.Duration

// D returns d as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	m, err := model.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: %w", text, err)
	}
	*d = Duration(m)
	return nil
}

// MarshalText writes d so that UnmarshalText reads it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(model.Duration(d).String()), nil }

// Bytes is a size: a number with an optional unit such as KiB, MiB, GiB or MB.
type Bytes int64

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := units.ParseStrictBytes(string(text))
	if err != nil {
		return fmt.Errorf("size %q: want a number with a unit such as 64MiB", text)
	}
	*b = Bytes(n)
	return nil
}

// MarshalText writes b so that UnmarshalText reads it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(fmt.Sprintf("%dB", int64(b))), nil }
