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

// reportEvery is how often lost spans are logged.
const reportEvery = time.Minute

// reporting is an exporter that logs the class of its errors. Their texts hold the collector's
// response and address.
type reporting struct {
	sdk.SpanExporter
	log   *slog.Logger
	clock clock.Clock

	mu   sync.Mutex
	next time.Time // guarded by mu: no log event before this time
	lost int       // guarded by mu: spans, since the last log event
}

// ExportSpans sends spans. It logs the number of lost spans and the class of the error, at most
// once a minute, and always returns nil.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += len(spans)
	if now := r.clock.Now(); !now.Before(r.next) {
		r.log.WarnContext(ctx,
			"traces: spans were lost, because the collector did not accept them: check OTEL_EXPORTER_OTLP_ENDPOINT",
			slog.String("class", class(errors.Join(err, ctx.Err()))), slog.Int("spans", r.lost))
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
