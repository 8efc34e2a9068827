package export

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/causeway-pay/causeway/shared/clock"
)

// reportEvery is how often it is said that spans were lost.
const reportEvery = time.Minute

// reporting is an exporter that logs of what class its errors are. Their texts hold what the collector answered, and where it is.
type reporting struct {
	sdk.SpanExporter
	log   *slog.Logger
	clock clock.Clock

	mu   sync.Mutex
	next time.Time // guarded by mu: not before is anything said again
	lost int       // guarded by mu: spans, since it was said last
}

// ExportSpans sends spans. Its error was logged, and is for nobody else.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += len(spans)
	if now := r.clock.Now(); !now.Before(r.next) {
		r.log.WarnContext(ctx, "traces: the collector did not take spans", slog.String("class", class(errors.Join(err, ctx.Err()))), slog.Int("spans", r.lost))
		r.next, r.lost = now.Add(reportEvery), 0
	}
	return nil
}

func class(err error) string {
	var timeout net.Error
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &op):
		return "connection"
	}
	return "refused"
}
