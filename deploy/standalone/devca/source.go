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

// look is how often a Source looks whether its certificate comes close to its end, unless told otherwise.
const look = time.Minute

// Source renews the identity kept in a folder while a program runs.
type Source struct {
	Dir   string
	Hosts []string // extra ones, as of Ensure
	Clock clock.Clock
	Look  time.Duration // how often it is looked; 0: every minute
}

var _ certfile.Source = (*Source)(nil)

// Run implements certfile.Source: it tells of the identity, of each that takes its place, and once of what keeps it from looking.
func (s *Source) Run(ctx context.Context, tell func(context.Context, certfile.Update)) error {
	tick := time.NewTicker(cmp.Or(s.Look, look))
	defer tick.Stop()
	var known *Identity
	for failed := false; ; {
		id, err := Ensure(s.Dir, s.Clock.Now(), s.Hosts...)
		switch {
		case err != nil && !failed:
			tell(ctx, certfile.Update{Refusal: err})
		case err == nil && (known == nil || !known.Certificate.Leaf.Equal(id.Certificate.Leaf)):
			tell(ctx, certfile.Update{Pairs: []*certfile.Pair{id.Pair()}})
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

// Pair is the server's certificate, as listeners take it. The authority is not sent along: who trusts it has it.
func (i *Identity) Pair() *certfile.Pair {
	p := &certfile.Pair{Certificate: i.Certificate, Chain: encode("CERTIFICATE", i.Certificate.Leaf.Raw), From: certfile.Files{Chain: i.file, Key: i.file}}
	if der, err := x509.MarshalPKCS8PrivateKey(i.Certificate.PrivateKey); err == nil { // it was read as one
		p.Key = secret.New(string(encode("PRIVATE KEY", der)))
	}
	return p
}

// identity is what Ensure returns of what it keeps.
func identity(public, file string, authority, leaf *tls.Certificate) *Identity {
	return &Identity{CA: public, Authority: authority.Leaf, Certificate: *leaf, file: file}
}
