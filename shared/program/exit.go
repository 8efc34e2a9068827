package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, which the help of every program names.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// Main carries out a command and returns the exit code. SIGTERM and SIGINT end the command's context; a second one ends the process at once.
func Main(name string, stderr io.Writer, command func(ctx context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return ExitCode(name, stderr, command(ctx))
}

// ExitCode gives the code that goes with how a command ended, and says what is wrong unless that was said: ErrUsage was.
func ExitCode(name string, stderr io.Writer, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return ExitDone
	case errors.Is(err, ErrUsage):
		return ExitUsage
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err) // nobody is left to tell
	return ExitFailed
}
