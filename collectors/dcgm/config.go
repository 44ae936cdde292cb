package dcgm

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/config"
)

// Config is the section dcgm of the agent's configuration.
type Config struct {
	Enabled  bool            `yaml:"enabled"`
	Interval config.Duration `yaml:"interval"` // between collections; 0 is global.scrape_interval
	Watch    config.Duration `yaml:"watch"`    // how often the engine refreshes fast fields; 0 is half of the interval
	// Address is the host engine's: host:port, or the path of its unix socket.
	Address string `yaml:"address"`
	// Embedded runs an engine in this process. It is refused while another one answers.
	Embedded         bool     `yaml:"embedded"`
	Profiling        bool     `yaml:"profiling"`         // read DCGM_FI_PROF_*
	ComputeInstances bool     `yaml:"compute_instances"` // read MIG compute instances beside GPU instances
	Cores            bool     `yaml:"cores"`             // read each core of a Grace CPU
	Health           bool     `yaml:"health"`            // run the engine's passive health checks, once a minute
	Fields           []string `yaml:"fields"`            // further fields by name
	Exclude          []string `yaml:"exclude"`           // without these fields
}

// Where an engine listens by default: nv-hostengine's TCP port and its domain socket.
const (
	DefaultAddress = "127.0.0.1:5555"
	DefaultSocket  = "/tmp/nv-hostengine"
)

// Defaults is off: a host whose dcgm-exporter is scraped would have each series twice.
func Defaults() Config {
	return Config{Address: DefaultAddress, Profiling: true, Health: true}
}

var fieldName = regexp.MustCompile(`^DCGM_FI_[A-Z0-9_]{1,100}$`)

// Check reports every fault, each beginning with its key below the given path.
func (c Config) Check(path string) error {
	var errs []error
	fault := func(bad bool, format string, a ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(path+"."+format, a...))
		}
	}
	fault(c.Interval != 0 && c.Interval.D() < time.Second, "interval: %s, want at least 1s", c.Interval.D())
	fault(c.Watch != 0 && c.Watch.D() < 100*time.Millisecond, "watch: %s, want at least 100ms", c.Watch.D())
	fault(c.Watch != 0 && c.Interval != 0 && c.Watch > c.Interval, "watch: %s is longer than the interval %s", c.Watch.D(), c.Interval.D())
	if err := checkAddress(c.Address); err != nil && !c.Embedded {
		fault(true, "address: %w", err)
	}
	for i, f := range c.Fields {
		fault(!fieldName.MatchString(f), "fields[%d]: %q is not the name of a DCGM field, such as DCGM_FI_DEV_APP_SM_CLOCK", i, f)
	}
	known := table()
	for i, f := range c.Exclude {
		fault(!known.has(f), "exclude[%d]: %q is not read anyway", i, f)
	}
	return errors.Join(errs...)
}

func checkAddress(a string) error {
	if socket(a) {
		return nil
	}
	host, port, err := net.SplitHostPort(a)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("%q, want host:port or the absolute path of a socket", a)
	}
	return nil
}

// socket reports whether the address is the path of a unix socket.
func socket(address string) bool { return strings.HasPrefix(address, "/") }

// watch is how often the engine shall refresh what is collected every interval. Half of
// the interval keeps a value younger than one collection, whatever the phase.
func (c Config) watch(interval time.Duration) time.Duration {
	if c.Watch != 0 {
		return c.Watch.D()
	}
	return max(interval/2, 100*time.Millisecond)
}

// extra are the further fields of the configuration. What they are read of, the library
// knows; a counter is not told from a gauge.
func (c Config) extra() fields {
	var out fields
	for _, name := range c.Fields {
		f := field{name: name, class: fast, kind: prometheus.UntypedValue, help: "DCGM field, as configured."}
		if strings.HasPrefix(name, "DCGM_FI_PROF_") {
			f.class, f.scopes = prof, []scope{scopeGPU, scopeGI}
		}
		out = append(out, f)
	}
	return out
}
