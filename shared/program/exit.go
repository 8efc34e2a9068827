package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// Exit codes, which the help of every program names.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// Main carries out a command and returns the exit code. SIGTERM and SIGINT end the command's
// context; a second one ends the process immediately.
func Main(name string, stderr io.Writer, command func(ctx context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	// HTTP clients write to the standard logger, with bytes of responses.
	log.SetFlags(0)
	log.SetOutput(httpx.QuietLog(slog.New(slog.NewJSONHandler(stderr, nil)), "http client").Writer())
	return ExitCode(name, stderr, command(ctx))
}

// ExitCode returns the exit code for a command's error, and prints the error. It does not print
// ErrUsage, whose details were printed before.
func ExitCode(name string, stderr io.Writer, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return ExitDone
	case errors.Is(err, ErrUsage):
		return ExitUsage
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err) // an output that fails cannot report it
	return ExitFailed
}
