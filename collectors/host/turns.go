package host

import (
	"context"
	"log/slog"
	"sync"
)

// turns is a log handler for node_exporter, which logs each failure of a collector in
// every scrape. It lets through when a collector's outcome turns, once.
type turns struct {
	slog.Handler
	state *outcomes
}

type outcomes struct {
	mu      sync.Mutex
	failing map[string]string // error by collector; guarded by mu
}

func newTurns(h slog.Handler) turns {
	return turns{h, &outcomes{failing: map[string]string{}}}
}

// Enabled says yes to all, because success is only told at debug level.
func (t turns) Enabled(context.Context, slog.Level) bool { return true }

// Handle passes a record on if it is news.
func (t turns) Handle(ctx context.Context, r slog.Record) error {
	name, fault := "", ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "name":
			name = a.Value.String()
		case "err":
			fault = a.Value.String()
		}
		return true
	})
	switch r.Message {
	case "collector failed":
		if !t.state.turned(name, fault) {
			return nil
		}
	case "collector succeeded", "collector returned no data":
		if !t.state.turned(name, "") {
			return nil
		}
		r.Message, r.Level = "collector works again", slog.LevelInfo
	case "Failed to open directory, disabling udev device properties":
		r.Level = slog.LevelInfo // so it is in every container, and costs the disks' model names only
	default:
		if r.Level == slog.LevelInfo {
			r.Level = slog.LevelDebug // which flags were parsed is in the configuration
		}
	}
	if !t.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return t.Handler.Handle(ctx, r)
}

func (t turns) WithAttrs(as []slog.Attr) slog.Handler { return turns{t.Handler.WithAttrs(as), t.state} }
func (t turns) WithGroup(name string) slog.Handler    { return turns{t.Handler.WithGroup(name), t.state} }

// turned records the outcome of a collector and says whether it differs from the last.
func (o *outcomes) turned(name, fault string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failing[name] == fault {
		return false
	}
	if fault == "" {
		delete(o.failing, name)
	} else {
		o.failing[name] = fault
	}
	return true
}
