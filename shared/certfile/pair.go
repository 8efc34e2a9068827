package certfile

import (
	"crypto/tls"

	"github.com/causeway-pay/causeway/shared/secret"
)

// Pair is a certificate with its key, in the two forms in which listeners want them.
type Pair struct {
	Certificate tls.Certificate // Leaf is set; the leaf first, then what leads to the root
	Chain       []byte          // PEM, the same certificates in the same order
	Key         secret.String   // PEM, PKCS #8
}
