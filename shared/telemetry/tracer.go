package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes spans. A nil Tracer makes none. It is safe for concurrent use.
type Tracer struct{ tracer trace.Tracer }

// New returns a tracer on top of t.
func New(t trace.Tracer) *Tracer { return &Tracer{t} }

// Server begins the span of a request, as a child of the caller's span. name is the method and the
// route, if these are known.
func (t *Tracer) Server(ctx context.Context, name string, caller Remote) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.start(caller.under(ctx), name, trace.SpanKindServer)
}

// Client begins the span of a request that we make.
func (t *Tracer) Client(ctx context.Context, name string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.start(ctx, name, trace.SpanKindClient)
}

// ClientOf begins the span of a request that we make on behalf of an earlier one. It is a child of
// the earlier span. If that is over, it begins a new trace with a link to it. For the zero Origin
// it begins a new trace.
func (t *Tracer) ClientOf(ctx context.Context, name string, of Origin, over bool) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	if over || !of.span.IsValid() {
		return t.start(ctx, name, trace.SpanKindClient, trace.WithNewRoot(), trace.WithLinks(links(of)...))
	}
	return t.start(trace.ContextWithRemoteSpanContext(ctx, of.span), name, trace.SpanKindClient)
}

func links(of Origin) []trace.Link {
	if !of.span.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: of.span}}
}

// Pass begins the span of background work, in a new trace.
func (t *Tracer) Pass(ctx context.Context, name string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.start(ctx, name, trace.SpanKindInternal, trace.WithNewRoot())
}

// Step begins a child span of the span in ctx. It returns the zero Span if ctx has none.
func (t *Tracer) Step(ctx context.Context, name string) (context.Context, Span) {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, Span{}
	}
	return t.start(ctx, name, trace.SpanKindInternal)
}

func (t *Tracer) start(ctx context.Context, name string, kind trace.SpanKind,
	more ...trace.SpanStartOption,
) (context.Context, Span) {
	ctx, span := t.tracer.Start(ctx, word(name), append(more, trace.WithSpanKind(kind))...)
	return ctx, Span{span}
}

// Origin is the span of a request, for work that is done on its behalf later. The zero Origin has
// no span.
type Origin struct{ span trace.SpanContext }

// OriginOf returns the span that ctx is in.
func (t *Tracer) OriginOf(ctx context.Context) Origin {
	if t == nil {
		return Origin{}
	}
	return Origin{trace.SpanContextFromContext(ctx)}
}

// IsZero reports whether the Origin has no span.
func (o Origin) IsZero() bool { return !o.span.IsValid() }

// Span is one piece of work in a trace. Methods of the zero Span have no effect. A Span belongs to
// the goroutine that began it.
type Span struct{ span trace.Span }

// Name replaces the name, once it is known which route a request took.
func (s Span) Name(name string) {
	if s.recording() {
		s.span.SetName(word(name))
	}
}

// Word sets an attribute to a word of ours. Any other text is masked. An empty word sets nothing.
func (s Span) Word(k Key, value string) {
	if s.recording() && value != "" {
		s.span.SetAttributes(attribute.KeyValue{Key: k.name, Value: attribute.StringValue(word(value))})
	}
}

// Int sets an attribute to a number.
func (s Span) Int(k Key, value int) {
	if s.recording() {
		s.span.SetAttributes(attribute.KeyValue{Key: k.name, Value: attribute.IntValue(value)})
	}
}

// Fail records that the work failed, and the class of the error. The error's text is not for spans.
func (s Span) Fail(class string) {
	if s.recording() {
		s.Word(ErrorType, class)
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// TraceID is 32 hexadecimal digits, "" without a span.
func (s Span) TraceID() string {
	if s.span == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// SetHeaders makes the receiver of a request with these headers a child of the span. Only the
// span's own ids are sent.
func (s Span) SetHeaders(h http.Header) {
	if s.span == nil || !s.span.SpanContext().IsValid() {
		return
	}
	c := s.span.SpanContext()
	h[headerParent] = []string{"00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" +
		(c.TraceFlags() & trace.FlagsSampled).String()}
}

func (s Span) recording() bool { return s.span != nil && s.span.IsRecording() }
