package certfile

import (
	"bytes"
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// chain follows the issuers from the leaf to a root, and reports a missing one.
func (c *checking) chain() {
	before := len(c.reasons)
	all := c.all
	used := make([]bool, len(all))
	last, ordered := 0, true
	used[0] = true
	for !selfSigned(all[last]) {
		next := c.issuer(last, used)
		if next < 0 {
			break
		}
		ordered = ordered && c.position[next] > c.position[last]
		used[next], last = true, next
	}
	if !ordered && c.position[0] == 1 { // otherwise newChecking has reported it
		c.fault(ChainOrder, "the certificates are not in order: "+
			"put the leaf first, and each issuer after the certificate that it issued")
	}
	for i := range all {
		if !used[i] {
			c.fault(ChainStray, "%s issued no certificate of this chain: remove it", c.label(i))
		}
	}
	c.end(last)
	if len(c.reasons) == before && !c.reported(KeyMismatch, ChainOrder, Expired, NotYetValid, NotServer, WeakSignature) {
		c.verify(last)
	}
}

// reported reports whether one of the codes was reported. Each of these faults also makes verify
// fail.
func (c *checking) reported(codes ...Code) bool {
	return slices.ContainsFunc(c.reasons, func(r Reason) bool { return slices.Contains(codes, r.Code) })
}

// issuer returns the index of the unused certificate that issued certificate i, or -1.
func (c *checking) issuer(i int, used []bool) int {
	all := c.all
	for j := range all {
		if !used[j] && issued(all[j], all[i]) {
			return j
		}
	}
	return -1
}

// issued reports whether the parent signed the child. Go cannot check signatures with SHA-1. For
// these, equal names suffice, because another check rejects them.
func issued(parent, child *x509.Certificate) bool {
	if !bytes.Equal(parent.RawSubject, child.RawIssuer) {
		return false
	}
	err := child.CheckSignatureFrom(parent)
	return err == nil || errors.As(err, new(x509.InsecureAlgorithmError))
}

func selfSigned(c *x509.Certificate) bool {
	if !bytes.Equal(c.RawSubject, c.RawIssuer) {
		return false
	}
	// Not CheckSignatureFrom, which requires an authority: a server certificate may be self-signed.
	err := c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature)
	return err == nil || errors.As(err, new(x509.InsecureAlgorithmError))
}

// end checks whether the last certificate is a root, or was issued by one.
func (c *checking) end(last int) {
	all := c.all
	top := all[last]
	known := c.known(top)
	switch {
	case selfSigned(top) && last > 0 && known:
		c.warn(RootSent, "%s is a root certificate: clients have it, so remove it from the file", c.label(last))
	case selfSigned(top) && !known:
		c.warn(RootUnknown, "%s is self-signed: only clients that are configured with it trust it", c.label(last))
	case known:
	case weak(top.SignatureAlgorithm): // strength has reported it
	case last > 0 && c.OpenRoot:
		c.warn(RootUnknown, "the root %s is unknown here: only clients that are configured with it trust the certificate",
			quotedName(top.Issuer.String()))
	case last > 0:
		c.fault(ChainIncomplete, "the chain ends at %s: append the certificate of its issuer, %s",
			quotedName(top.Subject.String()), quotedName(top.Issuer.String()))
	case len(all) > 1:
		c.fault(ChainIncomplete,
			"none of the other certificates issued the first one: append the certificate of its issuer, %s",
			quotedName(top.Issuer.String()))
	default:
		c.fault(ChainIncomplete, "the file has only the leaf: append the certificate of its issuer, %s",
			quotedName(top.Issuer.String()))
	}
}

// known reports whether the certificate is a known root, or was issued by one. It ignores the
// validity period, which another check reports.
func (c *checking) known(top *x509.Certificate) bool {
	at := c.now
	if at.After(top.NotAfter) || at.Before(top.NotBefore) {
		at = top.NotAfter.Add(-time.Second)
	}
	_, err := top.Verify(x509.VerifyOptions{
		Roots: c.Roots, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return err == nil || errors.As(err, new(x509.UnhandledCriticalExtension))
}

// verify finds the other reasons to reject a complete chain: path lengths, name constraints, and
// the purposes of issuers.
func (c *checking) verify(last int) {
	all := c.all
	roots, above := c.Roots, x509.NewCertPool()
	for _, certificate := range all[1:] {
		above.AddCert(certificate)
	}
	if !c.known(all[last]) {
		roots = x509.NewCertPool()
		roots.AddCert(all[last])
	}
	_, err := c.leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: above, CurrentTime: c.now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		c.fault(ChainInvalid, "clients would reject the chain: %v", err)
	}
}
