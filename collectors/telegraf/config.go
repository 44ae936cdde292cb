// Package telegraf runs input plugins of Telegraf inside the agent, from Telegraf's own
// configuration file. Each instance of a plugin is a target of the agent: it is read at
// aligned times, has its own "up", and goes through the same spool as every other.
//
// Configuration, filters, tags and the names of series are Telegraf's own code. Its agent,
// buffers and outputs are not used.
package telegraf

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sextant/collectors/plugins"
)

// Runner is the plugins.Runner that has the plugins.
type Runner struct{}

// Devices is nil: the program with the plugins has the collectors of device libraries, too.
func (Runner) Devices(string) error { return nil }

// Check reads the file and reports every fault of it.
func (Runner) Check(c plugins.Config, path string) error {
	if !c.Enabled() {
		return nil
	}
	_, err := load(c, plugins.Options{Interval: minInterval})
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = fmt.Sprintf("%s.config: %s", path, l)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Open makes the plugins of the file. Nothing is started before the first reading.
func (Runner) Open(c plugins.Config, o plugins.Options) (plugins.Set, error) { return openSet(c, o) }

// minInterval is the shortest time between two readings of a plugin.
const minInterval = time.Second

// maxFile is the size up to which a configuration file is read, in bytes.
const maxFile = 1 << 20
