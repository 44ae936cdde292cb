//go:build !cgo || !linux

package dcgm

import (
	"errors"
	"time"
)

// ErrNoBinding is why a build without cgo reads nothing.
var ErrNoBinding = errors.New("this program was built without cgo, which the DCGM library needs: build sextant-agent-plugins with CGO_ENABLED=1, or scrape dcgm-exporter")

// unbound is the source of such a build.
type unbound struct{}

func newSource(Config, time.Duration) source { return unbound{} }

func (unbound) read(time.Time) (*page, error) { return nil, ErrNoBinding }
func (unbound) close() error                  { return nil }
