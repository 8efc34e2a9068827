package main

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/drain"
	"github.com/causeway-pay/causeway/shared/program"
)

const drainUsage = `edge drain has an Envoy that is about to be stopped finish what it has: its clients are told to connect elsewhere, and the command
ends when no request is under way, or with exit code 1 when that takes too long. Stop Envoy then.

Usage:
  edge drain [flags]

Flags:
`

// drain needs no configuration.
func (m *Main) drain(ctx context.Context, args []string) error {
	fs := program.Flags(name+" drain", m.Stderr, drainUsage)
	admin := fs.String("admin", "127.0.0.1:9901", "`address` of Envoy's administration")
	quiet := fs.Duration("quiet", 5*time.Second, "how long to go on at least, for load balancers to hear of it")
	patience := fs.Duration("patience", 30*time.Second, "how long it may take in all")
	onTerm := fs.Bool("on-term", false, "wait for SIGTERM first, as a container beside Envoy's that is stopped with it")
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	if *onTerm {
		<-ctx.Done()
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	return drain.Envoy(ctx, *admin, *quiet)
}
