// Package plugins is what the agent knows of what it does not link: Telegraf's input plugins,
// and the bindings of device libraries, which need cgo. They are half of a program that does, in
// its file and in memory, so only the larger of the agent's two programs has them, and runs in
// the place of the smaller one where the configuration asks for one.
package plugins

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config is the section telegraf of the agent's configuration.
type Config struct {
	Config        string `yaml:"config"`          // Telegraf's file; empty: no plugin runs
	StringAsLabel bool   `yaml:"string_as_label"` // string fields become labels; else they are dropped and counted
}

// Enabled tells whether there is a file.
func (c Config) Enabled() bool { return c.Config != "" }

// Options are what the plugins need from outside.
type Options struct {
	Node     string        // the tag host, where the file has no hostname
	Interval time.Duration // of plugins for which the file has none
	Log      *slog.Logger
	Register prometheus.Registerer
}

// Target is an instance of a plugin, to be read on its own.
type Target struct {
	Name     string
	Interval time.Duration
	prometheus.Gatherer
}

// Set is all that the file asks for. As a Gatherer it reads all plugins once.
type Set interface {
	prometheus.Gatherer
	Targets() []Target // in the order of the file
	Close() error
}

// Runner runs plugins.
type Runner interface {
	// Devices is nil where the collectors of device libraries are in this program. section is the
	// one that asks for it.
	Devices(section string) error
	// Check reads the file and reports every fault of it, each beginning with the path of
	// the section.
	Check(c Config, path string) error
	// Open makes the plugins of the file. Nothing is started before the first reading.
	Open(c Config, o Options) (Set, error)
}

// ErrAbsent is the fault of a section for a program that does not have what it asks for.
var ErrAbsent = errors.New("is in " + Program + ", which the agent becomes when it starts with this section")

// Program is the name of the agent's program with plugins. It lies beside the other.
const Program = "sextant-agent-plugins"

// Absent is the Runner of a program without plugins.
type Absent struct{}

// Check refuses a configuration that asks for a plugin.
func (Absent) Check(c Config, path string) error {
	if c.Enabled() {
		return fmt.Errorf("%s.config: what runs it %w", path, ErrAbsent)
	}
	return nil
}

// Devices always fails.
func (Absent) Devices(section string) error {
	return fmt.Errorf("%s: what reads it %w", section, ErrAbsent)
}

// Open always fails.
func (Absent) Open(Config, Options) (Set, error) { return nil, ErrAbsent }
