package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// lookEvery is the interval between reads of the certificate files, while clients connect.
const lookEvery = time.Second

// certificate is the listener's certificate, which follows its files. New connections get the pair
// that is in the files. If the files hold no valid pair, because only one was replaced, the
// previous pair stays. Any authority is accepted, because the operator chooses the clients.
type certificate struct {
	chain, key string // paths
	clock      clock.Clock
	log        *slog.Logger
	present    atomic.Pointer[tls.Certificate]

	mu     sync.Mutex
	read   [][]byte  // guarded by mu; the last content of the files
	looked time.Time // guarded by mu
}

// openCertificate reads the files. It returns nil for plain HTTP, if no files are configured.
func openCertificate(chain, key string, c clock.Clock, log *slog.Logger) (*certificate, error) {
	if chain == "" && key == "" {
		return nil, nil
	}
	p := &certificate{chain: chain, key: key, clock: c, log: log, looked: c.Now()}
	if _, err := p.look(); err != nil {
		return nil, err
	}
	return p, nil
}

// policy returns nil for plain HTTP.
func (p *certificate) policy() *tls.Config {
	if p == nil {
		return nil
	}
	return tlspolicy.Server(p.get)
}

// get is called for every handshake. One of several concurrent calls reads the files; the others do
// not wait for it.
func (p *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if p.mu.TryLock() {
		defer p.mu.Unlock()
		if now := p.clock.Now(); now.Sub(p.looked) >= lookEvery {
			p.looked = now
			switch changed, err := p.look(); {
			case err != nil:
				p.log.ErrorContext(hello.Context(), "mle-filter: the new certificate was rejected, the previous one stays", slog.Any("error", err))
			case changed:
				p.log.InfoContext(hello.Context(), "mle-filter: new certificate", slog.Time("until", p.present.Load().Leaf.NotAfter))
			}
		}
	}
	return p.present.Load(), nil
}

// look reads the files, and uses the pair if it has changed. It returns an error only once for each
// content.
func (p *certificate) look() (changed bool, err error) {
	chain, err := os.ReadFile(p.chain)
	key, wrong := os.ReadFile(p.key)
	if err = errors.Join(err, wrong); err != nil {
		chain, key = []byte(err.Error()), nil // stands for the content of the missing files
	}
	content := [][]byte{chain, key}
	if slices.EqualFunc(content, p.read, slices.Equal) {
		return false, nil
	}
	p.read = content
	if err != nil {
		return false, fmt.Errorf("certificate and private_key: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return false, fmt.Errorf("certificate and private_key: %w", err)
	}
	if err := (tlspolicy.Policy{}).Takes(pair.Leaf.PublicKey); err != nil {
		return false, fmt.Errorf("certificate: %w", err)
	}
	p.present.Store(&pair)
	return true, nil
}
