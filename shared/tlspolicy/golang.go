package tlspolicy

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
)

// GetCertificate returns the certificate for a handshake. It is called at every handshake, so that
// a rotation needs no restart.
type GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Server returns the configuration of a listener of the whole table.
func Server(get GetCertificate) *tls.Config { return Policy{}.Server(get) }

// Client returns the configuration of a client with the whole table.
func Client(roots *x509.CertPool) *tls.Config { return Policy{}.Client(roots) }

// Server returns the configuration of a listener.
func (p Policy) Server(get GetCertificate) *tls.Config {
	c := p.config()
	// A client of HTTP/1.0, such as WordPress, may offer nothing else, and Go then ends the handshake.
	c.NextProtos = append(slices.Clone(protocols), "http/1.0")
	c.SessionTicketsDisabled = true // Go has no other kind of resumption
	if get != nil {
		c.GetCertificate = p.signing(get)
	}
	return c
}

// Client returns the configuration of a client that trusts roots, or the system's authorities if
// roots is nil. Without a cache, Go's client resumes no session. It accepts no SHA-1 signature.
func (p Policy) Client(roots *x509.CertPool) *tls.Config {
	c := p.config()
	c.RootCAs = roots
	return c
}

func (p Policy) config() *tls.Config {
	c := &tls.Config{MinVersion: p.minimum().ID, MaxVersion: p.maximum().ID}
	for _, s := range slices.Concat(p.Groups()...) {
		c.CipherSuites = append(c.CipherSuites, s.ID)
	}
	return c
}

// signing makes the certificates of get sign only by our algorithms. A certificate is the only
// place where Go reads them.
func (p Policy) signing(get GetCertificate) GetCertificate {
	var ours []tls.SignatureScheme
	for _, s := range p.Signatures() {
		ours = append(ours, s.ID)
	}
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		found, err := get(hello)
		if err != nil || found == nil {
			return found, err
		}
		cert := *found
		if cert.SupportedSignatureAlgorithms == nil {
			cert.SupportedSignatureAlgorithms = ours
			return &cert, nil
		}
		cert.SupportedSignatureAlgorithms = slices.DeleteFunc(slices.Clone(cert.SupportedSignatureAlgorithms),
			func(s tls.SignatureScheme) bool { return !slices.Contains(ours, s) })
		return &cert, nil
	}
}
