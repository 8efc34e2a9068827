package jwkcheck

import (
	"crypto/rsa"
	"encoding/base64"
	"math"
	"math/big"
)

// The sizes of RSA moduli in bits, and the largest exponent that Go supports.
const (
	minBits     = 2048
	maxBits     = 4096
	maxExponent = math.MaxInt32
)

// large reports whether an exponent is too large. go-jose would truncate it.
func large(exponent string) bool {
	e, err := base64.RawURLEncoding.DecodeString(exponent)
	return err == nil && new(big.Int).SetBytes(e).Cmp(big.NewInt(maxExponent)) > 0
}

const badExponent = "The exponent must be odd, and at least 3. 65537 is usual."

// small reports whether an exponent is too small to encrypt. go-jose's error would not name the
// exponent.
func small(exponent string) bool {
	e, err := base64.RawURLEncoding.DecodeString(exponent)
	return err == nil && new(big.Int).SetBytes(e).Cmp(big.NewInt(3)) < 0
}

func checkRSA(key *rsa.PublicKey) error {
	switch bits := key.N.BitLen(); {
	case bits < minBits || bits > maxBits:
		return refuse("n", "The modulus must have 2048 to 4096 bits.")
	case key.E < 3 || key.E%2 == 0:
		return refuse("e", badExponent)
	case key.N.Bit(0) == 0:
		return refuse("n", "The modulus is even.")
	case weak(key.N):
		return refuse("n", "The modulus has the ROCA weakness (CVE-2017-15361): its private key can be "+
			"computed. Make the key elsewhere.")
	case divides(key.N):
		return refuse("n", "The modulus has a small factor, so it is not an RSA key.")
	}
	return nil
}

// marked are the small primes that identify the keys of the vulnerable chips. Modulo each of them,
// such a modulus is a power of 65537. One of 2^27 other keys matches by chance.
var marked = []int64{11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157}

// weak reports whether a modulus has the fingerprint of ROCA (Nemec et al., "The Return of
// Coppersmith's Attack", 2017).
func weak(n *big.Int) bool {
	for _, p := range marked {
		if !powerOf65537(new(big.Int).Mod(n, big.NewInt(p)).Int64(), p) {
			return false
		}
	}
	return true
}

// powerOf65537 reports whether v is a power of 65537 modulo p.
func powerOf65537(v, p int64) bool {
	x := int64(1)
	for range p {
		if x == v {
			return true
		}
		x = x * 65537 % p
	}
	return false
}

// divides reports whether a small prime divides n.
func divides(n *big.Int) bool {
	for p := int64(3); p < 2000; p += 2 {
		if new(big.Int).Mod(n, big.NewInt(p)).Sign() == 0 {
			return true
		}
	}
	return false
}
