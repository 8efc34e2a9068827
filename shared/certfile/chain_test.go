package certfile_test

import (
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
)

func TestCheckFollowsTheChain(t *testing.T) {
	t.Parallel()
	w := newTrust(t)
	sub := w.below.Intermediate(t)
	leaf, deep := w.below.Issue(t), sub.Issue(t)
	server := w.root.Issue(t) // no authority, though it issues
	belowServer := (&certtest.Authority{Certificate: server.Leaf, Key: server.Key, Above: server.Chain}).Issue(t)
	impostor := certtest.Root(t, func(c *x509.Certificate) { c.Subject = w.below.Certificate.Subject })
	short := w.root.Intermediate(t, func(c *x509.Certificate) { c.MaxPathLen, c.MaxPathLenZero = 0, true })
	narrow := w.root.Intermediate(t, func(c *x509.Certificate) {
		c.PermittedDNSDomainsCritical, c.PermittedDNSDomains = true, []string{"example.com"}
	})
	mail := w.root.Intermediate(t,
		func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection} })
	sha1 := w.root.Intermediate(t, func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 })
	p521 := certtest.ECDSA(t, elliptic.P521())
	above := w.root.IssueFor(t, p521, func(c *x509.Certificate) {
		c.Subject, c.IsCA, c.KeyUsage, c.ExtKeyUsage = pkix.Name{CommonName: "Large"}, true, x509.KeyUsageCertSign, nil
	})
	large := &certtest.Authority{Certificate: above.Leaf, Key: p521, Above: above.Chain}
	tests := []struct {
		name  string
		key   *certtest.Issued
		chain []*x509.Certificate
		codes []certfile.Code // none: it is accepted
		text  string
	}{
		{
			"LoneLeaf", leaf, leaf.Chain[:1], codes(certfile.ChainIncomplete),
			"only the leaf: append the certificate of its issuer, \"CN=Test Intermediate",
		},
		{"LoneLeafOfAKnownRoot", server, server.Chain[:1], nil, ""},
		{
			"MiddleMissing", deep,
			[]*x509.Certificate{deep.Leaf, w.below.Certificate},
			codes(certfile.ChainStray, certfile.ChainIncomplete), "certificate 2",
		},
		{"UpperMissing", deep, deep.Chain[:2], codes(certfile.ChainIncomplete), "append the certificate of its issuer"},
		{
			"UnknownRoot", w.strangeBelow.Issue(t), nil, codes(certfile.ChainIncomplete),
			"append the certificate of its issuer",
		},
		{
			"Swapped", deep,
			[]*x509.Certificate{deep.Leaf, w.below.Certificate, sub.Certificate},
			codes(certfile.ChainOrder),
			"each issuer after",
		},
		{
			"LeafLast", leaf,
			[]*x509.Certificate{w.below.Certificate, leaf.Leaf},
			codes(certfile.ChainOrder),
			"the key belongs to certificate 2",
		},
		{
			"Stray", leaf,
			[]*x509.Certificate{leaf.Leaf, w.below.Certificate, w.strangeBelow.Certificate},
			codes(certfile.ChainStray), "certificate 3",
		},
		{
			"StrayBetween", leaf,
			[]*x509.Certificate{leaf.Leaf, w.strange.Certificate, w.below.Certificate},
			codes(certfile.ChainStray), "certificate 2",
		},
		{
			"Twice", leaf,
			[]*x509.Certificate{leaf.Leaf, w.below.Certificate, w.below.Certificate},
			codes(certfile.ChainStray),
			"certificate 3",
		},
		{
			"SameNameOtherKey", leaf,
			[]*x509.Certificate{leaf.Leaf, impostor.Certificate},
			codes(certfile.ChainStray, certfile.ChainIncomplete), "none of the other certificates issued the first one",
		},
		{"IssuerIsAServer", belowServer, nil, codes(certfile.ChainStray, certfile.ChainIncomplete), ""},
		{"PathTooLong", short.Intermediate(t).Issue(t), nil, codes(certfile.ChainInvalid), ""},
		{"NameOutsideTheConstraint", narrow.Issue(t), nil, codes(certfile.ChainInvalid), "localhost"},
		{"NameInsideTheConstraint", narrow.Issue(t, certtest.Hosts("api.example.com")), nil, nil, ""},
		{"IssuerForMail", mail.Issue(t), nil, codes(certfile.ChainInvalid), ""},
		{"IntermediateBySHA1", sha1.Issue(t), nil, codes(certfile.WeakSignature), "certificate 2"},
		{"LargeCurveAbove", large.Issue(t), nil, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.chain == nil {
				tt.chain = tt.key.Chain
			}
			now := clock.System().Now()
			p := (&certtest.Issued{Leaf: tt.key.Leaf, Chain: tt.chain, Key: tt.key.Key}).Pair(t)
			if tt.codes == nil {
				if _, err := w.rules().Check(now, p); err != nil {
					t.Fatal(err)
				}
				return
			}
			wantRefusal(t, w.rules(), now, p, tt.codes, tt.text)
		})
	}
}
