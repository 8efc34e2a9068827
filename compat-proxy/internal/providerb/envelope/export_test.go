package envelope

import (
	"crypto/rsa"

	"github.com/go-jose/go-jose/v4"
)

// ContentKey returns the decrypter of content keys.
func ContentKey(private *rsa.PrivateKey, encryption jose.ContentEncryption) jose.OpaqueKeyDecrypter {
	return contentKey{private, encryption}
}
