package payment

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// secretLetters is the length of the random part of a token's value: 5 bits a letter, 160 bits.
	secretLetters = 32
	// secretAlphabet has 32 letters, so that a random byte modulo its length is uniform.
	secretAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

// NewTokenValue returns the value with which a client pays by the token of this number. It is the
// token's id (tok_…), an underscore, and 32 random letters from crypto/rand. The store keeps only
// HashTokenValue of it.
func NewTokenValue(token int64) secret.String {
	var random [secretLetters]byte
	_, _ = rand.Read(random[:]) // never fails: without randomness the runtime ends the program
	for i, b := range random {
		random[i] = secretAlphabet[int(b)%len(secretAlphabet)]
	}
	return secret.New(id.Format(id.Token, token) + "_" + string(random[:]))
}

// TokenOfValue returns the number of the token that a value names. It reports false for every other
// text, a token's id included.
func TokenOfValue(value string) (token int64, ok bool) {
	at := strings.LastIndexByte(value, '_')
	if at < 0 || len(value)-at-1 != secretLetters || strings.Trim(value[at+1:], secretAlphabet) != "" {
		return 0, false
	}
	token, err := id.Parse(id.Token, value[:at])
	return token, err == nil
}

// HashTokenValue returns the SHA-256 of a value. A value has 160 random bits, so guesses are
// hopeless and the hash needs no key.
func HashTokenValue(value secret.String) []byte {
	sum := sha256.Sum256([]byte(value.Reveal()))
	return sum[:]
}

// Opens reports whether value is the token's value. It compares in constant time.
func (t *Token) Opens(value secret.String) bool {
	return subtle.ConstantTimeCompare(t.SecretHash, HashTokenValue(value)) == 1
}
