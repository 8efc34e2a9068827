package acme

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// bridge makes certmagic, which uses zap, log to our log. Its progress is logged at the debug
// level, and its errors as warnings: this package reports the outcome of an attempt.
func bridge(log *slog.Logger) *zap.Logger { return zap.New(core{log: log}) }

// core is the zap core.
type core struct {
	log *slog.Logger
}

func level(of zapcore.Level) slog.Level {
	if of >= zapcore.WarnLevel {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Enabled drops zap's debug level, which contains tokens of challenges.
func (c core) Enabled(of zapcore.Level) bool {
	return of >= zapcore.InfoLevel && c.log.Enabled(context.Background(), level(of))
}

// With returns a core that adds the fields to each line.
func (c core) With(fields []zapcore.Field) zapcore.Core {
	return core{log: slog.New(c.log.Handler().WithAttrs(attrs(fields)))}
}

// Check adds the core to the entry's writers.
func (c core) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write writes a line.
func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	all := append([]slog.Attr{slog.String("from", "certmagic"), slog.String("message", e.Message)}, attrs(fields)...)
	c.log.LogAttrs(context.Background(), level(e.Level), "acme: certmagic", all...)
	return nil
}

// Sync does nothing.
func (core) Sync() error { return nil }

func attrs(fields []zapcore.Field) []slog.Attr {
	of := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(of)
	}
	all := make([]slog.Attr, 0, len(of.Fields))
	for key, value := range of.Fields {
		all = append(all, slog.Any(key, value))
	}
	return all
}
