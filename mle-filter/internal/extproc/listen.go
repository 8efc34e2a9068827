package extproc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"github.com/causeway-pay/causeway/shared/socket"
)

const (
	// pingsApart is how often Envoy may ask whether the connection lives.
	pingsApart = 5 * time.Second
)

// Server serves a Processor on a unix socket.
type Server struct {
	grpc  *grpc.Server
	well  *health.Server
	drain time.Duration
	done  chan error
}

// Listen serves p on a socket, which it makes for Envoy's group, until Stop. Streams that are under way then have as long as drain (0: 10 s) to end.
func Listen(ctx context.Context, p *Processor, path string, drain time.Duration) (*Server, error) {
	listener, err := socket.Listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("extproc: %w", err)
	}
	s := &Server{well: health.NewServer(), drain: cmp.Or(drain, 10*time.Second), done: make(chan error, 1), grpc: grpc.NewServer(
		grpc.MaxRecvMsgSize(math.MaxInt32),        // Envoy sends no more than it was told to hold; a stream that we end on it is an empty 503, after core has answered
		grpc.MaxConcurrentStreams(math.MaxUint32), // one for each request under way; what must be bounded is, in the engine
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingsApart, PermitWithoutStream: true}),
	)}
	extprocv3.RegisterExternalProcessorServer(s.grpc, p)
	healthv1.RegisterHealthServer(s.grpc, s.well)
	go func() { s.done <- s.grpc.Serve(listener) }()
	return s, nil
}

// Leave says, to Envoys that ask for its health, that it is about to stop, and serves all the same.
func (s *Server) Leave() { s.well.Shutdown() }

// Stop takes no more requests and waits for those under way, but not for longer than the drain. It is called once.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.drain)
	defer cancel()
	drained := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(drained)
	}()
	var late error
	select {
	case <-drained:
	case <-ctx.Done():
		s.grpc.Stop()
		<-drained
		late = errors.New("extproc: requests were cut that did not end in time")
	}
	err := <-s.done
	if errors.Is(err, grpc.ErrServerStopped) { // before it had begun
		err = nil
	}
	return errors.Join(late, err)
}
