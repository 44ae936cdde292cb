package dcgm

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// hung is a source whose library does not come back until it is told to.
type hung struct{ until chan struct{} }

func (h hung) read(time.Time) (*page, error) { <-h.until; return nil, errors.New("late") }
func (h hung) close() error                  { return nil }

// TestCloseGivesUpOnAHungLibrary: the agent must end also when the library does not.
func TestCloseGivesUpOnAHungLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Defaults(), 0, slog.New(slog.DiscardHandler))
		h := hung{make(chan struct{})}
		c.source = h
		done := make(chan struct{})
		go func() {
			defer close(done)
			ch := make(chan prometheus.Metric, 10)
			c.Collect(ch)
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
	})
}

func TestLabels(t *testing.T) {
	base := labels{}.with("a", "1", "b", "", "c", "x\xffy")
	more := base.with("d", "2")
	_ = base.with("d", "3") // does not write into the labels of more
	if got := more.get("d") + more.get("a") + more.get("b") + base.get("d"); got != "21" || more.get("c") != "x\uFFFDy" {
		t.Fatalf("%q %q", got, more)
	}
}
