package nvml

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/collectors/inventory"
)

// hung is a driver that does not come back until it is told to.
type hung struct{ until, closed chan struct{} }

func (h hung) read() ([]sample, error) { <-h.until; return nil, errors.New("late") }
func (h hung) describe() (inventory.Extra, error) {
	<-h.until
	return inventory.Extra{}, errors.New("late")
}
func (h hung) close() { close(h.closed) }

// TestCloseGivesUpOnAHungDriver: the agent must end also when the driver does not.
func TestCloseGivesUpOnAHungDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(slog.New(slog.DiscardHandler))
		h := hung{make(chan struct{}), make(chan struct{})}
		c.driver = h
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Collect(make(chan prometheus.Metric, 10))
		}()
		synctest.Wait()
		begun := time.Now()
		if err := c.Close(); err == nil || !strings.Contains(err.Error(), "still being read") || time.Since(begun) != closeWait {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		close(h.until)
		<-done
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-h.closed
	})
}
