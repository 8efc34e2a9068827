package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/probe"
	"github.com/causeway-pay/causeway/shared/program"
)

// name is the program's name, also in logs and traces.
const name = "standalone"

// operators is the default address of the operators' port, and the path of the health check.
var operators = probe.Program{Name: name, Admin: "127.0.0.1:9083", Path: "/v1/health"}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if code, asked := operators.Command(context.Background(), args, stdout, stderr); asked {
		return code
	}
	flags, err := ParseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, help)
		return program.ExitDone
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "standalone: %v\nTry standalone --help.\n", err)
		return program.ExitUsage
	}
	gc.Relax(os.Getenv)
	return program.Main(name, stderr, New(flags, stdout, stderr).Run)
}
