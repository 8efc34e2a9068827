package bench

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
)

// signedPath is the path that clients of provider-b sign, wherever the proxy serves it.
const signedPath = "/pts/v2/payments"

// The marks stand for the parts that differ in every request. Each is as long as its part: the
// base64 of 32 bytes.
var (
	digestMark    = strings.Repeat("d", base64.StdEncoding.EncodedLen(sha256.Size))
	signatureMark = strings.Repeat("s", len(digestMark))
)

// signedHeaders are the headers of a client of provider-b, with {merchant}, {id} and {date} for the
// values that a run determines at its beginning.
var signedHeaders = []string{
	"v-c-merchant-id: {merchant}",
	"Date: {date}",
	"Digest: SHA-256=" + digestMark,
	`Signature: keyid="{id}", algorithm="HmacSHA256", headers="host date request-target digest v-c-merchant-id", ` +
		`signature="` + signatureMark + `"`,
	"User-Agent: Mozilla/5.0",
	"Content-Type: application/json;charset=utf-8",
	"Accept: application/hal+json;charset=utf-8",
	"v-c-client-id: cybs-rest-sdk-node-0.0.80",
}

var errMarks = errors.New("bench: a request to be signed has no mark for it")

// signedBy fills in the login and the time.
func signedBy(login fleet.ProviderB, headers []string, now time.Time) []string {
	known := strings.NewReplacer("{merchant}", login.MerchantID, "{id}", login.KeyID, "{date}", httpDate(now))
	out := make([]string, len(headers))
	for i, h := range headers {
		out[i] = known.Replace(h)
	}
	return out
}

func httpDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// sign makes r, which goes to addr and was made at now, signed by the login each time it is sent.
func sign(r *load.Request, addr string, login fleet.ProviderB, now time.Time) {
	key := must(base64.StdEncoding.DecodeString(login.SharedSecret))
	text := r.Bytes(nil, 0)
	digestAt, signatureAt := bytes.Index(text, []byte(digestMark)), bytes.Index(text, []byte(signatureMark))
	bodyAt := bytes.Index(text, []byte("\r\n\r\n")) + len("\r\n\r\n")
	if digestAt < 0 || signatureAt < 0 {
		check(errMarks)
	}
	before := []byte("host: " + addr + "\ndate: " + httpDate(now) +
		"\nrequest-target: post " + signedPath + "\ndigest: SHA-256=")
	after := []byte("\nv-c-merchant-id: " + login.MerchantID)
	r.Finally(func(request []byte) {
		sum := sha256.Sum256(request[bodyAt:])
		digest := request[digestAt : digestAt+len(digestMark)]
		base64.StdEncoding.Encode(digest, sum[:])
		mac := hmac.New(sha256.New, key)
		for _, part := range [][]byte{before, digest, after} {
			mac.Write(part)
		}
		base64.StdEncoding.Encode(request[signatureAt:signatureAt+len(signatureMark)], mac.Sum(sum[:0]))
	})
}
