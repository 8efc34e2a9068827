package engine

import (
	"context"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// tracedPass is the span of a background pass. It begins with the first thing there is to do, so that a pass that finds nothing leaves none.
// The commits of a pass get no spans below it: a day's end makes thousands, which would crowd out those of payments.
type tracedPass struct {
	tracer        *telemetry.Tracer
	name          string
	span          telemetry.Span
	objects, done int
}

// found counts what is to be done.
func (p *tracedPass) found(ctx context.Context, n int) {
	if n > 0 && p.objects == 0 {
		_, p.span = p.tracer.Pass(ctx, p.name)
	}
	p.objects += n
}

// end writes down what came of it.
func (p *tracedPass) end(err error) {
	p.span.Int(telemetry.Objects, p.objects)
	p.span.Int(telemetry.Finished, p.done)
	if err != nil {
		p.span.Fail("store")
	}
	p.span.End()
}
