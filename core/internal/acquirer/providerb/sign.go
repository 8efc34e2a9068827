package providerb

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/secret"
)

// The ways of authentication.
const (
	AuthSignature = "http_signature"
	AuthJWT       = "jwt" // signed by the shared secret: HS256
)

// signer proves the merchant's credentials for a request.
type signer struct {
	auth, host, merchant, keyID string
	key                         secret.String // the bytes of the shared secret
	newID                       func() string // of a token
}

// header returns the header of a request. path is the one that the provider serves, without the
// base URL's.
func (s signer) header(method, path string, body []byte, now time.Time) http.Header {
	h := http.Header{"Accept": {"application/hal+json;charset=utf-8"}, "User-Agent": {"causeway"}}
	if len(body) > 0 {
		h["Content-Type"] = []string{"application/json;charset=utf-8"}
	}
	if s.auth == AuthJWT {
		h.Set("Authorization", "Bearer "+s.token(method, path, body, now))
		return h
	}
	names, date := "host date request-target v-c-merchant-id", now.UTC().Format(http.TimeFormat)
	h["V-C-Merchant-Id"], h["Date"] = []string{s.merchant}, []string{date}
	signed := "host: " + s.host + "\ndate: " + date + "\nrequest-target: " + strings.ToLower(method) + " " + path
	if len(body) > 0 {
		sum := "SHA-256=" + digest(body)
		names, h["Digest"] = "host date request-target digest v-c-merchant-id", []string{sum}
		signed += "\ndigest: " + sum
	}
	signed += "\nv-c-merchant-id: " + s.merchant
	h["Signature"] = []string{"keyid=" + strconv.Quote(s.keyID) + `, algorithm="HmacSHA256", headers="` + names +
		`", signature="` + base64.StdEncoding.EncodeToString(s.mac(signed)) + `"`}
	return h
}

func (s signer) mac(text string) []byte {
	mac := hmac.New(sha256.New, []byte(s.key.Reveal()))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.StdEncoding.EncodeToString(sum[:])
}

type tokenHeader struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
	KeyID     string `json:"kid"`
}

// claims are the claims of version 2.
type claims struct {
	Digest          string `json:"digest,omitzero"`
	DigestAlgorithm string `json:"digestAlgorithm,omitzero"`
	IssuedAt        int64  `json:"iat"`
	ExpiresAt       int64  `json:"exp"`
	Host            string `json:"request-host"`
	Path            string `json:"request-resource-path"`
	Method          string `json:"request-method"`
	Issuer          string `json:"iss"`
	ID              string `json:"jti"`
	Version         string `json:"v-c-jwt-version"`
	Merchant        string `json:"v-c-merchant-id"`
}

// token returns a JWT of the request, which is valid for two minutes.
func (s signer) token(method, path string, body []byte, now time.Time) string {
	const lifetime = 120
	c := claims{
		IssuedAt: now.Unix(), ExpiresAt: now.Unix() + lifetime, Host: s.host, Path: path, Method: method,
		Issuer: s.merchant, ID: s.newID(), Version: "2", Merchant: s.merchant,
	}
	if len(body) > 0 {
		c.Digest, c.DigestAlgorithm = digest(body), "SHA-256"
	}
	text := encoded(tokenHeader{"HS256", "JWT", s.keyID}) + "." + encoded(c)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.mac(text))
}

func encoded(part any) string {
	text, _ := json.Marshal(part) // strings and numbers only
	return base64.RawURLEncoding.EncodeToString(text)
}

// newUUID returns a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
