package credentials

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/p12"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	keyBits         = 2048
	certificateLife = 10 * 365 * 24 * time.Hour
	clockSkew       = time.Hour // certificates are valid from a little before now, because clocks differ
	// encryptionName is the name by which clients find the certificate for encrypting requests.
	encryptionName = "CyberSource_SJC_US"
)

var errNotPEM = errors.New("credentials: the encryption certificate is not PEM: want a file with BEGIN CERTIFICATE")

// NewSharedSecretB returns the id and the shared secret of a new provider-b key, in the client's
// form.
func NewSharedSecretB() (id string, sharedSecret secret.String) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return NewKeyID(), secret.New(base64.StdEncoding.EncodeToString(b[:]))
}

// NewKeyID returns a random UUID in lower case.
func NewKeyID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// CertificateB is a provider-b client's certificate, with the client's key file.
type CertificateB struct {
	Certificate string // PEM
	P12         []byte
	Password    secret.String // of the P12
}

// NewCertificateB makes a key and a certificate for a merchant. The file also holds encryption, the
// PEM certificate for encrypting requests, unless that is empty.
func NewCertificateB(merchant, encryption string, now time.Time) (CertificateB, error) {
	if err := identifier("merchant_id", merchant, maxMerchant); err != nil {
		return CertificateB{}, fmt.Errorf("credentials: %w", err)
	}
	key, err := newKeyB()
	if err != nil {
		return CertificateB{}, err
	}
	return certificateB(key, merchant, encryption, now)
}

func certificateB(key *rsa.PrivateKey, merchant, encryption string, now time.Time) (CertificateB, error) {
	der, err := selfSigned(key, merchant, x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment, now)
	if err != nil {
		return CertificateB{}, err
	}
	var others []p12.Certificate
	if encryption != "" {
		block := findPEM([]byte(encryption), "CERTIFICATE")
		if block == nil {
			return CertificateB{}, errNotPEM
		}
		others = []p12.Certificate{{DER: block.Bytes, Name: "CN=" + encryptionName}}
	}
	password := secret.New(rand.Text()) // 130 random bits
	file, err := p12.Encode(key, p12.Certificate{DER: der, Name: "CN=" + merchant}, others, password)
	if err != nil {
		return CertificateB{}, fmt.Errorf("credentials: %w", err)
	}
	return CertificateB{Certificate: encodePEM("CERTIFICATE", der), P12: file, Password: password}, nil
}

// NewPairB makes a merchant's certificate and the key pair for encrypting its requests. It
// generates both keys concurrently, because each takes from a tenth of a second to several seconds.
func NewPairB(merchant string, now time.Time) (CertificateB, EncryptionB, error) {
	var encryption EncryptionB
	var failed error
	var other sync.WaitGroup
	other.Go(func() { encryption, failed = NewEncryptionB(now) })
	key, err := newKeyB()
	other.Wait()
	if err := errors.Join(err, failed); err != nil {
		return CertificateB{}, EncryptionB{}, err
	}
	own, err := certificateB(key, merchant, encryption.Certificate, now)
	return own, encryption, err
}

// EncryptionB is a key pair to which clients encrypt requests, both in PEM.
type EncryptionB struct {
	Key         secret.String
	Certificate string
}

// NewEncryptionB makes a key pair under the name that clients expect.
func NewEncryptionB(now time.Time) (EncryptionB, error) {
	key, err := newKeyB()
	if err != nil {
		return EncryptionB{}, err
	}
	der, err := selfSigned(key, encryptionName, x509.KeyUsageKeyEncipherment, now)
	if err != nil {
		return EncryptionB{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return EncryptionB{}, fmt.Errorf("credentials: encode the encryption key: %w", err)
	}
	return EncryptionB{Key: secret.New(encodePEM("PRIVATE KEY", private)), Certificate: encodePEM("CERTIFICATE", der)}, nil
}

func newKeyB() (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("credentials: make a key: %w", err)
	}
	return key, nil
}

// selfSigned returns a self-signed certificate. Clients use the serialNumber of its subject as the
// key id. It is a decimal number.
func selfSigned(key *rsa.PrivateKey, name string, usage x509.KeyUsage, now time.Time) ([]byte, error) {
	least := new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil) // 22 digits, without a leading zero
	serial, err := rand.Int(rand.Reader, new(big.Int).Mul(least, big.NewInt(9)))
	if err != nil {
		return nil, fmt.Errorf("credentials: choose a serial: %w", err)
	}
	serial.Add(serial, least)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name, SerialNumber: serial.String()},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(certificateLife), KeyUsage: usage,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("credentials: sign a certificate: %w", err)
	}
	return der, nil
}

func encodePEM(blockType string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der}))
}
