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
	// pingsApart is the shortest time between two keepalive pings of Envoy.
	pingsApart = 5 * time.Second
)

// Server serves a Processor on a unix socket.
type Server struct {
	grpc  *grpc.Server
	well  *health.Server
	drain time.Duration
	done  chan error
}

// Listen serves p on a unix socket until Stop. Envoy's group can open the socket. After Stop,
// streams in progress have the time drain to end; 0 stands for 10 s.
func Listen(ctx context.Context, p *Processor, path string, drain time.Duration) (*Server, error) {
	listener, err := socket.Listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("extproc: %w", err)
	}
	s := &Server{well: health.NewServer(), drain: cmp.Or(
		drain, 10*time.Second,
	), done: make(chan error, 1), grpc: grpc.NewServer(
		// Envoy sends at most its buffer limit. An error here would be an empty 503 after core's
		// response.
		grpc.MaxRecvMsgSize(math.MaxInt32),
		// One for each request in progress; the engine and the admission bound them.
		grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingsApart, PermitWithoutStream: true}),
	)}
	extprocv3.RegisterExternalProcessorServer(s.grpc, p)
	healthv1.RegisterHealthServer(s.grpc, s.well)
	go func() { s.done <- s.grpc.Serve(listener) }()
	return s, nil
}

// Leave reports to the health checks of Envoy that the server will stop. It still serves requests.
func (s *Server) Leave() { s.well.Shutdown() }

// Stop accepts no more requests and waits for the requests in progress, at most for the drain time.
// It is called once.
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
		late = errors.New("extproc: cut requests that did not end within the drain time")
	}
	err := <-s.done
	if errors.Is(err, grpc.ErrServerStopped) { // before Serve began
		err = nil
	}
	return errors.Join(late, err)
}
