package credentials

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/shared/config"
)

// The accepted sizes of RSA keys. Smaller ones are weak, and larger ones cost the proxy too much.
const (
	minBits = 2048
	maxBits = 8192
)

var (
	errCertificate = errors.New("is not a certificate in PEM with an RSA key of 2048 to 8192 bits")
	errPrivateKey  = errors.New("is not an RSA private key in PEM of 2048 to 8192 bits, without a password")
)

// certificate parses the first certificate of a PEM text.
func certificate(from config.Secret) (*x509.Certificate, error) {
	if from.IsZero() {
		return nil, errMissing
	}
	text, err := from.Resolve()
	if err != nil {
		return nil, err
	}
	block := findPEM([]byte(text.Reveal()), "CERTIFICATE")
	if block == nil {
		return nil, errCertificate
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, errCertificate
	}
	key, ok := c.PublicKey.(*rsa.PublicKey)
	if !ok || key.N.BitLen() < minBits || key.N.BitLen() > maxBits {
		return nil, errCertificate
	}
	return c, nil
}

// privateKey parses the first private key of a PEM text, in either of its forms.
func privateKey(from config.Secret) (*rsa.PrivateKey, error) {
	if from.IsZero() {
		return nil, errMissing
	}
	text, err := from.Resolve()
	if err != nil {
		return nil, err
	}
	var key any
	if block := findPEM([]byte(text.Reveal()), "PRIVATE KEY"); block != nil {
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	} else if block := findPEM([]byte(text.Reveal()), "RSA PRIVATE KEY"); block != nil {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	private, ok := key.(*rsa.PrivateKey)
	if err != nil || !ok || private.N.BitLen() < minBits || private.N.BitLen() > maxBits {
		return nil, errPrivateKey // the library's error may quote the key
	}
	return private, nil
}

func findPEM(text []byte, blockType string) *pem.Block {
	for {
		var block *pem.Block
		block, text = pem.Decode(text)
		if block == nil || block.Type == blockType {
			return block
		}
	}
}

// kidsOf returns the key ids of a certificate: the serialNumber of its subject, or else its serial
// number in either notation.
func kidsOf(c *x509.Certificate) []string {
	if c.Subject.SerialNumber != "" {
		return []string{c.Subject.SerialNumber}
	}
	decimal, hex := c.SerialNumber.String(), fmt.Sprintf("%x", c.SerialNumber)
	if decimal == hex {
		return []string{decimal}
	}
	return []string{decimal, hex}
}
