package certfile

import (
	"bytes"
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// chain follows the certificates from the leaf to a root, and reports where they do not lead on.
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
	if !ordered && c.position[0] == 1 { // else it was reported
		c.fault(ChainOrder, "the certificates are not in order: the leaf has to be first, and each one's issuer next")
	}
	for i := range all {
		if !used[i] {
			c.fault(ChainStray, "%s issued nothing here: it belongs to another chain", c.called(i))
		}
	}
	c.end(last)
	if len(c.reasons) == before && !c.said(KeyMismatch, ChainOrder, Expired, NotYetValid, NotServer, WeakSignature) {
		c.verify(last)
	}
}

// said reports whether one of the codes was given, each of which would come back as another error
// of the whole.
func (c *checking) said(codes ...Code) bool {
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

// issued reports whether the parent signed the child. A signature by SHA-1 is refused elsewhere, so
// names must do for it.
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
	// Not CheckSignatureFrom, which wants an authority: a server's own certificate may have signed
	// itself.
	err := c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature)
	return err == nil || errors.As(err, new(x509.InsecureAlgorithmError))
}

// end reports whether the last certificate leads to a root, and how well that is known.
func (c *checking) end(last int) {
	all := c.all
	top := all[last]
	known := c.known(top)
	switch {
	case selfSigned(top) && last > 0 && known:
		c.warn(RootSent, "%s is a root, which need not be sent: clients have it", c.called(last))
	case selfSigned(top) && !known:
		c.warn(RootUnknown, "%s is its own issuer: only clients that were given it trust it", c.called(last))
	case known:
	case weak(top.SignatureAlgorithm): // it was reported, and ends the search
	case last > 0 && c.OpenRoot:
		c.warn(RootUnknown, "the root %s is not known here: only clients that were given it trust the certificate",
			name(top.Issuer.String()))
	case last > 0:
		c.fault(ChainIncomplete, "the chain ends at %s, whose issuer %s is neither in the file nor a known root",
			name(top.Subject.String()), name(top.Issuer.String()))
	case len(all) > 1:
		c.fault(ChainIncomplete, "none of the other certificates issued the first one: its issuer is %s",
			name(top.Issuer.String()))
	default:
		c.fault(ChainIncomplete, "the certificate stands alone: that of its issuer, %s, has to follow it",
			name(top.Issuer.String()))
	}
}

// known reports whether the certificate is a known root, or one issued it. The day does not matter:
// another check reports it.
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

// verify finds other reasons to reject a chain that looks whole: lengths of paths, constraints of
// names, purposes of the issuers.
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
		c.fault(ChainInvalid, "clients would refuse the chain: %v", err)
	}
}
