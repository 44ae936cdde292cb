package telegraf

import (
	"fmt"
	"log/slog"
	"sync"

	upstream "github.com/influxdata/telegraf"
)

// maxSaid bounds the different messages of a plugin that are remembered.
const maxSaid = 64

// pluginLog is what a plugin logs with. A plugin says the same at each reading; a warning
// is passed on the first time, all else is for debugging.
type pluginLog struct {
	log *slog.Logger

	mu   sync.Mutex
	said map[string]bool // guarded by mu
}

func (l *pluginLog) Level() upstream.LogLevel { return upstream.Info }

func (l *pluginLog) AddAttribute(string, any) {}

func (l *pluginLog) Errorf(format string, a ...any) { l.warn(fmt.Sprintf(format, a...)) }
func (l *pluginLog) Error(a ...any)                 { l.warn(fmt.Sprint(a...)) }
func (l *pluginLog) Warnf(format string, a ...any)  { l.warn(fmt.Sprintf(format, a...)) }
func (l *pluginLog) Warn(a ...any)                  { l.warn(fmt.Sprint(a...)) }
func (l *pluginLog) Infof(format string, a ...any)  { l.debug(fmt.Sprintf(format, a...)) }
func (l *pluginLog) Info(a ...any)                  { l.debug(fmt.Sprint(a...)) }
func (l *pluginLog) Debugf(format string, a ...any) { l.debug(fmt.Sprintf(format, a...)) }
func (l *pluginLog) Debug(a ...any)                 { l.debug(fmt.Sprint(a...)) }
func (l *pluginLog) Tracef(format string, a ...any) { l.debug(fmt.Sprintf(format, a...)) }
func (l *pluginLog) Trace(a ...any)                 { l.debug(fmt.Sprint(a...)) }

func (l *pluginLog) debug(msg string) { l.log.Debug("plugin says", "text", msg) }

func (l *pluginLog) warn(msg string) {
	l.mu.Lock()
	known := l.said[msg] || len(l.said) == maxSaid
	if !known {
		l.said[msg] = true
	}
	l.mu.Unlock()
	if known {
		l.debug(msg)
		return
	}
	l.log.Warn("plugin says", "text", msg)
}
