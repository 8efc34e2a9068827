// Command bench measures the numbers that the design promises, and prints a table. Package bench
// explains the table.
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

	"github.com/causeway-pay/causeway/deploy/bench"
	"github.com/causeway-pay/causeway/shared/clock"
)

const usage = `bench measures Causeway's promises in numbers and prints each with its reach.

Run it from a checkout, on a machine without other load. It builds and starts the programs that it measures.
Exit codes: 0 all rows were measured, whatever they reach; 1 a row was not measured (the table shows the others);
2 invalid flags.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg := bench.Config{Progress: stderr, Clock: clock.System()}
	err := parse(args, &cfg, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
		return 2
	}
	if err := measure(ctx, cfg, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

// parse fills cfg from the command line.
func parse(args []string, cfg *bench.Config, stderr io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		f.PrintDefaults()
	}
	seconds := f.Float64("seconds", 3, "how long each side runs in each round")
	only := f.String("only", "", "`rows` such as P1,P3; without it all but P10 and P11, which take minutes and gigabytes")
	f.IntVar(&cfg.Rounds, "rounds", 5, "how many rounds")
	f.IntVar(&cfg.Rows, "rows", 10_000_000, "`number` of rows, over all tables, of each large store of P10")
	f.IntVar(&cfg.Payments, "payments", 1_000_000, "`number` of payments of the merchant that lists in P11")
	f.StringVar(&cfg.Dir, "dir", "", "`folder` for the databases, on a real disk; without it .cache of the checkout")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	cfg.Each = time.Duration(*seconds * float64(time.Second))
	if *only != "" {
		cfg.Only = strings.Split(*only, ",")
	}
	return nil
}

func measure(ctx context.Context, cfg bench.Config, stdout io.Writer) error {
	report, err := bench.Run(ctx, cfg)
	if report == nil {
		return err
	}
	if report.Failed() {
		err = errors.Join(err, errors.New("some rows were not measured: see the table"))
	}
	return errors.Join(err, report.Print(stdout)) // finished rows are shown after a failure, too
}
