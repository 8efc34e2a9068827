package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// flushTime is how long Close waits until the collector has accepted the last spans.
const flushTime = 3 * time.Second

// Config describes the process, and where export errors are logged. Only Getenv is required.
type Config struct {
	Getenv  func(string) string // os.Getenv, except in tests
	Service string              // the service's name unless the environment sets one; "" for "causeway"
	Log     *slog.Logger        // nil for none
	Console io.Writer           // where the exporter "console" writes; nil for nowhere
	Clock   clock.Clock         // for the interval of log events; nil: the system's clock
}

// Provider records spans and sends them. A Provider that is off records none.
type Provider struct {
	sdk   *sdk.TracerProvider // nil when off
	close sync.Once
}

// Open reads the environment and returns a provider, which is off unless an exporter or endpoint is
// configured. It does not connect: a collector that cannot be reached is not an error. The error
// names the variable at fault, and never its value.
func Open(ctx context.Context, c Config) (*Provider, error) {
	c = c.withDefaults()
	e, err := read(c.Getenv, c.Service)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	for _, name := range e.warnings {
		c.Log.WarnContext(ctx, "traces: an environment variable has an invalid value and is ignored",
			slog.String("variable", name))
	}
	if !e.otlp && !e.console {
		return &Provider{}, nil
	}
	quieten()
	options := []sdk.TracerProviderOption{
		sdk.WithSampler(e.sampler),
		sdk.WithResource(resource.NewSchemaless(e.attributes...)),
		sdk.WithRawSpanLimits(limits),
	}
	if e.otlp {
		exporter, err := openOTLP(ctx, e)
		if err != nil {
			return nil, err
		}
		options = append(options,
			sdk.WithBatcher(&reporting{SpanExporter: exporter, log: c.Log, clock: c.Clock}, e.batches...))
	}
	if e.console {
		exporter, err := stdouttrace.New(stdouttrace.WithWriter(c.Console))
		if err != nil {
			return nil, fmt.Errorf("traces: console: %w", err)
		}
		options = append(options, sdk.WithBatcher(exporter, e.batches...))
	}
	return &Provider{sdk: sdk.NewTracerProvider(options...)}, nil
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Console == nil {
		c.Console = io.Discard
	}
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	if c.Service == "" {
		c.Service = "causeway"
	}
	return c
}

// limits bound the memory of one span. Our spans are much smaller.
var limits = sdk.SpanLimits{
	AttributeValueLengthLimit: 128, AttributeCountLimit: 16, EventCountLimit: 0, LinkCountLimit: 4,
	AttributePerEventCountLimit: 0, AttributePerLinkCountLimit: 0,
}

// quieten stops the SDK from writing to stderr. Its texts repeat the variables and the collector's
// responses, secrets included. A failed export is logged by the class of its error.
var quieten = sync.OnceFunc(func() {
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
})

func openOTLP(ctx context.Context, e *environment) (sdk.SpanExporter, error) {
	exporter, err := otlptrace.New(ctx, newClient(e))
	if err != nil {
		return nil, errors.New("traces: the OTLP exporter could not be created") // its error may hold the endpoint
	}
	return exporter, nil
}

// Tracer returns the tracer of a part of the process, nil when off.
func (p *Provider) Tracer(part string) *telemetry.Tracer {
	if p.sdk == nil {
		return nil
	}
	return telemetry.New(p.sdk.Tracer("github.com/causeway-pay/causeway/" + part))
}

// Close sends the waiting spans, for three seconds at most, and ends. It has no error: spans are
// not worth a failed stop. It is safe to call twice.
func (p *Provider) Close(ctx context.Context) {
	p.close.Do(func() {
		if p.sdk == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		_ = p.sdk.Shutdown(ctx) // spans that it could not send were logged
	})
}
