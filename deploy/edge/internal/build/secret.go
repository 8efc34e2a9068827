package build

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Certificate is a certificate of a listener: inline, or by the names of files for a static
// configuration.
type Certificate struct {
	chain              []byte
	key                secret.String
	chainFile, keyFile string
}

// FromPair returns an inline certificate.
func FromPair(p *certfile.Pair) Certificate { return Certificate{chain: p.Chain, key: p.Key} }

// FromFiles returns a certificate in files, which Envoy reads at its start.
func FromFiles(chain, key string) Certificate { return Certificate{chainFile: chain, keyFile: key} }

func (c Certificate) message() *tlsv3.TlsCertificate {
	if c.chainFile != "" {
		return &tlsv3.TlsCertificate{CertificateChain: fromFile(c.chainFile), PrivateKey: fromFile(c.keyFile)}
	}
	return &tlsv3.TlsCertificate{
		CertificateChain: &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: c.chain}},
		PrivateKey:       &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: []byte(c.key.Reveal())}},
	}
}

func fromFile(name string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: name}}
}

// secretNames returns the name of a secret for each certificate.
func (b *builder) secretNames() []string {
	return []string{SecretName, SecondSecretName}[:len(b.Certificates)]
}

func (b *builder) secrets() []*tlsv3.Secret {
	var out []*tlsv3.Secret
	for i, name := range b.secretNames() {
		out = append(out, &tlsv3.Secret{
			Name: name, Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: b.Certificates[i].message()},
		})
	}
	return out
}
