package receive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"

	"sextant/internal/config"
	"sextant/schema/wire"
)

// Config is the receive section of the agent's configuration.
type Config struct {
	Listen     string `yaml:"listen"`      // host:port; empty: nothing is received
	ConfigFile string `yaml:"config_file"` // TLS and users, as exporter-toolkit reads them
	Path       string `yaml:"path"`

	Relabel    []*relabel.Config `yaml:"relabel_configs"` // on every series, before its node is looked for
	NodeLabels []string          `yaml:"node_labels"`     // the first that a series has names its node
	External   bool              `yaml:"external_labels"` // global.external_labels are added to what is received, too

	MaxAge          config.Duration `yaml:"max_age"`           // samples older than this are refused
	MaxBodyBytes    config.Bytes    `yaml:"max_body_bytes"`    // of a request, compressed
	MaxRequestBytes config.Bytes    `yaml:"max_request_bytes"` // decompressed
	MaxSeries       int             `yaml:"max_series"`        // of a request
	MaxSamples      int             `yaml:"max_samples"`       // of a request
	MaxLabels       int             `yaml:"max_labels"`        // of a series, __name__ included
	MaxConcurrent   int             `yaml:"max_concurrent"`    // requests that are worked on at a time; others wait
}

// Defaults is a receiver that is off.
func Defaults() Config {
	return Config{
		Path:            "/api/v1/write",
		Relabel:         []*relabel.Config{},
		NodeLabels:      []string{nodeLabel, instanceLabel},
		MaxAge:          config.Duration(7 * 24 * time.Hour),
		MaxBodyBytes:    8 << 20,
		MaxRequestBytes: 32 << 20,
		MaxSeries:       50_000,
		MaxSamples:      200_000,
		MaxLabels:       wire.MaxLabels,
		MaxConcurrent:   4,
	}
}

// Enabled says whether anything is received.
func (c *Config) Enabled() bool { return c.Listen != "" }

// Check reports every fault, each beginning with the path of its key below path, and
// makes the relabelling rules ready for use.
func (c *Config) Check(path string) error {
	var errs []error
	fault := func(bad bool, key, format string, a ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(path+"."+key+": "+format, a...))
		}
	}
	within := func(key string, v, least, most int) {
		fault(v < least || v > most, key, "%d, want %d to %d", v, least, most)
	}
	fault(!strings.HasPrefix(c.Path, "/") || strings.ContainsAny(c.Path, "{} \t"), "path", "%q, want a path from /", c.Path)
	fault(slices.Contains(c.NodeLabels, ""), "node_labels", "an empty name")
	for i, r := range c.Relabel {
		key := fmt.Sprintf("relabel_configs[%d]", i)
		fault(r == nil, key, "empty")
		if r != nil {
			if err := r.Validate(model.UTF8Validation); err != nil {
				fault(true, key, "%w", err)
			}
		}
	}
	// The pipeline believes the time of a record for 30 days, and the spool may keep it
	// for some of them.
	fault(c.MaxAge.D() < time.Minute || c.MaxAge.D() > maxAge, "max_age", "%s, want 1m to %s", c.MaxAge.D(), model.Duration(maxAge))
	within("max_body_bytes", int(c.MaxBodyBytes), 1<<10, wire.MaxRequest)
	within("max_request_bytes", int(c.MaxRequestBytes), 1<<10, wire.MaxRequest)
	within("max_series", c.MaxSeries, 1, wire.MaxSeries)
	within("max_samples", c.MaxSamples, 1, wire.MaxSamples)
	within("max_labels", c.MaxLabels, 1, wire.MaxLabels)
	within("max_concurrent", c.MaxConcurrent, 1, 1024)
	return errors.Join(errs...)
}

const maxAge = 21 * 24 * time.Hour
