package jwe

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

var (
	keyAlgorithms     = []jose.KeyAlgorithm{jose.KeyAlgorithm(RSAOAEP256), jose.KeyAlgorithm(ECDHESA256KW)}
	contentEncryption = []jose.ContentEncryption{enc}
)

// Parse parses a compact JWE and makes all checks that need no key. An error is an *Error.
func Parse(token []byte, limits Limits) (*Message, error) {
	parts, err := split(token)
	if err != nil {
		return nil, err
	}
	if decodedLen(parts[0]) > limits.Header {
		return nil, refuse(ReasonHeader, "The protected header is too large.")
	}
	if decodedLen(parts[3]) > limits.Plaintext { // GCM adds only the tag
		return nil, refuse(ReasonSize, "The decrypted body would be too large.")
	}
	text := make([]byte, decodedLen(parts[0]))
	if _, err := base64.RawURLEncoding.Decode(text, parts[0]); err != nil {
		return nil, refuse(ReasonEncoding, notCanonical)
	}
	if err := screen(text); err != nil {
		return nil, err
	}
	object, err := jose.ParseEncryptedCompact(string(token), keyAlgorithms, contentEncryption)
	if err != nil {
		return nil, explain(text)
	}
	header, err := judge(&object.Header)
	if err != nil {
		return nil, err
	}
	keyLen := decodedLen(parts[1])
	if !plausibleKeyLen(header.Alg, keyLen) {
		return nil, refuse(ReasonEncoding, "The encrypted key does not have the length of its algorithm.")
	}
	return &Message{Header: *header, token: token, object: object, keyLen: keyLen}, nil
}

func plausibleKeyLen(alg Alg, n int) bool {
	if alg == RSAOAEP256 {
		return n >= minModulus/8 && n <= maxModulus/8
	}
	return n == wrappedSize
}

// heavy are the members for which go-jose parses keys and certificates, even if it does not use
// them.
var heavy = []jose.HeaderKey{"jwk", "x5c"}

// suspectTexts finds headers that need screen. A header with jwk, x5c or null, escaped or not,
// contains one of these texts.
var suspectTexts = [][]byte{[]byte("jwk"), []byte("x5c"), []byte("null"), []byte(`\u`)}

// screen rejects members that go-jose would hide or use, before it parses a header. Most headers
// have no such text, so they are not parsed twice.
func screen(text []byte) error {
	if !utf8.Valid(text) {
		return refuse(ReasonHeader, "The protected header is not UTF-8.")
	}
	if !slices.ContainsFunc(suspectTexts, func(suspect []byte) bool { return bytes.Contains(text, suspect) }) {
		return nil
	}
	m, err := readMembers(text)
	if err != nil {
		return err
	}
	for _, name := range heavy {
		if _, ok := m[name]; ok {
			return notTaken(name)
		}
	}
	for _, value := range m {
		if string(value) == "null" { // go-jose treats it as absent
			return refuse(ReasonHeader, "A member of the protected header is null. Omit it.")
		}
	}
	if epk, err := readMembers(m["epk"]); err == nil {
		return screenEPK(epk)
	}
	return nil // the rules of ECDH reject an epk that is not an object
}

// screenEPK rejects an ephemeral key with other members, such as certificates.
func screenEPK(epk map[jose.HeaderKey]json.RawMessage) error {
	for name := range epk {
		if !slices.Contains(point, string(name)) {
			return refuse(ReasonEPK, notBare)
		}
	}
	return nil
}

// readMembers parses a header as go-jose does: it accepts one spelling of each member, and rejects
// repeated members.
func readMembers(text []byte) (map[jose.HeaderKey]json.RawMessage, error) {
	var m map[jose.HeaderKey]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil || m == nil {
		return nil, refuse(ReasonHeader, "The protected header is not a JSON object without repeated members.")
	}
	return m, nil
}

// explain returns the reason for which go-jose rejects a header, without go-jose's text, which
// repeats the message.
func explain(text []byte) error {
	m, err := readMembers(text)
	if err != nil {
		return err
	}
	var whole map[string]any // go-jose reads all levels
	if json.Unmarshal(text, &whole) != nil {
		return refuse(ReasonHeader,
			"The protected header has a repeated nested member, or a number that is out of range.")
	}
	var alg, content string
	if json.Unmarshal(m["alg"], &alg) != nil || json.Unmarshal(m["enc"], &content) != nil || !Alg(alg).Known() ||
		content != string(enc) {
		return refuse(ReasonAlg, "The supported algorithms are RSA-OAEP-256 and ECDH-ES+A256KW, with A256GCM.")
	}
	var kid string
	if raw, ok := m["kid"]; ok && json.Unmarshal(raw, &kid) != nil {
		return refuse(ReasonKID, "The protected header's kid is not a string.")
	}
	return refuse(ReasonEncoding, notCanonical)
}
