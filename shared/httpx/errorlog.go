package httpx

import (
	"bytes"
	"context"
	"log"
	"log/slog"
)

// quietLog takes the messages of net/http and logs only their kind. Their text holds panic values,
// addresses and data of clients.
func quietLog(to *slog.Logger) *log.Logger { return log.New(quiet{to}, "", 0) }

type quiet struct{ to *slog.Logger }

func (q quiet) Write(line []byte) (int, error) {
	level, kind := classify(line)
	q.to.LogAttrs(context.Background(), level, "http server", slog.String("kind", kind))
	return len(line), nil
}

func classify(line []byte) (slog.Level, string) {
	kinds := []struct {
		mark  string
		level slog.Level
		kind  string
	}{
		{"panic serving", slog.LevelError, "panic"},
		{"Accept error", slog.LevelError, "accept"},
		{"superfluous response.WriteHeader", slog.LevelWarn, "superfluous_write_header"},
		{"hijacked connection", slog.LevelWarn, "write_after_hijack"},
		{"http2:", slog.LevelWarn, "http2"},
	}
	for _, k := range kinds {
		if bytes.Contains(line, []byte(k.mark)) {
			return k.level, k.kind
		}
	}
	return slog.LevelWarn, "other"
}
