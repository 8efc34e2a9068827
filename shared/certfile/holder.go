package certfile

import (
	"context"
	"crypto/tls"
	"errors"
	"sync/atomic"
)

// Holder holds the current certificates of a crypto/tls listener. The zero value holds none. It is
// safe for concurrent use.
type Holder struct {
	pairs atomic.Pointer[[]*Pair]
}

var errNoPair = errors.New("certfile: no certificate was loaded yet")

// Hold replaces the pairs for new handshakes. Open connections stay.
func (h *Holder) Hold(pairs ...*Pair) {
	h.pairs.Store(&pairs)
}

// Take holds the pairs of an update. After a refusal the present ones stay. It fits Source.Run.
func (h *Holder) Take(_ context.Context, u Update) {
	if u.Refusal == nil {
		h.Hold(u.Pairs...)
	}
}

// Pairs returns the present pairs. Callers must not change them.
func (h *Holder) Pairs() []*Pair {
	if pairs := h.pairs.Load(); pairs != nil {
		return *pairs
	}
	return nil
}

// GetCertificate implements tls.Config.GetCertificate. It returns the first pair that the client
// supports, or else the first pair, so that the client reports the mismatch.
func (h *Holder) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	pairs := h.Pairs()
	if len(pairs) == 0 {
		return nil, errNoPair
	}
	for _, p := range pairs {
		if len(pairs) == 1 || hello.SupportsCertificate(&p.Certificate) == nil {
			return &p.Certificate, nil
		}
	}
	return &pairs[0].Certificate, nil
}
