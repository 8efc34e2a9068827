package jwe

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"

	"github.com/go-jose/go-jose/v4"
)

// Alg is a key management algorithm of JWE. Every key is bound to one.
type Alg string

// The supported algorithms. A message with another one is rejected before any key is read.
const (
	RSAOAEP256   Alg = "RSA-OAEP-256"   // RSA keys of 2048 to 4096 bits
	ECDHESA256KW Alg = "ECDH-ES+A256KW" // P-256
)

// enc is the supported content encryption.
const enc = jose.A256GCM

// The lengths of a message's parts under enc, in bytes.
const (
	cekSize     = 32
	ivSize      = 12
	tagSize     = 16
	wrappedSize = cekSize + 8 // a content key under A256KW
)

// The bounds of an RSA modulus, in bits.
const (
	minModulus = 2048
	maxModulus = 4096
)

// errKey reports a key of the service that does not fit its algorithm: a fault of the key store.
var errKey = errors.New("jwe: the key does not fit its algorithm: want its type, curve and size")

// Known reports whether the algorithm is supported.
func (a Alg) Known() bool { return a == RSAOAEP256 || a == ECDHESA256KW }

// fits reports whether a public key fits the algorithm and has an accepted size.
func (a Alg) fits(public any) bool {
	switch key := public.(type) {
	case *rsa.PublicKey:
		bits := key.N.BitLen()
		return a == RSAOAEP256 && bits >= minModulus && bits <= maxModulus
	case *ecdsa.PublicKey:
		return a == ECDHESA256KW && key.Curve == elliptic.P256()
	}
	return false
}
