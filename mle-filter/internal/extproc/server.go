package extproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// Config holds the parts of a Processor.
type Config = shell.Config

// Processor is the shell for Envoy. It is safe for concurrent use.
type Processor struct {
	extprocv3.UnimplementedExternalProcessorServer
	cfg  Config
	full http.Handler // serves the stream in the request's context
}

// New returns a processor.
func New(cfg Config) (*Processor, error) {
	if cfg.Engine == nil || cfg.Identify == nil {
		return nil, errors.New("extproc: Engine and Identify are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Observe == nil {
		cfg.Observe = func(shell.Exchange) {}
	}
	s := &Processor{cfg: cfg}
	s.full = http.HandlerFunc(s.serve)
	if cfg.Around != nil {
		s.full = cfg.Around(s.full)
	}
	return s, nil
}

// errInternal is the only error that Envoy gets for a fault of the filter.
var errInternal = status.Error(codes.Internal, "mle-filter: internal error")

// Process serves one request of Envoy's client. It returns nil only after Envoy has ended the
// stream: an earlier nil would make Envoy forward the request unchanged.
func (s *Processor) Process(stream extprocv3.ExternalProcessor_ProcessServer) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler: // already logged
			err = errInternal
		default: // the value can hold card data
			s.cfg.Log.ErrorContext(stream.Context(), "mle-filter: panic", slog.String("type", fmt.Sprintf("%T", v)))
			err = errInternal
		}
	}()
	first, err := stream.Recv()
	if err != nil {
		return end(err)
	}
	t := &trip{shell: s, stream: stream, first: first, reply: &reply{header: http.Header{}}}
	s.full.ServeHTTP(t.reply, requestOf(context.WithValue(stream.Context(), tripKey{}, t), first))
	if t.over {
		return t.err
	}
	if response := t.reply.immediate(); response != nil {
		if err := stream.Send(response); err != nil {
			return err
		}
	}
	return s.rest(t)
}

// rest serves a stream until Envoy ends it.
func (s *Processor) rest(t *trip) error {
	for {
		message, err := t.stream.Recv()
		if err != nil {
			return end(err)
		}
		response := t.late(message)
		if response == nil {
			return s.fault(t.stream.Context(), errOrder)
		}
		if err := t.stream.Send(response); err != nil {
			return err
		}
	}
}

// serve responds to the messages of a stream until no more are expected, or until the filter itself
// has responded to the request.
func (s *Processor) serve(w http.ResponseWriter, r *http.Request) {
	ctx, t := r.Context(), tripFrom(r.Context())
	t.writer, t.request = w, r
	httpx.EventFrom(ctx).SetRoute(shell.Route(r.Method, r.URL.Path))
	level, err := levelOf(ctx)
	t.level = level
	for message := t.first; ; {
		var response *extprocv3.ProcessingResponse
		if err == nil {
			response, err = t.respond(ctx, message)
		}
		if err != nil {
			t.endStream(ctx, s.fault(ctx, err), http.StatusServiceUnavailable, "stream_refused")
			return
		}
		if t.phase == ended {
			return
		}
		if err := t.stream.Send(response); err != nil {
			t.endStream(ctx, err, statusGone, "stream_ended")
			return
		}
		if t.phase == responseDone || t.phase == responsePasses {
			return
		}
		if message, err = t.stream.Recv(); err != nil {
			t.endStream(ctx, end(err), statusGone, "stream_ended")
			return
		}
	}
}

// statusGone is the status in the log of a request whose stream Envoy ended before a response: its
// client disconnected, or message_timeout expired.
const statusGone = 499

// end returns the error of Process for the end of a stream: nil only if Envoy ended it without an
// error. Envoy mostly cancels it.
func end(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// fault logs a fault of the stream between Envoy and the filter, and returns the error for Envoy.
func (s *Processor) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	s.cfg.Log.ErrorContext(ctx, "mle-filter: rejected a stream from Envoy", slog.Any("error", err))
	return status.Error(codes.FailedPrecondition, err.Error())
}
