package jwe

import (
	"crypto/ecdh"
	"encoding/base64"
	"math"
	"mime"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Header is the content of a protected header. Absent members are zero.
type Header struct {
	Alg      Alg
	KID      string // of at most 64 letters, digits, - and _
	IssuedAt *int64 // iat, Unix seconds
	Method   string // htm
	Path     string // htu
	// ContentType is cty, a media type in lower case without parameters.
	ContentType string
	// ResponseTo is rsp: RequiredResponse, or the key id that the response must be encrypted to.
	ResponseTo     string
	IdempotencyKey string // idk

	epk      *ecdh.PublicKey // with ECDH only
	apu, apv []byte
}

// RequiredResponse is the value of rsp that accepts any response key of the merchant.
const RequiredResponse = "required"

// forbidden are members that no message needs, and that would make a reader fetch, inflate or
// derive. Members with which go-jose would parse keys and certificates are checked before it
// parses.
var forbidden = []jose.HeaderKey{"zip", "crit", "jku", "x5u", "x5t", "x5t#S256", "p2s", "p2c", "iv", "tag", "b64"}

const (
	maxKID = 64
	// maxSeconds is above every time in seconds, and below every one in milliseconds.
	maxSeconds = 100_000_000_000
	// coordinate is the length of a coordinate on P-256, in bytes.
	coordinate = 32
)

// members are the members without a field in go-jose's type. Members with the value null are
// absent.
type members map[jose.HeaderKey]any

// judge applies the rules to a header that go-jose has parsed. No other parser reads the header, so
// two parsers cannot disagree.
func judge(parsed *jose.Header) (*Header, error) {
	m := members(parsed.ExtraHeaders)
	for _, name := range forbidden {
		if _, ok := m[name]; ok {
			return nil, notTaken(name)
		}
	}
	if parsed.Nonce != "" {
		return nil, notTaken("nonce")
	}
	h := &Header{Alg: Alg(parsed.Algorithm), KID: parsed.KeyID}
	if h.KID != "" && !plausibleKID(h.KID) {
		return nil, refuse(ReasonKID, "The protected header's kid is not a key id.")
	}
	for _, read := range []func(members) error{h.readTypes, h.readTime, h.readBinding, h.readAgreement} {
		if err := read(m); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func notTaken(name jose.HeaderKey) error {
	return refuse(ReasonHeader, "The protected header holds "+string(name)+", which is not supported.")
}

// plausibleKID reports whether a kid is short and has only characters of a thumbprint. These have
// no special meaning anywhere.
func plausibleKID(kid string) bool {
	return len(kid) <= maxKID && strings.Trim(kid, alphabet) == ""
}

// text returns a member that must be a string if present.
func (m members) text(name jose.HeaderKey) (value string, present bool, err error) {
	member, present := m[name]
	value, ok := member.(string)
	if present && !ok {
		return "", true, refuse(ReasonHeader, "The protected header's "+string(name)+" is not a string.")
	}
	return value, present, nil
}

func (h *Header) readTypes(m members) error {
	typ, present, err := m.text("typ")
	if err != nil {
		return err
	}
	if present && !strings.EqualFold(typ, "JOSE") {
		return refuse(ReasonHeader, "The protected header's typ is not JOSE.")
	}
	cty, present, err := m.text("cty")
	if err != nil {
		return err
	}
	if present {
		if h.ContentType = mediaType(cty); h.ContentType == "" {
			return refuse(ReasonHeader, "The protected header's cty is not a media type of UTF-8 text.")
		}
	}
	_, _, err = m.text("jti")
	return err
}

// mediaType returns the media type of a cty, or "" if it is invalid. A cty without a slash omits
// "application/" (RFC 7515, section 4.1.10). The only parameter is charset=utf-8.
func mediaType(cty string) string {
	name, parameters, err := mime.ParseMediaType(cty)
	if err != nil || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	for parameter, value := range parameters {
		if parameter != "charset" || !strings.EqualFold(value, "utf-8") {
			return ""
		}
	}
	if !strings.Contains(name, "/") {
		name = "application/" + name
	}
	return name
}

func (h *Header) readTime(m members) error {
	member, present := m["iat"]
	if !present {
		return nil
	}
	seconds, ok := member.(float64)
	if !ok || seconds != math.Trunc(seconds) || seconds < 0 {
		return refuse(ReasonHeader, "The protected header's iat must be an integer, the time in seconds.")
	}
	if seconds > maxSeconds {
		return refuse(ReasonHeader, "The protected header's iat must be in seconds, not in milliseconds.")
	}
	iat := int64(seconds)
	h.IssuedAt = &iat
	return nil
}

// readBinding reads the members that bind a message to its request.
func (h *Header) readBinding(m members) error {
	for _, member := range []struct {
		name jose.HeaderKey
		into *string
	}{
		{"htm", &h.Method}, {"htu", &h.Path}, {"rsp", &h.ResponseTo}, {"idk", &h.IdempotencyKey},
	} {
		value, present, err := m.text(member.name)
		if err != nil {
			return err
		}
		if present && value == "" {
			return refuse(ReasonHeader, "The protected header's "+string(member.name)+" is empty.")
		}
		*member.into = value
	}
	return nil
}

// readAgreement reads the members of ECDH. They are forbidden with RSA.
func (h *Header) readAgreement(m members) (err error) {
	if h.Alg != ECDHESA256KW {
		for _, name := range []jose.HeaderKey{"epk", "apu", "apv"} {
			if _, ok := m[name]; ok {
				return notTaken(name + ", without ECDH-ES")
			}
		}
		return nil
	}
	if h.apu, err = m.octets("apu"); err != nil {
		return err
	}
	if h.apv, err = m.octets("apv"); err != nil {
		return err
	}
	h.epk, err = readEPK(m["epk"])
	return err
}

// octets returns a member that must be base64url if present.
func (m members) octets(name jose.HeaderKey) ([]byte, error) {
	text, present, err := m.text(name)
	if err != nil || !present {
		return nil, err
	}
	value, err := decode(text)
	if err != nil {
		return nil, refuse(ReasonHeader, "The protected header's "+string(name)+" is not base64url.")
	}
	return value, nil
}

// decode decodes base64url, and accepts only its canonical form.
func decode(text string) ([]byte, error) {
	value, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && encodedLen(len(value)) != len(text) { // the decoder skips line breaks
		err = base64.CorruptInputError(0)
	}
	return value, err
}

// point are the only members of an ephemeral key.
var point = []string{"kty", "crv", "x", "y"}

const notBare = "The protected header's epk must hold only kty, crv, x and y."

// readEPK reads the ephemeral public key. crypto/ecdh accepts only points on the curve, so an
// invalid one never reaches the private key.
func readEPK(member any) (*ecdh.PublicKey, error) {
	m, ok := member.(map[string]any)
	if !ok {
		return nil, refuse(ReasonEPK, "The protected header has no epk, which ECDH-ES needs.")
	}
	for name := range m {
		if !slices.Contains(point, name) {
			return nil, refuse(ReasonEPK, notBare)
		}
	}
	encoded := append(make([]byte, 0, 1+2*coordinate), 4) // the uncompressed form
	for _, name := range []string{"x", "y"} {
		text, _ := m[name].(string)
		value, err := decode(text)
		if err != nil || len(value) != coordinate {
			return nil, refuse(ReasonEPK, "The protected header's epk is not a point of P-256.")
		}
		encoded = append(encoded, value...)
	}
	key, err := ecdh.P256().NewPublicKey(encoded)
	if err != nil || m["kty"] != "EC" || m["crv"] != "P-256" {
		return nil, refuse(ReasonEPK, "The protected header's epk is not a point of P-256.")
	}
	return key, nil
}
