package httpx

import (
	"bytes"
	"context"
	"log"
	"log/slog"
)

// QuietLog takes the messages of net/http and logs only their kind, each with the message given.
// Their text holds panic values, addresses, data of clients and bytes of responses.
func QuietLog(to *slog.Logger, message string) *log.Logger {
	return log.New(quiet{to, message}, "", 0)
}

type quiet struct {
	to      *slog.Logger
	message string
}

func (q quiet) Write(line []byte) (int, error) {
	level, kind := classify(line)
	q.to.LogAttrs(context.Background(), level, q.message, slog.String("kind", kind)) //nolint:sloglint // by QuietLog
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
		{"Unsolicited response", slog.LevelWarn, "unsolicited_response"},
		{"http2:", slog.LevelWarn, "http2"},
	}
	for _, k := range kinds {
		if bytes.Contains(line, []byte(k.mark)) {
			return k.level, k.kind
		}
	}
	return slog.LevelWarn, "other"
}
