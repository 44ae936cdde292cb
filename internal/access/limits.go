package access

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"sextant/internal/config"
)

// Limits of one listener.
type Limits struct {
	Rate        float64         `yaml:"rate"`        // requests a second of one caller; 0: any
	Concurrency int             `yaml:"concurrency"` // requests at once, of all callers; 0: any
	Timeout     config.Duration `yaml:"timeout"`     // of one request, answer included; 0: none
}

// Check reports every fault at once, each with its key.
func (l Limits) Check() error {
	var errs []error
	if l.Rate < 0 || l.Rate > 1e6 || math.IsNaN(l.Rate) {
		errs = append(errs, fmt.Errorf("rate: %g is not within 0 and 1,000,000", l.Rate))
	}
	if l.Concurrency < 0 || l.Concurrency > 100_000 {
		errs = append(errs, fmt.Errorf("concurrency: %d is not within 0 and 100,000", l.Concurrency))
	}
	if d := l.Timeout.D(); d < 0 || d > time.Hour {
		errs = append(errs, fmt.Errorf("timeout: %v is not within 0 and 1h", d))
	}
	return errors.Join(errs...)
}

// meter lets a caller through at a rate, with a burst of one second's worth.
type meter struct{ limiter *rate.Limiter }

func newMeter(perSecond float64) *meter {
	if perSecond <= 0 {
		return &meter{}
	}
	return &meter{rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))}
}

// take spends one request. Where none is left it says how long until there is.
func (m *meter) take(now time.Time) time.Duration {
	if m.limiter == nil || m.limiter.AllowN(now, 1) {
		return 0
	}
	r := m.limiter.ReserveN(now, 1)
	defer r.CancelAt(now)
	return max(r.DelayFrom(now), time.Millisecond)
}

func retryAfter(w http.ResponseWriter, d time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(d.Seconds())))))
}
