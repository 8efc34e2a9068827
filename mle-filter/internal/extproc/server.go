package extproc

import (
	"context"
	"errors"
	"io"
	"log/slog"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
)

// Config is what a Processor is made of.
type Config = shell.Config

// Processor is the shell. It is safe for concurrent use.
type Processor struct {
	extprocv3.UnimplementedExternalProcessorServer
	cfg Config
}

// New returns a processor.
func New(cfg Config) (*Processor, error) {
	if cfg.Engine == nil || cfg.Identify == nil || cfg.IDs == nil {
		return nil, errors.New("extproc: an engine, a way to identify, and ids are needed")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Observe == nil {
		cfg.Observe = func(shell.Exchange) {}
	}
	return &Processor{cfg: cfg}, nil
}

// errInternal is all that Envoy is told of a fault of ours.
var errInternal = status.Error(codes.Internal, "mle-filter: internal error")

// Process serves one request of a client of Envoy's. It returns nil only after Envoy has ended the stream: to return it earlier would let the
// request through as it is.
func (s *Processor) Process(stream extprocv3.ExternalProcessor_ProcessServer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.cfg.Log.ErrorContext(stream.Context(), "mle-filter: panic", slog.Any("panic", v))
			err = errInternal
		}
	}()
	level, err := levelOf(stream.Context())
	if err != nil {
		return s.fault(stream.Context(), err)
	}
	t := &trip{shell: s, level: level}
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err // Canceled as a rule: so Envoy ends a stream
		}
		answer, err := t.answer(stream.Context(), request)
		if err != nil {
			return s.fault(stream.Context(), err)
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// fault says in the log what is wrong between Envoy and us, and gives what Envoy is told.
func (s *Processor) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	s.cfg.Log.ErrorContext(ctx, "mle-filter: Envoy's stream cannot be served", slog.Any("error", err))
	return status.Error(codes.FailedPrecondition, err.Error())
}
