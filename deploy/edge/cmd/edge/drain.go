package main

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/drain"
	"github.com/causeway-pay/causeway/shared/program"
)

const drainUsage = `edge drain prepares an Envoy for its stop. Envoy closes the connections of its clients after
their requests. The command ends when no request is in progress, or with exit code 1 after its patience. Then
stop Envoy.

Usage:
  edge drain [flags]

Flags:
`

// drain runs without a configuration file.
func (m *Main) drain(ctx context.Context, args []string) error {
	fs := program.Flags(name+" drain", m.Stderr, drainUsage)
	admin := fs.String("admin", "127.0.0.1:9901", "`address` of Envoy's administration, unix:PATH or host:port")
	quiet := fs.Duration("quiet", 5*time.Second, "least `duration`, so that load balancers notice the failed health check")
	patience := fs.Duration("patience", 30*time.Second, "longest `duration`")
	onTerm := fs.Bool("on-term", false, "wait for SIGTERM first, in a container that is stopped together with Envoy's")
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
