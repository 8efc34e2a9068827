package acme

import (
	"context"
	"crypto/tls"
	"errors"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mholt/acmez/v3"
)

// ChallengePath is the path of Handler, on plain HTTP at port 80 of every host.
const ChallengePath = "/.well-known/acme-challenge/"

// Handler serves HTTP-01 for the hosts of the current order. Every other request gets 404.
func (s *Source) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.issuer.HandleHTTPChallenge(w, r) {
			http.NotFound(w, r)
		}
	})
}

const (
	handshakes        = 32 // concurrently
	handshakePatience = 10 * time.Second
)

var errNoChallenge = errors.New("acme: not a challenge")

// ServeTLS serves TLS-ALPN-01 on a listener that gets the connections of port 443 with the protocol
// acme-tls/1. It returns when ctx ends or the listener is closed, and closes the listener. Other
// errors of the listener, such as too many open files, do not end it.
func (s *Source) ServeTLS(ctx context.Context, listener net.Listener) {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	defer listener.Close() //nolint:errcheck // it may be closed already
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, handshakes)
	for c := range s.connections(ctx, listener) {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			defer c.Close() //nolint:errcheck // it sent no data
			ctx, cancel := context.WithTimeout(ctx, handshakePatience)
			defer cancel()
			_ = tls.Server(c, s.challengeTLS()).HandshakeContext(ctx) // the authority reports a failure
		})
	}
}

const (
	shortestAcceptPause = 5 * time.Millisecond // it doubles with each failure
	longestAcceptPause  = time.Second
)

// connections returns the connections of a listener until it is closed or ctx ends. After any other
// error it pauses, then continues: a shortage of files or memory passes.
func (s *Source) connections(ctx context.Context, listener net.Listener) iter.Seq[net.Conn] {
	return func(yield func(net.Conn) bool) {
		pause := shortestAcceptPause
		for {
			c, err := listener.Accept()
			switch {
			case err == nil:
				pause = shortestAcceptPause
				if !yield(c) {
					return
				}
				continue
			case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
				return
			}
			s.Log.WarnContext(ctx, "acme: the listener for challenges accepted no connection; it is retried",
				slog.Any("error", err), slog.Duration("pause", pause))
			retry := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				retry.Stop()
				return
			case <-retry.C:
			}
			pause = min(2*pause, longestAcceptPause)
		}
	}
}

// challengeTLS returns the TLS configuration for challenges, which consist of the handshake only.
func (s *Source) challengeTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{acmez.ACMETLS1Protocol},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if !s.TLSALPN01 || !slices.Equal(hello.SupportedProtos, []string{acmez.ACMETLS1Protocol}) {
				return nil, errNoChallenge
			}
			return s.config.GetCertificate(hello)
		},
	}
}
