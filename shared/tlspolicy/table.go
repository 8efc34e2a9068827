package tlspolicy

import "crypto/tls"

// Version is a version of TLS.
type Version struct {
	Name  string // as people and configuration write it: 1.2
	ID    uint16 // as in Go's crypto/tls
	Envoy string // as in Envoy's TlsParameters.TlsProtocol
}

// versions has every version of the policy, the lowest first. A client gets the highest one that it
// supports.
var versions = []Version{
	{Name: "1.2", ID: tls.VersionTLS12, Envoy: "TLSv1_2"},
	{Name: "1.3", ID: tls.VersionTLS13, Envoy: "TLSv1_3"},
}

// Suite is a cipher suite.
type Suite struct {
	Name  string // IANA's
	ID    uint16 // IANA's, and Go's
	Envoy string // BoringSSL's name, and OpenSSL's; empty in TLS 1.3, which offers no choice
}

// suites12 has every suite of TLS 1.2, the preferred first. Suites in one line are equal: the
// client's order decides, because the client's hardware may prefer one. Go chooses the order of the
// set itself.
var suites12 = [][]Suite{
	{
		{
			"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
			"ECDHE-ECDSA-AES128-GCM-SHA256",
		},
		{
			"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
			"ECDHE-ECDSA-CHACHA20-POLY1305",
		},
	},
	{
		{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256"},
		{
			"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
			"ECDHE-RSA-CHACHA20-POLY1305",
		},
	},
	{{
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		"ECDHE-ECDSA-AES256-GCM-SHA384",
	}},
	{{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "ECDHE-RSA-AES256-GCM-SHA384"}},
}

// suites13 is every suite of TLS 1.3 that our listeners have. None can be switched off, in Go or in
// Envoy, and there is no need.
var suites13 = []Suite{
	{Name: "TLS_AES_128_GCM_SHA256", ID: tls.TLS_AES_128_GCM_SHA256},
	{Name: "TLS_AES_256_GCM_SHA384", ID: tls.TLS_AES_256_GCM_SHA384},
	{Name: "TLS_CHACHA20_POLY1305_SHA256", ID: tls.TLS_CHACHA20_POLY1305_SHA256},
}

// Signature is an algorithm by which a listener proves that it has the key of its certificate.
type Signature struct {
	Name string // IANA's, and BoringSSL's
	ID   tls.SignatureScheme
}

// signatures has every signature algorithm, the preferred first. None uses SHA-1.
var signatures = []Signature{
	{"ecdsa_secp256r1_sha256", tls.ECDSAWithP256AndSHA256},
	{"rsa_pss_rsae_sha256", tls.PSSWithSHA256},
	{"rsa_pkcs1_sha256", tls.PKCS1WithSHA256},
	{"ecdsa_secp384r1_sha384", tls.ECDSAWithP384AndSHA384},
	{"rsa_pss_rsae_sha384", tls.PSSWithSHA384},
	{"rsa_pkcs1_sha384", tls.PKCS1WithSHA384},
	{"rsa_pss_rsae_sha512", tls.PSSWithSHA512},
	{"rsa_pkcs1_sha512", tls.PKCS1WithSHA512},
}

// protocols are the protocols for ALPN, the preferred first.
var protocols = []string{"h2", "http/1.1"}
