package mlefilter

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/shared/id"
)

// ServeEnvoy serves Envoy's external processing on a unix socket of that name, which it makes: Envoy carries the requests then, and asks the
// filter what to do with them. The paths under /v1/mle are Handler's still. Stop waits for the requests under way, for as long as drain says
// (0: 10 s), and comes before Close.
func (f *Filter) ServeEnvoy(ctx context.Context, socket string, drain time.Duration) (stop func(context.Context) error, err error) {
	processor, err := extproc.New(extproc.Config{
		Engine: f.engine, Identify: f.identify, IDs: id.NewGenerator(f.cfg.Clock), Log: f.cfg.Log,
		Observe: func(e extproc.Exchange) { f.metrics.Exchange(httphop.Exchange(e)) },
	})
	if err != nil {
		return nil, fmt.Errorf("mle-filter: %w", err)
	}
	server, err := extproc.Listen(ctx, processor, socket, cmp.Or(drain, 10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("mle-filter: %w", err)
	}
	return server.Stop, nil
}
