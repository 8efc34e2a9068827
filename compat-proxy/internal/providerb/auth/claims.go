package auth

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// tokenSkew is the tolerated difference between a client's clock and ours. Tokens live for two
// minutes.
const tokenSkew = 5 * time.Minute

// maxNonce bounds a token's nonce.
const maxNonce = 256

var (
	errExpired = errors.New("the token has expired, is not valid yet, or has no time")
	errClaims  = errors.New("the token is for another request")
)

// claims are the claims of a token about its request. Clients write the scalars in any way.
type claims struct {
	Digest      wire.Text `json:"digest"`
	Algorithm   wire.Text `json:"digestAlgorithm"`
	AlgorithmB  wire.Text `json:"digest-algorithm"` // another client's spelling
	IssuedAt    wire.Text `json:"iat"`
	NotBefore   wire.Text `json:"nbf"`
	Expires     wire.Text `json:"exp"`
	Issuer      wire.Text `json:"iss"`
	Nonce       wire.Text `json:"jti"`
	Merchant    wire.Text `json:"v-c-merchant-id"`
	Host        wire.Text `json:"request-host"`
	Path        wire.Text `json:"request-resource-path"`
	Method      wire.Text `json:"request-method"`
	ResponseKID wire.Text `json:"v-c-response-mle-kid"`
}

func readClaims(payload []byte) (claims, error) {
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil || len(c.Nonce) > maxNonce {
		return claims{}, errForm
	}
	return c, nil
}

// checkClaims checks that a token is for this request and valid now. Tokens of the first generation
// contain only the digest and the time when they were made.
func (v *Verifier) checkClaims(c claims, r Request, key credentials.KeyB, first bool) error {
	switch {
	case !c.coversBody(r.Body):
		return errDigest
	case !v.validNow(c, v.ageOf(key.Login), first):
		return errExpired
	case c.Issuer != "" && string(c.Issuer) != key.Login.ID:
		return errMerchant
	case c.Method != "" && !strings.EqualFold(string(c.Method), r.Method):
		return errClaims
	case c.Path != "" && !slices.Contains(pathsOf(r), string(c.Path)):
		return errClaims
	case c.Path == "" && len(r.Body) == 0 && r.Method != http.MethodGet:
		return errClaims // it covers nothing: the token of a lookup would void a payment
	case c.Host != "" && !v.acceptsHost(r, string(c.Host)):
		return errClaims
	}
	return nil
}

// coversBody reports whether the token covers the body. An empty body needs no digest.
func (c claims) coversBody(body []byte) bool {
	if a := cmp.Or(c.Algorithm, c.AlgorithmB, "SHA-256"); !strings.EqualFold(string(a), "SHA-256") {
		return false
	}
	if c.Digest == "" {
		return len(body) == 0
	}
	return sameDigest(body, string(c.Digest))
}

// validNow reports whether a token is valid now. Its end must be in the future, by at most age. Its
// creation must be within age of now, and its start must not be in the future. A time that cannot
// be read is rejected, and so is a token without an end. A token of the first generation may have a
// creation time instead of an end. With the age zero, creation and start are not checked.
func (v *Verifier) validNow(c claims, age time.Duration, first bool) bool {
	if c.Expires == "" && (!first || c.IssuedAt == "") {
		return false
	}
	now := v.cfg.Clock.Now()
	if c.Expires != "" {
		end, ok := parseEpoch(string(c.Expires))
		if !ok || now.After(end.Add(tokenSkew)) || age > 0 && end.After(now.Add(age+tokenSkew)) {
			return false
		}
	}
	if age <= 0 {
		return true
	}
	return v.tokenTimeValid(c.IssuedAt, age) && v.tokenTimeValid(c.NotBefore, age)
}

// tokenTimeValid reports whether a time of a token is within age of now, and not ahead by more than
// tokenSkew. A date and time as text may be ahead by age: some clients write their local time. A
// token without the time passes.
func (v *Verifier) tokenTimeValid(text wire.Text, age time.Duration) bool {
	if text == "" {
		return true
	}
	at, ok := parseMade(string(text))
	_, number := parseEpoch(string(text))
	return ok && v.within(at, age) && (!number || !at.After(v.cfg.Clock.Now().Add(tokenSkew)))
}

// parseEpoch parses seconds since 1970.
func parseEpoch(text string) (time.Time, bool) {
	const year5000 = 95617584000
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s >= 0 && s < year5000) {
		return time.Time{}, false
	}
	return time.Unix(int64(s), 0), true
}

// parseMade parses the creation time of a token, in any known form.
func parseMade(text string) (time.Time, bool) {
	if t, ok := parseEpoch(text); ok {
		return t, true
	}
	if t, err := time.Parse("2006-01-02T15:04Z", text); err == nil {
		return t, true
	}
	return parseDate(text)
}

// pathsOf returns the paths that a client may have signed for the request, with its query and
// without.
func pathsOf(r Request) []string {
	cut := strings.TrimPrefix(r.Target, r.Prefix)
	bare, _, _ := strings.Cut(cut, "?")
	whole, _, _ := strings.Cut(r.Target, "?")
	return []string{cut, r.Target, bare, whole}
}

// acceptsHost reports whether host is a name that a client may have signed for this server. Some
// clients append the mount path.
func (v *Verifier) acceptsHost(r Request, host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "https://"), "/")
	for _, name := range hostsOf(r.Host, v.cfg.Hosts) {
		if strings.EqualFold(host, name) || strings.EqualFold(host, name+r.Prefix) {
			return true
		}
	}
	return false
}

// caller returns the caller of a verified token. evidence identifies a token without a nonce.
func (c claims) caller(key credentials.KeyB, h tokenHeader, r Request, evidence string) (Caller, error) {
	merchant, signed := cmp.Or(string(c.Merchant), h.Merchant, key.Login.ID), true
	// A portfolio's clients name the merchant in the header.
	if _, own := key.Login.Grant(merchant); !own && merchant == key.Login.ID {
		merchant, signed = r.Header.Get("V-C-Merchant-Id"), false
	}
	out, err := actsFor(key, merchant, signed)
	if err != nil {
		return Caller{}, err
	}
	out.MayEncrypt, out.Pathless = true, c.Path == "" && len(r.Body) > 0
	if k, ok := key.Login.ResponseKey(string(c.ResponseKID)); ok && c.ResponseKID != "" {
		out.ResponseKID, out.ResponseKey = string(c.ResponseKID), k
	}
	out.Evidence = evidence
	if c.Nonce != "" {
		out.Evidence = strings.Join([]string{"nonce", key.Login.ID, string(c.Nonce)}, "\n")
	}
	return out, nil
}
