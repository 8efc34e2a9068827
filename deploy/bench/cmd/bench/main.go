// Command bench measures what the design promises in numbers, and prints the table. See package bench for how to read it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/deploy/bench"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const usage = `bench measures Causeway's promises in numbers and prints them beside what they have to reach.

  bench [-seconds N] [-rounds N] [-only P1,P3] [-rows N] [-dir DIR] [-json FILE]

Run it from a checkout, on a machine that has nothing else to do. It builds and starts what it measures.

  -seconds N    how long each side runs in each round (default 3)
  -rounds N     how many rounds (default 5)
  -only P1,P3   these rows only; without it all but P10, which takes minutes and gigabytes, and T1 to T10; P10 on PostgreSQL alone is P10-server
  -rows N       how many rows, over all tables, the large store of P10 has (default 10000000)
  -dir DIR      where the databases are put while it runs; a real disk (default .cache of the checkout)
  -json FILE    also write the report there

Exit codes: 0 all rows measured, whatever they reach; 1 a row could not be measured (the table shows the others); 2 flags that make no sense.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg := bench.Config{Progress: stderr, Clock: clock.System()}
	file, err := parse(args, &cfg)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, usage)
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: %v\n\n%s", err, usage)
		return 2
	}
	if err := measure(ctx, cfg, file, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

// parse fills cfg from the command line and returns the file of -json.
func parse(args []string, cfg *bench.Config) (file string, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	seconds := f.Float64("seconds", 3, "")
	only := f.String("only", "", "")
	f.IntVar(&cfg.Rounds, "rounds", 5, "")
	f.IntVar(&cfg.Rows, "rows", 10_000_000, "")
	f.StringVar(&cfg.Dir, "dir", "", "")
	f.StringVar(&file, "json", "", "")
	if err := f.Parse(args); err != nil {
		return "", err
	}
	if f.NArg() > 0 {
		return "", fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	cfg.Each = time.Duration(*seconds * float64(time.Second))
	if *only != "" {
		cfg.Only = strings.Split(*only, ",")
	}
	return file, nil
}

func measure(ctx context.Context, cfg bench.Config, file string, stdout io.Writer) error {
	var err error
	if cfg.Root, err = programtest.Root(); err != nil {
		return err
	}
	report, err := bench.Run(ctx, cfg)
	if report == nil {
		return err
	}
	if report.Failed() {
		err = errors.Join(err, errors.New("some rows could not be measured: see the table"))
	}
	return errors.Join(err, report.Print(stdout), write(file, report)) // finished rows are kept whatever failed
}

// write writes the report to the file of -json, if there is one.
func write(file string, report *bench.Report) error {
	if file == "" {
		return nil
	}
	text, err := json.Marshal(report, jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("-json: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("-json: %w", err)
	}
	return nil
}
