package enginetest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	josecipher "github.com/go-jose/go-jose/v4/cipher"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// The segments of a compact JWE.
const (
	SegmentHeader = iota
	SegmentKey
	SegmentIV
	SegmentCiphertext
	SegmentTag
)

// Forge makes a JWE from Go's primitives alone, so it can have any fault. With zero fields it makes
// a valid one with the smallest header.
type Forge struct {
	Key    Key
	Header map[string]any             // added to alg, enc, kid and epk; the value nil omits a member
	Raw    func(header string) string // changes the header's text before it is encrypted or authenticated
	CEK    []byte                     // default 32 random bytes
	IVSize int                        // default 12
	Parts  func(parts *[5][]byte)     // changes the segments after encryption, before encoding
	Text   func(token string) string  // changes the token
}

// Encrypt encrypts a text.
func (f Forge) Encrypt(tb testing.TB, plaintext string) string {
	tb.Helper()
	cek := f.CEK
	if cek == nil {
		cek = random(32)
	}
	header := map[string]any{"alg": f.Key.Alg, "enc": "A256GCM", "kid": f.Key.KID}
	var parts [5][]byte
	parts[SegmentKey] = f.wrap(tb, cek, header)
	maps.Copy(header, f.Header)
	maps.DeleteFunc(header, func(_ string, v any) bool { return v == nil })
	text, err := json.Marshal(header)
	if err != nil {
		tb.Fatal(err)
	}
	if f.Raw != nil {
		text = []byte(f.Raw(string(text)))
	}
	parts[SegmentHeader] = text
	f.encrypt(tb, cek, plaintext, &parts)
	if f.Parts != nil {
		f.Parts(&parts)
	}
	encoded := make([]string, len(parts))
	for i, part := range parts {
		encoded[i] = base64.RawURLEncoding.EncodeToString(part)
	}
	token := strings.Join(encoded, ".")
	if f.Text != nil {
		token = f.Text(token)
	}
	return token
}

func (f Forge) encrypt(tb testing.TB, cek []byte, plaintext string, parts *[5][]byte) {
	tb.Helper()
	block, err := aes.NewCipher(cek)
	if err != nil { // not an AES key: the message is rejected earlier
		block, _ = aes.NewCipher(random(32))
	}
	size := f.IVSize
	if size == 0 {
		size = 12
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, size)
	if err != nil {
		tb.Fatal(err)
	}
	parts[SegmentIV] = random(size)
	protected := base64.RawURLEncoding.EncodeToString(parts[SegmentHeader])
	encrypted := gcm.Seal(nil, parts[SegmentIV], []byte(plaintext), []byte(protected))
	border := len(encrypted) - gcm.Overhead()
	parts[SegmentCiphertext], parts[SegmentTag] = encrypted[:border:border], encrypted[border:]
}

// wrap encrypts the content key. For ECDH it adds the ephemeral key to the header.
func (f Forge) wrap(tb testing.TB, cek []byte, header map[string]any) []byte {
	tb.Helper()
	if key, ok := f.Key.Private.(*rsa.PrivateKey); ok {
		wrapped, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &key.PublicKey, cek, nil)
		if err != nil {
			tb.Fatal(err)
		}
		return wrapped
	}
	public, err := f.Key.Private.(*ecdsa.PrivateKey).PublicKey.ECDH()
	if err != nil {
		tb.Fatal(err)
	}
	ephemeral, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	header["epk"] = JWK(ephemeral.PublicKey())
	secret, err := ephemeral.ECDH(public)
	if err != nil {
		tb.Fatal(err)
	}
	return keyWrap(tb, secret, cek)
}

// JWK returns a P-256 public key as a header member.
func JWK(key *ecdh.PublicKey) map[string]any {
	point := key.Bytes()
	return map[string]any{"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:])}
}

func keyWrap(tb testing.TB, secret, cek []byte) []byte {
	tb.Helper()
	if len(cek)%8 != 0 {
		return random(len(cek) + 8)
	}
	alg := string(engine.ECDHESA256KW)
	info := append(binary.BigEndian.AppendUint32(nil, 1), secret...)
	info = append(append(info, 0, 0, 0, 14), alg...) // its length
	kek := sha256.Sum256(append(info, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0))
	block, err := aes.NewCipher(kek[:])
	if err != nil {
		tb.Fatal(err)
	}
	wrapped, err := josecipher.KeyWrap(block, cek)
	if err != nil {
		tb.Fatal(err)
	}
	return wrapped
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}
