package keyring

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// Algs returns the algorithms of merchants' keys, the default first.
func Algs() []engine.Alg { return []engine.Alg{engine.ECDHESA256KW, engine.RSAOAEP256} }

// generate makes a key pair. RSA takes most of a second, so no request may wait for it.
func (r *Keyring) generate(alg engine.Alg) (private crypto.Signer, err error) {
	if alg == engine.RSAOAEP256 {
		private, err = rsa.GenerateKey(rand.Reader, r.cfg.RSABits)
	} else {
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		return nil, fmt.Errorf("keyring: make a key: %w", err)
	}
	return private, nil
}

// newKey makes a key that is not sealed yet, and returns its private half in der.
func (r *Keyring) newKey(alg engine.Alg) (k *keystore.Key, der []byte, err error) {
	private, err := r.generate(alg)
	if err != nil {
		return nil, nil, err
	}
	jwk := jose.JSONWebKey{Key: private.Public(), Algorithm: string(alg), Use: "enc"}
	if jwk.KeyID, err = Thumbprint(jwk); err != nil {
		return nil, nil, err
	}
	k = &keystore.Key{Kid: jwk.KeyID, Alg: string(alg)}
	if k.JWK, err = jwk.MarshalJSON(); err != nil {
		return nil, nil, fmt.Errorf("keyring: write a key: %w", err)
	}
	if der, err = x509.MarshalPKCS8PrivateKey(private); err != nil {
		return nil, nil, fmt.Errorf("keyring: write a key: %w", err)
	}
	return k, der, nil
}

// seal encrypts a private key for a tenant, or as a spare key for "". It runs in the transaction
// that stores the key, so it uses the keyset of that moment. It clears der.
func (r *Keyring) seal(tx *keystore.Tx, k *keystore.Key, der []byte, tenant string) error {
	defer clear(der)
	o, err := r.sealer.follow(tx.Keyset())
	if err != nil {
		return err
	}
	k.Tenant = tenant
	k.Sealed, err = o.seal(der, tenant, k.Kid, engine.Alg(k.Alg))
	return err
}

// Thumbprint returns the id of a key: its RFC 7638 thumbprint by SHA-256.
func Thumbprint(jwk jose.JSONWebKey) (string, error) {
	sum, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("keyring: thumbprint: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sum), nil
}

// obtain returns a new key for a tenant: a fresh one for P-256, or a spare one for RSA. It returns
// ErrNotReady if there is no spare key.
func (r *Keyring) obtain(tx *keystore.Tx, tenant string, alg engine.Alg) (*keystore.Key, error) {
	if alg != engine.RSAOAEP256 {
		k, der, err := r.newKey(alg)
		if err != nil {
			return nil, err
		}
		k.CreatedAt = tx.Now
		return k, r.seal(tx, k, der, tenant)
	}
	k, err := r.takeSpare(tx, tenant, alg)
	if err != nil {
		return nil, err
	}
	k.CreatedAt = tx.Now
	return k, nil
}

// takeSpare takes a spare key and seals its private half for the tenant. If the key does not open,
// or another program changed it, it returns ErrNotReady. Fill then removes the key and makes
// another.
func (r *Keyring) takeSpare(tx *keystore.Tx, tenant string, alg engine.Alg) (*keystore.Key, error) {
	k, err := tx.TakeSpare(string(alg))
	r.fillSoon()
	if err != nil {
		return nil, notReady(err)
	}
	o, err := r.sealer.follow(tx.Keyset())
	if err != nil {
		return nil, err
	}
	if !o.wrote(k) {
		return nil, ErrNotReady
	}
	der, err := o.open(k)
	if err != nil {
		return nil, ErrNotReady
	}
	return k, r.seal(tx, k, der, tenant)
}

// parse parses a private key. A P-256 key becomes an *ecdh.PrivateKey, because an *ecdsa.PrivateKey
// would need one more operation on the curve at each use.
func parse(der []byte) (any, error) {
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errSealed // the cause can contain parts of the key
	}
	if elliptic, ok := private.(*ecdsa.PrivateKey); ok {
		agrees, err := elliptic.ECDH()
		if err != nil {
			return nil, errSealed
		}
		return agrees, nil
	}
	return private, nil
}
