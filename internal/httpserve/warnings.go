package httpserve

import (
	"context"
	"log/slog"
)

// warnings passes on what is at least a warning. The exporter toolkit greets each listener
// with two lines of INFO, which say nothing that the caller's own start line does not.
type warnings struct{ next slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.next.Enabled(ctx, level)
}

func (w warnings) Handle(ctx context.Context, r slog.Record) error { return w.next.Handle(ctx, r) }

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler { return warnings{w.next.WithAttrs(attrs)} }

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.next.WithGroup(name)} }
