package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/causeway-pay/causeway/shared/secret"
)

// The roles of operator tokens.
const (
	RoleOperator = "operator"        // everything
	RoleAuditor  = "auditor"         // reads everything, the audit record included
	RoleFilter   = "filter-identify" // identifies API keys and sends announcements: mle-filter and the edge
)

// operatorPrefix begins every operator token, so that scanners of code find one that leaked.
const operatorPrefix = "op_"

// MintOperator makes an operator token of 32 random bytes, and the hash that the store keeps.
func MintOperator() (secret.String, []byte, error) {
	var raw [32]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return secret.String{}, nil, fmt.Errorf("auth: read random bytes: %w", err)
	}
	token := operatorPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return secret.New(token), OperatorHash(token), nil
}

// OperatorHash returns the hash by which the store finds an operator token. A token holds 256
// random bits, so that the hash needs no key.
func OperatorHash(token string) []byte {
	sum := sha256.Sum256([]byte("causeway operator token\x00" + token))
	return sum[:]
}
