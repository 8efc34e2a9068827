package engine

import (
	"context"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	// dueBatch is how many rows a background pass reads at a time.
	dueBatch = 500
	// commitBatch is how many objects a pass changes in one commit, so that no payment waits long for
	// the writer.
	commitBatch = 50
)

// tracedPass is the span of a background pass. It begins with the first object, so a pass that
// finds nothing leaves no span. The commits of a pass have no spans: the end of a day makes
// thousands, which would displace the spans of payments.
type tracedPass struct {
	tracer        *telemetry.Tracer
	name          string
	span          telemetry.Span
	objects, done int
}

// found counts the objects of the pass.
func (p *tracedPass) found(ctx context.Context, n int) {
	if n > 0 && p.objects == 0 {
		_, p.span = p.tracer.Pass(ctx, p.name)
	}
	p.objects += n
}

// end records the results of the pass.
func (p *tracedPass) end(err error) {
	p.span.Int(telemetry.Objects, p.objects)
	p.span.Int(telemetry.Finished, p.done)
	if err != nil {
		p.span.Fail("store")
	}
	p.span.End()
}

// Skipped logs and counts an object that a background pass left as it was, for
// store.DB.ObserveSkips.
func (e *Engine) Skipped(ctx context.Context, s pass.Skip) {
	e.Observer.Skipped(s.Pass)
	e.Log.ErrorContext(ctx, "pass: an object was skipped; a later pass retries it", slog.String("pass", s.Pass), slog.String("kind", s.Kind),
		slog.Int64("id", s.ID), slog.Any("error", s.Err))
}
