package certfile_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// waitingLog passes on log events, line by line.
type waitingLog struct {
	lines chan string
}

func (l *waitingLog) Write(p []byte) (int, error) {
	l.lines <- string(p)
	return len(p), nil
}

func (l *waitingLog) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *waitingLog) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-l.lines:
		return line
	case <-time.After(programtest.Patience):
		t.Fatal("nothing is logged")
		return ""
	}
}
