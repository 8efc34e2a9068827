package devca

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// look is the default interval between two checks of the certificate.
const look = time.Minute

// Source renews the identity in a folder while a program runs.
type Source struct {
	Dir   string
	Hosts []string // extra ones, as in Ensure
	Clock clock.Clock
	Look  time.Duration // interval of the checks; 0: every minute
}

var _ certfile.Source = (*Source)(nil)

// Run implements certfile.Source. It sends the first identity and each new one. It sends an error
// that prevents the checks once.
func (s *Source) Run(ctx context.Context, send func(context.Context, certfile.Update)) error {
	tick := time.NewTicker(cmp.Or(s.Look, look))
	defer tick.Stop()
	var known *Identity
	for failed := false; ; {
		id, err := Ensure(s.Dir, s.Clock.Now(), s.Hosts...)
		switch {
		case err != nil && !failed:
			send(ctx, certfile.Update{Refusal: err})
		case err == nil && (known == nil || !known.Certificate.Leaf.Equal(id.Certificate.Leaf)):
			send(ctx, certfile.Update{Pairs: []*certfile.Pair{id.Pair()}})
			known = id
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Pair returns the server's certificate for listeners. The chain omits the authority: clients that
// trust it have it.
func (i *Identity) Pair() *certfile.Pair {
	p := &certfile.Pair{
		Certificate: i.Certificate, Chain: encode("CERTIFICATE", i.Certificate.Leaf.Raw),
		From: certfile.Files{Chain: i.file, Key: i.file},
	}
	if der, err := x509.MarshalPKCS8PrivateKey(i.Certificate.PrivateKey); err == nil { // it was parsed as one
		p.Key = secret.New(string(encode("PRIVATE KEY", der)))
	}
	return p
}

// identity returns the Identity of an authority and a leaf.
func identity(public, file string, authority, leaf *tls.Certificate) *Identity {
	return &Identity{CA: public, Authority: authority.Leaf, Certificate: *leaf, file: file}
}
