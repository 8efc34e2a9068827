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

// lookEvery is how often the files of the certificate are read, while clients connect.
const lookEvery = time.Second

// certificate is that of the listener, which follows its files: a pair that is put in their place serves the connections that come then. What is
// no pair, as when one file of two was replaced, leaves the one before. Authorities of their own are as welcome as any: who connects here is the
// operator's.
type certificate struct {
	chain, key string // paths
	clock      clock.Clock
	log        *slog.Logger
	present    atomic.Pointer[tls.Certificate]

	mu     sync.Mutex
	read   [][]byte  // guarded by mu; what the files held last
	looked time.Time // guarded by mu
}

// openCertificate reads the files. It is nil when there are to be none, for plain HTTP.
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

// policy is nil for plain HTTP.
func (p *certificate) policy() *tls.Config {
	if p == nil {
		return nil
	}
	return tlspolicy.Server(p.get)
}

// get is asked at every handshake. One of those that come at the same time looks at the files, and the others do not wait for it.
func (p *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if p.mu.TryLock() {
		defer p.mu.Unlock()
		if now := p.clock.Now(); now.Sub(p.looked) >= lookEvery {
			p.looked = now
			switch changed, err := p.look(); {
			case err != nil:
				p.log.ErrorContext(hello.Context(), "mle-filter: the new certificate is not taken, the one before goes on", slog.Any("error", err))
			case changed:
				p.log.InfoContext(hello.Context(), "mle-filter: new certificate", slog.Time("until", p.present.Load().Leaf.NotAfter))
			}
		}
	}
	return p.present.Load(), nil
}

// look reads the files, and takes what they hold if that is something else than the last time. The error comes once for each content.
func (p *certificate) look() (changed bool, err error) {
	chain, err := os.ReadFile(p.chain)
	key, wrong := os.ReadFile(p.key)
	if err = errors.Join(err, wrong); err != nil {
		chain, key = []byte(err.Error()), nil // what stands for files that are not there
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
