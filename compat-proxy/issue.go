package compatproxy

import (
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ProviderBKeys holds all keys with which a provider-b client can log in, and their counterparts
// for the credentials file.
type ProviderBKeys struct {
	// KeyID and SharedSecret are for HTTP signatures and for JWTs with a shared secret.
	KeyID        string
	SharedSecret secret.String
	// P12 is the client's key file for JWTs with a certificate. It also has the certificate to which
	// the client encrypts requests.
	P12         []byte
	P12Password secret.String
	// Certificate is the client's, in PEM. It verifies the client's JWTs, and responses can be
	// encrypted to it.
	Certificate string
	// EncryptionKey and EncryptionCertificate are the proxy's, in PEM. They decrypt requests.
	EncryptionKey         secret.String
	EncryptionCertificate string
}

// NewProviderBKeys makes keys for the client of a merchant, and an encryption key pair for the
// proxy.
func NewProviderBKeys(merchant string, now time.Time) (ProviderBKeys, error) {
	client, encryption, err := credentials.NewPairB(merchant, now)
	if err != nil {
		return ProviderBKeys{}, fmt.Errorf("compat-proxy: %w", err)
	}
	k := ProviderBKeys{
		P12: client.P12, P12Password: client.Password, Certificate: client.Certificate,
		EncryptionKey: encryption.Key, EncryptionCertificate: encryption.Certificate,
	}
	k.KeyID, k.SharedSecret = credentials.NewSharedSecretB()
	return k, nil
}
