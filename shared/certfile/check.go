package certfile

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Rules are the requirements of a pair. The zero value checks everything except the host names.
type Rules struct {
	Hosts []string       // names and addresses that the leaf must cover
	Roots *x509.CertPool // authorities that clients trust; nil: the system's
	// Policy is the TLS policy of the listener. The pairs that are served together must fit the
	// cipher suites of TLS 1.2 that it allows.
	Policy tlspolicy.Policy
	// OpenRoot accepts, with a warning, a chain of more than the leaf that ends below an unknown root.
	// The chains of private authorities have this form.
	OpenRoot bool
	// KeyOnly checks only that the key belongs to the first certificate and that the policy allows it.
	// It is for listeners whose operator also configures the clients.
	KeyOnly bool
}

// Check returns all reasons for which the pair cannot be served, as a *RefusalError, and the
// warnings.
func (r Rules) Check(now time.Time, p *Pair) (warnings []Reason, err error) {
	c := newChecking(r, now, p)
	if r.KeyOnly { // Together checks the policy
		return nil, refuse(c.reasons)
	}
	for i := range c.all {
		c.validity(i)
	}
	c.names()
	c.purpose()
	for i := range c.all {
		c.strength(i)
	}
	c.chain()
	c.lifetime()
	return c.warnings, refuse(c.reasons)
}

// Together returns a *RefusalError if pairs that are valid one by one cannot be served together.
func (r Rules) Together(pairs []*Pair) error {
	var keys []crypto.PublicKey
	for i, p := range pairs {
		keys = append(keys, p.Leaf().PublicKey)
		if i > 0 && p.algorithm() == pairs[i-1].algorithm() {
			return refuse([]Reason{{
				File: p.From.Chain, Code: PairsUnfit,
				Text: "has a key of the same algorithm, " + p.algorithm() + ", as " + pairs[i-1].From.Chain +
					": remove one of the two pairs",
			}})
		}
	}
	if err := r.Policy.Takes(keys...); err != nil && len(pairs) > 0 {
		return refuse([]Reason{{
			File: pairs[0].From.Chain, Code: PairsUnfit,
			Text: "cannot be served with the TLS settings: " + err.Error(),
		}})
	}
	return nil
}

// checking is one check of one pair.
type checking struct {
	Rules
	now      time.Time
	pair     *Pair
	leaf     *x509.Certificate
	all      []*x509.Certificate // the leaf first
	position []int               // of each certificate in the file
	reasons  []Reason
	warnings []Reason
}

// newChecking puts the certificate of the key first. A key of no certificate, or of a later one, is
// a reason to reject the pair. The other checks still run.
func newChecking(r Rules, now time.Time, p *Pair) *checking {
	c := &checking{Rules: r, now: now, pair: p}
	for i, der := range p.Certificate.Certificate {
		if certificate, err := x509.ParseCertificate(der); err == nil { // Parse has read them all
			c.all, c.position = append(c.all, certificate), append(c.position, i+1)
		}
	}
	at := slices.IndexFunc(c.all, p.keyOf)
	switch {
	case at < 0:
		c.reasons = append(c.reasons, Reason{
			File: p.From.Key, Code: KeyMismatch,
			Text: "is not the key of the certificate in " + p.From.Chain + ": one of the two files belongs to another pair",
		})
	case at > 0:
		c.fault(ChainOrder, "the key belongs to certificate %d: move that certificate to the start of the file", at+1)
		first(c.all, at)
		first(c.position, at)
	}
	c.leaf = c.all[0]
	return c
}

// first moves one element to the front.
func first[E any](of []E, at int) {
	moved := of[at]
	copy(of[1:at+1], of[:at])
	of[0] = moved
}

func (c *checking) fault(code Code, format string, args ...any) {
	c.reasons = append(c.reasons, Reason{File: c.pair.From.Chain, Code: code, Text: fmt.Sprintf(format, args...)})
}

func (c *checking) warn(code Code, format string, args ...any) {
	c.warnings = append(c.warnings, Reason{File: c.pair.From.Chain, Code: code, Text: fmt.Sprintf(format, args...)})
}

// label names a certificate of the chain in a reason.
func (c *checking) label(i int) string {
	if i == 0 {
		return "the certificate"
	}
	return fmt.Sprintf("certificate %d, %s,", c.position[i], quotedName(c.all[i].Subject.String()))
}

// quotedName quotes a name in a certificate, cut for the log.
func quotedName(name string) string { return fmt.Sprintf("%.120q", name) }

func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (c *checking) validity(i int) {
	certificate := c.all[i]
	switch {
	case c.now.After(certificate.NotAfter):
		c.fault(Expired, "%s expired at %s: renew it", c.label(i), day(certificate.NotAfter))
	case c.now.Before(certificate.NotBefore):
		c.fault(NotYetValid, "%s is not valid before %s: check the clock, or use another certificate", c.label(i),
			day(certificate.NotBefore))
	}
}

func (c *checking) names() {
	var missing []string
	for _, host := range c.Hosts {
		if c.leaf.VerifyHostname(host) != nil {
			missing = append(missing, host)
		}
	}
	if len(missing) == 0 {
		return
	}
	names := slices.Clone(c.leaf.DNSNames)
	for _, ip := range c.leaf.IPAddresses {
		names = append(names, ip.String())
	}
	c.fault(HostMissing, "the certificate does not cover %s: %s", strings.Join(missing, ", "), described(names))
}

// described lists the names of a leaf, at most the first 10.
func described(names []string) string {
	const shown = 10
	switch {
	case len(names) == 0:
		return "it has no DNS names or IP addresses (clients ignore the common name)"
	case len(names) > shown:
		return fmt.Sprintf("its names are %.100q and %d more", names[:shown], len(names)-shown)
	default:
		return fmt.Sprintf("its names are %.100q", names)
	}
}

// mustStaple is the extension id-pe-tlsfeature of RFC 7633. With it, clients require an OCSP
// response in the handshake.
var mustStaple = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}

func (c *checking) purpose() {
	leaf := c.leaf
	if leaf.BasicConstraintsValid && leaf.IsCA {
		c.fault(Authority, "the certificate belongs to an authority, and clients reject it for a server: use one that the "+
			"authority issued")
	}
	restricted := len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) > 0
	if restricted && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) &&
		!slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny) {
		c.fault(NotServer, "the certificate is not for servers: its extended key usage has no serverAuth")
	}
	if leaf.KeyUsage != 0 && leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0 {
		c.fault(NotServer, "the certificate's key usage has no digitalSignature, which every handshake of the TLS policy "+
			"needs")
	}
	for _, extension := range leaf.Extensions {
		if extension.Id.Equal(mustStaple) {
			c.fault(StapleDemanded, "the certificate demands a stapled OCSP response (must-staple), which is not sent: "+
				"order one without")
		}
	}
}

// The RSA key sizes in bits. Smaller keys are broken, and clients reject larger ones.
const (
	minRSA = 2048
	maxRSA = 8192
)

func (c *checking) strength(i int) {
	certificate := c.all[i]
	if key, ok := certificate.PublicKey.(*rsa.PublicKey); ok {
		switch bits := key.N.BitLen(); {
		case bits < minRSA:
			c.fault(WeakKey, "%s has an RSA key of %d bits: want at least %d", c.label(i), bits, minRSA)
		case bits > maxRSA:
			c.fault(KeyKind, "%s has an RSA key of %d bits: want at most %d", c.label(i), bits, maxRSA)
		}
	}
	if i == 0 { // the keys of authorities may be others
		if err := (tlspolicy.Policy{}).Takes(certificate.PublicKey); err != nil {
			c.fault(KeyKind, "%s cannot be served: %v", c.label(i), err)
		}
	}
	if weak(certificate.SignatureAlgorithm) && !selfSigned(certificate) { // clients do not check the signature of a root
		c.fault(WeakSignature, "%s is signed with %s, which clients reject", c.label(i), certificate.SignatureAlgorithm)
	}
}

func weak(a x509.SignatureAlgorithm) bool {
	switch a {
	case x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1, x509.MD5WithRSA, x509.MD2WithRSA:
		return true
	default:
		return false
	}
}

// lifetimes are the longest validity periods that public authorities may issue, by the day of issue
// (CA/Browser Forum, ballot SC-081v3).
var lifetimes = []struct {
	from time.Time
	days int
}{
	{time.Date(2029, time.March, 15, 0, 0, 0, 0, time.UTC), 47},
	{time.Date(2027, time.March, 15, 0, 0, 0, 0, time.UTC), 100},
	{time.Date(2026, time.March, 15, 0, 0, 0, 0, time.UTC), 200},
	{time.Time{}, 398},
}

func (c *checking) lifetime() {
	for _, l := range lifetimes {
		if c.leaf.NotBefore.Before(l.from) {
			continue
		}
		if days := int(c.leaf.NotAfter.Sub(c.leaf.NotBefore).Hours() / 24); days > l.days {
			c.warn(LongLife, "the certificate is valid for %d days; some clients accept at most %d, as public authorities issue",
				days, l.days)
		}
		return
	}
}
