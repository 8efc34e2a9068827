package extproc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

const (
	// socketMode lets in Envoy, which shares the group, and nobody else.
	socketMode = 0o660
	// frame is what a message holds beside a body, at most.
	frame = 256 << 10
	// pingsApart is how often Envoy may ask whether the connection lives.
	pingsApart = 5 * time.Second
)

// Server serves a Processor on a unix socket.
type Server struct {
	grpc  *grpc.Server
	path  string
	drain time.Duration
	done  chan error
}

// Listen serves p on a socket, which it makes, until Stop. Streams that are under way then have as long as drain (0: 10 s) to end.
func Listen(ctx context.Context, p *Processor, path string, drain time.Duration) (*Server, error) {
	listener, err := listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("extproc: %w", err)
	}
	limits := p.cfg.Engine.Settings()
	s := &Server{path: path, drain: cmp.Or(drain, 10*time.Second), done: make(chan error, 1), grpc: grpc.NewServer(
		grpc.MaxRecvMsgSize(max(limits.MaxBody, limits.MaxResponse)+frame),
		grpc.MaxConcurrentStreams(math.MaxUint32), // one for each request under way; what must be bounded is, in the engine
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingsApart, PermitWithoutStream: true}),
	)}
	extprocv3.RegisterExternalProcessorServer(s.grpc, p)
	go func() { s.done <- s.grpc.Serve(listener) }()
	return s, nil
}

// listen makes the socket in a folder of its own, so that nobody gets in before it has its mode, and then moves it to its place. What a
// process that died left there goes; one that lives keeps it.
func listen(ctx context.Context, path string) (net.Listener, error) {
	var dialer net.Dialer
	if c, err := dialer.DialContext(ctx, "unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("%s is being served", path), c.Close())
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing of worth is in it
	var cfg net.ListenConfig
	made := filepath.Join(dir, "s")
	listener, err := cfg.Listen(ctx, "unix", made)
	if err != nil {
		return nil, err
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false)
	}
	if err := errors.Join(os.Chmod(made, socketMode), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Stop takes no more requests and waits for those under way, but not for longer than the drain. It is called once. The socket goes first, while
// it is ours for certain: a successor may make its own as soon as nobody answers here, long before the last request has ended.
func (s *Server) Stop(ctx context.Context) error {
	gone := os.Remove(s.path)
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
	return errors.Join(late, err, gone)
}
