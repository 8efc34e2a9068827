package acme

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"

	"github.com/causeway-pay/causeway/shared/certfile"
)

const (
	loopback          = "127.0.0.1"
	orderPatience     = 10 * time.Minute // for a whole order
	adviceEvery       = time.Hour        // between two requests for renewal information, at least
	challengePatience = 3 * time.Minute  // for the validation of a challenge
)

// order orders a certificate for all hosts with a new key, and checks it.
func (s *Source) order(ctx context.Context) (*certfile.Pair, error) {
	ctx, cancel := context.WithTimeout(ctx, orderPatience)
	defer cancel()
	release, err := s.occupy(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	request, err := acmez.NewCSR(key, s.Hosts)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	if err := s.issuer.PreCheck(ctx, s.Hosts, false); err != nil {
		return nil, err
	}
	accounts := s.accounts.Load()
	issued, err := s.issuer.Issue(ctx, request)
	if err != nil && s.accounts.Load() > accounts+1 {
		// The authority has lost the account. certmagic 0.25.6 then registers another one but orders with
		// the old one, and repeats that. The new account works for a second call.
		issued, err = s.issuer.Issue(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	return s.accept(ctx, issued.Certificate, key)
}

// accept returns a pair made of the authority's chain, if it passes the checks.
func (s *Source) accept(ctx context.Context, chain []byte, key *ecdsa.PrivateKey) (*certfile.Pair, error) {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write the key: %w", err)
	}
	pair, err := certfile.Parse(s.store.from(), chain, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	if err != nil {
		return nil, fmt.Errorf("the issued certificate is invalid: %w", err)
	}
	if _, err := s.examine(pair); err != nil {
		return nil, fmt.Errorf("the issued certificate is invalid: %w", err)
	}
	return pair, s.store.savePair(ctx, pair, s.Directory)
}

// skew is how far the authority's clock may be ahead of ours: some authorities do not date
// certificates back.
const skew = 5 * time.Minute

// examine checks a pair of the authority.
func (s *Source) examine(pair *certfile.Pair) (warnings []certfile.Reason, err error) {
	now := s.Clock.Now()
	if begins := pair.Leaf().NotBefore; begins.After(now) && begins.Before(now.Add(skew)) {
		now = begins
	}
	return s.rules.Check(now, pair)
}

// occupy keeps certmagic from opening ports for challenges, which Handler and ServeTLS serve: it
// opens none where a listener exists. This listener closes every connection.
func (s *Source) occupy(ctx context.Context) (release func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("hold a port: %w", err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok {
		s.issuer.AltHTTPPort, s.issuer.AltTLSALPNPort = at.Port, at.Port
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c := range s.connections(ctx, listener) {
			_ = c.Close()
		}
	}()
	return func() {
		_ = listener.Close()
		<-done
	}, nil
}

// fetchAdvice requests the authority's renewal information, unless it did so lately. An authority
// without such information is no error.
func (r *running) fetchAdvice(ctx context.Context) {
	now, before := r.Clock.Now(), r.state.Advice
	early := before != nil && before.RetryAfter != nil && now.Before(*before.RetryAfter)
	if early || now.Before(r.advised.Add(adviceEvery)) {
		return
	}
	r.advised = now
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	advice, err := r.issuer.GetRenewalInfo(ctx, certmagic.Certificate{Certificate: r.pair.Certificate})
	if err != nil {
		r.Log.DebugContext(ctx, "acme: no renewal information", slog.Any("error", err))
		return
	}
	if before != nil && before.SameWindow(advice) {
		advice.SelectedTime = before.SelectedTime // drawn once at random
	}
	r.state.Advice = &advice
	if err := r.store.saveState(ctx, r.state); err != nil {
		r.Log.WarnContext(ctx, "acme: the state was not written to the folder of data; it is retried", slog.Any("error", err))
	}
}
