package telemetry_test

import (
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// recorder returns a tracer and its recorded spans.
func recorder(t *testing.T) (*telemetry.Tracer, *tracetest.SpanRecorder) {
	t.Helper()
	r := tracetest.NewSpanRecorder()
	return telemetry.New(trace.NewTracerProvider(trace.WithSpanProcessor(r)).Tracer("test")), r
}

func TestOnlyWordsBecomeAttributes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"captured": "captured", "/v1/transactions/{id}": "/v1/transactions/{id}", "POST": "POST",
		"req_0123456789012": "req_0123456789012",
		"declined/2":        "declined/2", "E00027": "E00027", "dns_failed": "dns_failed",
		"4242424242424242": "-", "req_42424242424242": "-", "a@example.com": "-", "x=1": "-", "Müller": "-", "a\nb": "-",
		"1234?card=1":           "-",
		strings.Repeat("a", 96): strings.Repeat("a", 96), strings.Repeat("a", 97): "-",
	} {
		tracer, recorded := recorder(t)
		_, span := tracer.Client(t.Context(), value)
		span.Word(telemetry.Outcome, value)
		span.End()
		got := recorded.Ended()[0]
		if a := got.Attributes(); len(a) != 1 || a[0].Value.AsString() != want || got.Name() != want {
			t.Errorf("%q: got %v in a span named %q, want %q", value, a, got.Name(), want)
		}
	}
}

func TestParents(t *testing.T) {
	t.Parallel()
	tracer, recorded := recorder(t)
	caller := telemetry.Parse(http.Header{"Traceparent": {parent}, "Tracestate": {"vendor=secret"}})
	ctx, server := tracer.Server(t.Context(), "server", caller)
	_, step := tracer.Step(ctx, "step")
	step.End()
	origin := tracer.OriginOf(ctx)
	server.Fail("broken")
	server.End()
	_, first := tracer.ClientOf(t.Context(), "first", origin, false)
	first.End()
	_, later := tracer.ClientOf(t.Context(), "later", origin, true)
	later.End()
	_, outside := tracer.Step(t.Context(), "outside")
	if outside.End(); outside != (telemetry.Span{}) {
		t.Error("a step outside of any trace has a span")
	}
	_, pass := tracer.Pass(ctx, "pass")
	pass.End()
	spans := map[string]trace.ReadOnlySpan{}
	for _, s := range recorded.Ended() {
		spans[s.Name()] = s
		if s.SpanContext().TraceState().Len() != 0 || len(s.Events()) != 0 {
			t.Errorf("%s has a tracestate or events", s.Name())
		}
	}
	if got := spans["server"].Parent().SpanID().String(); got != parent[36:52] ||
		spans["server"].SpanContext().TraceID().String() != traceID {
		t.Errorf("the request's parent: got %s, want %s", got, parent[36:52])
	}
	id := spans["server"].SpanContext().SpanID()
	for _, name := range []string{"step", "first"} {
		if got := spans[name].Parent().SpanID(); got != id {
			t.Errorf("%s: got parent %s, want %s", name, got, id)
		}
	}
	for _, name := range []string{"later", "pass"} {
		if s := spans[name]; s.Parent().IsValid() || s.SpanContext().TraceID().String() == traceID {
			t.Errorf("%s is part of the request's trace", name)
		}
	}
	if l := spans["later"].Links(); len(l) != 1 || l[0].SpanContext.SpanID() != id {
		t.Errorf("later: got links %v, want one to %s", l, id)
	}
	if d := spans["server"].Status().Description; d != "" {
		t.Errorf("the failure is described as %q", d)
	}
}

// Not parallel: AllocsPerRun counts the whole process.
func TestOffMakesNothing(t *testing.T) {
	h := http.Header{}
	header := http.Header{}
	ctx := t.Context()
	work := func() {
		var off *telemetry.Tracer
		caller := telemetry.Parse(header)
		ctx, span := off.Server(ctx, "server", caller)
		_, client := off.Client(ctx, "client")
		_, step := off.Step(ctx, "step")
		_, pass := off.Pass(ctx, "pass")
		_, of := off.ClientOf(ctx, "of", off.OriginOf(ctx), false)
		for _, s := range []telemetry.Span{span, client, step, pass, of} {
			s.Name("other")
			s.Word(telemetry.Outcome, "captured")
			s.Int(telemetry.Status, 201)
			s.Fail("timeout")
			s.SetHeaders(h)
			s.End()
		}
	}
	if got := testing.AllocsPerRun(100, work); got != 0 {
		t.Errorf("allocations: got %v, want 0", got)
	}
	if len(h) != 0 {
		t.Errorf("headers: got %v, want none", h)
	}
}
