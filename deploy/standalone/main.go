package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/probe"
)

// Exit codes, which --help names.
const (
	exitStopped = 0
	exitFailed  = 1
	exitUsage   = 2
)

// operators is where operators look, and what container runtimes ask.
var operators = probe.Program{Name: "standalone", Admin: "127.0.0.1:9083", Path: "/v1/health"}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program but for its exit, which must come after every defer.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once

	if code, asked := operators.Command(ctx, args, stdout, stderr); asked {
		return code
	}
	flags, err := ParseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, help)
		return exitStopped
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "standalone: %v\nTry standalone --help.\n", err)
		return exitUsage
	}
	gc.Relax(os.Getenv)
	if err := New(flags, stdout, stderr).Run(ctx); err != nil {
		_, _ = fmt.Fprintf(stderr, "standalone: %v\n", err)
		return exitFailed
	}
	return exitStopped
}
