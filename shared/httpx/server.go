package httpx

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/socket"
)

// Options are the handler and the limits of a Server. Only Handler is required.
type Options struct {
	Handler http.Handler
	Hop     secret.String // hops that show it may have any number of connections; zero for none
	TLS     *tls.Config   // of package tlspolicy, whose HSTS every response then carries; nil: plain HTTP/1.1
	Log     *slog.Logger  // nil: nothing is logged
	Clock   clock.Clock   // measures the drain; nil: the system's
	Drain   time.Duration // how long Stop waits for requests under way; 0: 10 s
	Notice  *Notice       // given before Stop; may be nil
}

// Server is one listener with our timeouts and limits. It is started once and stopped once;
// repeating either is safe.
type Server struct {
	http  *http.Server
	tls   *tls.Config // nil for plain HTTP
	log   *slog.Logger
	conns *connections
	clock clock.Clock
	drain time.Duration

	mu   sync.Mutex // guards addr and stopped; Stop holds it while draining, so that a second Stop waits for the first
	addr net.Addr   // nil until Start

	stopped bool
	stopErr error
}

// mostStreams is the number of concurrent requests of a connection by HTTP/2.
const mostStreams = 32

// NewServer returns a server that does not listen yet.
func NewServer(o Options) *Server {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := o.Clock
	if c == nil {
		c = clock.System()
	}
	conns := newConnections(log, o.Hop)
	handler := boundFields(pace(conns.exemptHops(endChunked(o.Notice.around(o.Handler)))))
	if o.TLS != nil {
		handler = strict(endResetting(handler))
	}
	return &Server{
		log: log, conns: conns, clock: c, drain: cmp.Or(o.Drain, 10*time.Second), tls: o.TLS,
		http: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       30 * time.Second,
			WriteTimeout:      60 * time.Second,
			IdleTimeout:       120 * time.Second,
			MaxHeaderBytes:    16 << 10,
			ConnContext:       withResets,
			ErrorLog:          QuietLog(log, "http server"),
			// A client can hold each frame and each stream open, so they are few and small.
			HTTP2: &http.HTTP2Config{MaxConcurrentStreams: mostStreams, MaxReadFrameSize: 16 << 10},
			// "OPTIONS *" would else be handled past our middlewares.
			DisableGeneralOptionsHandler: true,
		},
	}
}

// endChunked closes the connection after a request with a Transfer-Encoding. Such a request may
// also have had a Content-Length, which net/http removes before a handler runs. A proxy in front
// may have used that length, so the rest of the connection cannot be trusted (RFC 9112, 6.1).
func endChunked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 { // HTTP/1.1 alone has it
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Start listens on addr ("127.0.0.1:0" picks a port; "unix:PATH" makes a socket, see package
// socket) and returns the address once connections are accepted. If it was started before, it
// returns the same address. If it was stopped before, the error is http.ErrServerClosed.
func (s *Server) Start(addr string) (net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, http.ErrServerClosed
	}
	if s.addr != nil {
		return s.addr, nil
	}
	ln, err := listen(context.Background(), addr)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s.addr = ln.Addr()
	go s.serve(ln)
	return s.addr, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return socket.Listen(ctx, path)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", addr)
}

func (s *Server) serve(ln net.Listener) {
	err := s.http.Serve(newListener(ln, s.tls, s.conns, s.log))
	if !errors.Is(err, http.ErrServerClosed) {
		s.log.LogAttrs(context.Background(), slog.LevelError, "server failed", slog.String("error", err.Error()))
	}
}

// Stop stops listening and waits for the requests under way, for the drain time or until ctx ends.
// Then it cuts the remaining requests and returns an error. A second call returns the same result.
// If the server was never started, it returns nil.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return s.stopErr
	}
	s.stopped = true
	start := s.clock.Now()
	ctx, cancel := context.WithTimeout(ctx, s.drain)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close() // its error adds nothing to the first one
		s.stopErr = fmt.Errorf("drain: %w", err)
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "server stopped",
		slog.Int64("drain_ms", s.clock.Now().Sub(start).Milliseconds()),
		slog.Bool("drained", s.stopErr == nil),
	)
	return s.stopErr
}
