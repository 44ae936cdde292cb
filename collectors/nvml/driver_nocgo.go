//go:build !cgo || !linux

package nvml

import (
	"errors"

	"sextant/collectors/inventory"
)

// ErrNoBinding is why a build without cgo reads nothing.
var ErrNoBinding = errors.New("this program was built without cgo, which the NVML library needs: build it with CGO_ENABLED=1")

// unbound is the driver of such a build.
type unbound struct{}

func newDriver() driver { return unbound{} }

func (unbound) read() ([]sample, error)            { return nil, ErrNoBinding }
func (unbound) describe() (inventory.Extra, error) { return inventory.Extra{}, ErrNoBinding }

func (unbound) close() {}
