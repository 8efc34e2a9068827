package certfile

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
)

// The largest files, in bytes. A chain of four certificates with RSA keys of 4096 bits has 8 KiB.
// An RSA key of 8192 bits has 7 KiB.
const (
	maxChain        = 64 << 10
	maxKey          = 16 << 10
	maxCertificates = 10
)

// Read reads the pair from its files, without the checks of Rules. The error is a *RefusalError.
func (f Files) Read() (*Pair, error) {
	var reasons []Reason
	chain, err := readFile(f.Chain, maxChain)
	if err != nil {
		reasons = append(reasons, Reason{File: f.Chain, Code: Unreadable, Text: err.Error()})
	}
	key, err := readFile(f.Key, maxKey)
	if err != nil {
		reasons = append(reasons, Reason{File: f.Key, Code: Unreadable, Text: err.Error()})
	}
	if len(reasons) > 0 {
		return nil, refuse(reasons)
	}
	return Parse(f, chain, key)
}

// readFile reads a file of at most limit bytes. Its error omits the name.
func readFile(name string, limit int64) ([]byte, error) {
	about, err := os.Stat(name) // before opening, because the open of a pipe blocks
	if err != nil {
		return nil, bare(err)
	}
	if !about.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, bare(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d bytes", limit)
	}
	return data, nil
}

// bare returns the cause of a file error, without the name.
func bare(err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// Parse makes a pair from the contents of its files. It uses from only for the names in reasons.
// The error is a *RefusalError.
func Parse(from Files, chain, key []byte) (*Pair, error) {
	var reasons []Reason
	certificates, err := parseChain(chain)
	if err != nil {
		reasons = append(reasons, Reason{File: from.Chain, Code: Unreadable, Text: err.Error()})
	}
	private, err := parseKey(key)
	if err != nil {
		reasons = append(reasons, Reason{File: from.Key, Code: Unreadable, Text: err.Error()})
	}
	if len(reasons) > 0 {
		return nil, refuse(reasons)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, refuse([]Reason{{File: from.Key, Code: Unreadable, Text: "cannot be written as PKCS #8"}})
	}
	pair := &Pair{
		Certificate: tls.Certificate{PrivateKey: private, Leaf: certificates[0]},
		Key:         secret.New(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))),
		From:        from,
	}
	for _, c := range certificates {
		pair.Certificate.Certificate = append(pair.Certificate.Certificate, c.Raw)
		pair.Chain = append(pair.Chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return pair, nil
}

// parseChain returns all certificates. It skips keys, because one file may hold both.
func parseChain(data []byte) ([]*x509.Certificate, error) {
	blocks, err := blocks(data)
	if err != nil {
		return nil, err
	}
	var certificates []*x509.Certificate
	for _, b := range blocks {
		switch {
		case b.Type == "CERTIFICATE":
			c, err := x509.ParseCertificate(b.Bytes)
			if err != nil {
				return nil, fmt.Errorf("certificate %d cannot be read: %w", len(certificates)+1, err)
			}
			certificates = append(certificates, c)
		case !aboutKey(b.Type):
			return nil, fmt.Errorf("contains a %s block: want only CERTIFICATE blocks", quoted(b.Type))
		}
	}
	switch {
	case len(certificates) == 0:
		return nil, errors.New("contains no certificate in PEM form")
	case len(certificates) > maxCertificates:
		return nil, fmt.Errorf("contains more than %d certificates", maxCertificates)
	}
	return certificates, nil
}

// parseKey returns the only private key. The error contains no part of it.
func parseKey(data []byte) (crypto.Signer, error) {
	blocks, err := blocks(data)
	if err != nil {
		return nil, err
	}
	var found *pem.Block
	for _, b := range blocks {
		switch {
		case b.Type == "CERTIFICATE" || b.Type == "EC PARAMETERS":
		case !aboutKey(b.Type):
			return nil, fmt.Errorf("contains a %s block: want only a private key", quoted(b.Type))
		case found != nil:
			return nil, errors.New("contains more than one private key")
		default:
			found = b
		}
	}
	if found == nil {
		return nil, errors.New("contains no private key in PEM form")
	}
	return openKey(found)
}

func openKey(b *pem.Block) (crypto.Signer, error) {
	if b.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED") {
		return nil, errors.New("the private key is encrypted: store it without a passphrase")
	}
	var key any
	var err error
	switch b.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(b.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(b.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(b.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("the %s cannot be read: it is damaged, or its type is not supported", b.Type)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("the private key cannot sign")
	}
	return signer, nil
}

func aboutKey(blockType string) bool {
	switch blockType {
	case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PARAMETERS":
		return true
	default:
		return false
	}
}

// quoted returns the type of a block, cut for the log.
func quoted(blockType string) string { return fmt.Sprintf("%.40q", blockType) }

// blocks splits a file into its PEM blocks. A damaged block is an error. pem.Decode would skip it,
// and the next certificate would become the leaf.
func blocks(data []byte) ([]*pem.Block, error) {
	begun := bytes.Count(data, []byte("-----BEGIN "))
	var found []*pem.Block
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		found, data = append(found, block), rest
	}
	if len(found) != begun {
		return nil, errors.New("is cut off, or one of its PEM blocks is damaged")
	}
	return found, nil
}
