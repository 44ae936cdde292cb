package telegraf

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/influxdata/telegraf/models"
	dto "github.com/prometheus/client_model/go"

	"sextant/collectors/plugins"
)

// Plugin is an instance of an input plugin, as a prometheus.Gatherer.
type Plugin struct {
	loaded
	log           *slog.Logger
	metrics       *metrics
	stringAsLabel bool

	busy    chan struct{} // full while the plugin is in use; guards all below
	ready   bool          // Init was called with success
	started bool          // Start was
	state   state
}

// state is what the last reading was.
type state string

const (
	fresh   state = ""
	whole   state = "whole"
	partial state = "partial"
	failed  state = "failed"
)

// panicked is a panic of a plugin. Nothing of its reading is used.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("the plugin panicked: %v", p.value) }

func newPlugin(l loaded, c plugins.Config, m *metrics, log *slog.Logger) *Plugin {
	p := &Plugin{loaded: l, log: log.With("plugin", l.Name), metrics: m,
		stringAsLabel: c.StringAsLabel, busy: make(chan struct{}, 1)}
	models.SetLoggerOnPlugin(l.input.Input, &pluginLog{log: p.log, said: map[string]bool{}})
	return p
}

// Gather reads the plugin once. An error without families means that the plugin failed;
// one beside them, that a part of it did.
func (p *Plugin) Gather() ([]*dto.MetricFamily, error) {
	p.busy <- struct{}{}
	defer func() { <-p.busy }()
	acc := &accumulator{input: p.input, begin: time.Now(), precision: p.precision}
	err := p.read(acc)
	metrics, parts := acc.end()
	var crash *panicked
	if errors.As(err, &crash) {
		p.metrics.panics.WithLabelValues(p.Name).Inc()
		p.turn(failed, err, slog.String("stack", string(crash.stack)))
		return nil, err
	}
	out, dropped := acc.families(metrics, time.Now(), p.stringAsLabel)
	p.metrics.strings.WithLabelValues(p.Name).Add(float64(dropped))
	switch err = errors.Join(err, parts); {
	case err == nil:
		p.turn(whole, nil)
	case len(out) > 0:
		p.turn(partial, err)
	default:
		p.turn(failed, err)
	}
	return out, err
}

// read makes the plugin ready when it is not, and reads it. What it needs may come later,
// a program that is installed or a device, so both are tried at each reading.
func (p *Plugin) read(acc *accumulator) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	if !p.ready {
		if err := p.input.Init(); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		p.ready = true
	}
	if !p.started {
		if err := p.input.Start(acc); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		p.started = true
	}
	return p.input.Gather(acc)
}

// turn logs when readings begin to fail or are whole again, and not each of them.
func (p *Plugin) turn(now state, err error, more ...any) {
	before := p.state
	p.state = now
	switch {
	case now == before:
	case now == failed:
		p.log.Warn("Telegraf plugin is not read, will try again", append([]any{"line", p.line, "err", err}, more...)...)
	case now == partial:
		p.log.Warn("Telegraf plugin is read in part", "line", p.line, "err", err)
	case before != fresh:
		p.log.Info("Telegraf plugin is read again")
	}
}

// closeWait is how long close waits for a reading under way.
const closeWait = 2 * time.Second

// close stops the plugin. A reading cannot be interrupted: one that hangs ends with the
// process.
func (p *Plugin) close() (err error) {
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case p.busy <- struct{}{}:
	case <-t.C:
		return fmt.Errorf("plugin %s is still being read after %s", p.Name, closeWait)
	}
	defer func() {
		<-p.busy
		if v := recover(); v != nil {
			err = fmt.Errorf("stop plugin %s: %w", p.Name, &panicked{value: v})
		}
	}()
	if p.started {
		p.input.Stop()
		p.started = false
	}
	return nil
}
