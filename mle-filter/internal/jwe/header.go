package jwe

import (
	"crypto/ecdh"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/go-jose/go-jose/v4/json"
)

// Header is what a protected header says. Members that were not sent are zero.
type Header struct {
	Alg      Alg
	KID      string // of at most 64 letters, digits, - and _
	IssuedAt *int64 // Unix seconds
	Method   string // htm
	Path     string // htu
	Type     string // cty, which stands for JSON when it was sent at all

	epk      *ecdh.PublicKey // with ECDH only
	apu, apv []byte
}

// forbidden are members that no message needs here, and that would make somebody fetch, parse, inflate or derive.
var forbidden = []string{
	"zip", "crit", "jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256", "p2s", "p2c", "iv", "tag", "b64", "nonce",
}

const (
	maxKID = 64
	// maxSeconds is above every time in seconds, and below every one in milliseconds.
	maxSeconds = 100_000_000_000
	// pointSize is what a coordinate on P-256 measures.
	pointSize = 32
)

type members map[string]json.RawMessage

// readHeader reads and judges a protected header. It reads with go-jose's own parser, which refuses repeated members and knows one spelling
// of each: another parser's view of the same bytes could be another header.
func readHeader(text []byte) (*Header, error) {
	var m members
	if err := json.Unmarshal(text, &m); err != nil || m == nil {
		return nil, refuse(ReasonHeader, "The protected header is not a JSON object without repeated members.")
	}
	for _, name := range forbidden {
		if _, ok := m[name]; ok {
			return nil, refuse(ReasonHeader, "The protected header holds "+name+", which is not taken.")
		}
	}
	h := &Header{}
	for _, read := range []func(members) error{h.readAlg, h.readKID, h.readTypes, h.readTime, h.readBinding, h.readAgreement} {
		if err := read(m); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// text reads a member that must be a string when it is there.
func (m members) text(name string) (value string, present bool, err error) {
	raw, present := m[name]
	if !present {
		return "", false, nil
	}
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", true, refuse(ReasonHeader, "The protected header's "+name+" is not a string.")
	}
	return value, true, nil
}

func (h *Header) readAlg(m members) error {
	alg, _, err := m.text("alg")
	if err != nil {
		return err
	}
	content, _, err := m.text("enc")
	if err != nil {
		return err
	}
	if h.Alg = Alg(alg); !h.Alg.Known() || content != string(enc) {
		return refuse(ReasonAlg, "The algorithms taken are RSA-OAEP-256 and ECDH-ES+A256KW, with A256GCM.")
	}
	return nil
}

func (h *Header) readKID(m members) error {
	kid, present, err := m.text("kid")
	if err != nil {
		return err
	}
	if present && !plausibleKID(kid) {
		return refuse(ReasonKID, "The protected header's kid cannot be a key id.")
	}
	h.KID = kid
	return nil
}

// plausibleKID reports whether a kid is short and of characters that mean nothing anywhere. Thumbprints are.
func plausibleKID(kid string) bool {
	return kid != "" && len(kid) <= maxKID && strings.Trim(kid, alphabet) == ""
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
	if present && !strings.EqualFold(cty, "json") && !strings.EqualFold(cty, "application/json") {
		return refuse(ReasonHeader, "The protected header's cty is neither json nor application/json.")
	}
	h.Type = cty
	_, _, err = m.text("jti")
	return err
}

func (h *Header) readTime(m members) error {
	raw, present := m["iat"]
	if !present {
		return nil
	}
	iat, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return refuse(ReasonHeader, "The protected header's iat is not an integer; it is the time in seconds.")
	}
	if iat > maxSeconds {
		return refuse(ReasonHeader, "The protected header's iat is in seconds, not milliseconds.")
	}
	h.IssuedAt = &iat
	return nil
}

func (h *Header) readBinding(m members) (err error) {
	if h.Method, _, err = m.text("htm"); err != nil {
		return err
	}
	h.Path, _, err = m.text("htu")
	return err
}

// readAgreement reads the members of ECDH, which must not be there without it.
func (h *Header) readAgreement(m members) (err error) {
	if h.Alg != ECDHESA256KW {
		for _, name := range []string{"epk", "apu", "apv"} {
			if _, ok := m[name]; ok {
				return refuse(ReasonHeader, "The protected header holds "+name+", which goes with ECDH-ES only.")
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

// octets reads a member that is base64url when it is there.
func (m members) octets(name string) ([]byte, error) {
	text, present, err := m.text(name)
	if err != nil || !present {
		return nil, err
	}
	value, err := decode(text)
	if err != nil {
		return nil, refuse(ReasonHeader, "The protected header's "+name+" is not base64url.")
	}
	return value, nil
}

// decode reads base64url in its canonical form only.
func decode(text string) ([]byte, error) {
	value, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && encodedLen(len(value)) != len(text) { // line breaks are skipped
		err = base64.CorruptInputError(0)
	}
	return value, err
}

// readEPK reads the ephemeral public key. A wrong one never meets the private key: crypto/ecdh takes points of the curve only.
func readEPK(raw json.RawMessage) (*ecdh.PublicKey, error) {
	var m members
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil || m == nil {
		return nil, refuse(ReasonEPK, "The protected header has no epk, which ECDH-ES needs.")
	}
	if _, private := m["d"]; private {
		return nil, refuse(ReasonEPK, "The protected header's epk holds a private key.")
	}
	kty, _, _ := m.text("kty")
	crv, _, _ := m.text("crv")
	point := append(make([]byte, 0, 1+2*pointSize), 4) // uncompressed
	for _, name := range []string{"x", "y"} {
		text, _, _ := m.text(name)
		coordinate, err := decode(text)
		if err != nil || len(coordinate) != pointSize {
			return nil, refuse(ReasonEPK, "The protected header's epk is not a point of P-256.")
		}
		point = append(point, coordinate...)
	}
	key, err := ecdh.P256().NewPublicKey(point)
	if err != nil || kty != "EC" || crv != "P-256" {
		return nil, refuse(ReasonEPK, "The protected header's epk is not a point of P-256.")
	}
	return key, nil
}
