package acme

import (
	"context"
	"crypto/tls"
	"errors"
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
// acme-tls/1. It returns when ctx ends or the listener is closed, and closes the listener.
func (s *Source) ServeTLS(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	defer listener.Close() //nolint:errcheck // it may be closed already
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, handshakes)
	for {
		c, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
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
