package p12

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/asn1"
	"unicode/utf16"

	"github.com/causeway-pay/causeway/shared/secret"
)

// rounds is small because one client derives keys in JavaScript. Passwords must be long and random.
const rounds = 10_000

const (
	saltSize = 16
	keySize  = 32
)

type algorithm struct {
	ID         asn1.ObjectIdentifier
	Parameters asn1.RawValue `asn1:"optional"`
}

type pbes2 struct {
	KDF struct {
		ID         asn1.ObjectIdentifier
		Parameters struct {
			Salt   []byte
			Rounds int
			PRF    algorithm
		}
	}
	Cipher struct {
		ID asn1.ObjectIdentifier
		IV []byte
	}
}

type macData struct {
	Digest struct {
		Algorithm algorithm
		Value     []byte
	}
	Salt   []byte
	Rounds int
}

// encrypt implements PBES2 of RFC 8018 with PBKDF2, HMAC-SHA-256 and AES-256-CBC.
func encrypt(plain []byte, password secret.String) (algorithm, []byte) {
	var p pbes2
	p.KDF.ID, p.KDF.Parameters.Salt, p.KDF.Parameters.Rounds = oidPBKDF2, random(saltSize), rounds
	p.KDF.Parameters.PRF = algorithm{oidHMACSHA256, asn1.NullRawValue}
	p.Cipher.ID, p.Cipher.IV = oidAES256CBC, random(aes.BlockSize)
	// The lengths of both keys are valid.
	key, _ := pbkdf2.Key(sha256.New, password.Reveal(), p.KDF.Parameters.Salt, rounds, keySize)
	block, _ := aes.NewCipher(key)
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	out := append(bytes.Clone(plain), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, p.Cipher.IV).CryptBlocks(out, out)
	parameters, _ := asn1.Marshal(p) // the types are our own
	return algorithm{oidPBES2, asn1.RawValue{FullBytes: parameters}}, out
}

// macOf lets a reader check that the password is right and the file complete.
func macOf(safe []byte, password secret.String) macData {
	m := macData{Salt: random(saltSize), Rounds: rounds}
	m.Digest.Algorithm = algorithm{oidSHA256, asn1.NullRawValue}
	mac := hmac.New(sha256.New, macKey(m.Salt, password))
	mac.Write(safe)
	m.Digest.Value = mac.Sum(nil)
	return m
}

// macKey is the derivation of RFC 7292, appendix B, for the purpose 3. One round of its outer loop
// suffices, because the key has the length of the hash.
func macKey(salt []byte, password secret.String) []byte {
	const purpose, block = 3, 64
	text := make([]byte, 0, 2*password.Len()+2)
	for _, c := range utf16.Encode([]rune(password.Reveal())) {
		text = append(text, byte(c>>8), byte(c)) //nolint:gosec // both halves of it
	}
	text = append(text, 0, 0)
	in := bytes.Repeat([]byte{purpose}, block)
	for _, part := range [][]byte{salt, text} {
		for i := range (len(part) + block - 1) / block * block {
			in = append(in, part[i%len(part)])
		}
	}
	sum := sha256.Sum256(in)
	for range rounds - 1 {
		sum = sha256.Sum256(sum[:])
	}
	return sum[:]
}
