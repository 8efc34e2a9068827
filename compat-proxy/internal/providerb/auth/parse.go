package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
)

// The bounds of a Signature header.
const (
	maxHeader = 4 << 10
	maxListed = 32
)

// signature is a parsed Signature header.
type signature struct {
	keyID string
	names []string // the signed headers, in order and lower case
	mac   []byte
}

// parseSignature parses name="value" pairs with commas between, in any order. It ignores unknown
// names, and rejects repeated ones.
func parseSignature(header string) (signature, error) {
	if len(header) > maxHeader {
		return signature{}, errForm
	}
	pairs := map[string]string{}
	for rest := header; ; {
		name, value, after, ok := cutPair(rest)
		if _, twice := pairs[name]; !ok || twice {
			return signature{}, errForm
		}
		pairs[name] = value
		if after == "" {
			break
		}
		if after[0] != ',' {
			return signature{}, errForm
		}
		rest = after[1:]
	}
	if a := pairs["algorithm"]; !strings.EqualFold(a, "HmacSHA256") && !strings.EqualFold(a, "hmac-sha256") {
		return signature{}, errForm
	}
	s := signature{keyID: pairs["keyid"], names: strings.Fields(strings.ToLower(pairs["headers"]))}
	mac, err := base64.StdEncoding.Strict().DecodeString(pairs["signature"])
	if err != nil || len(mac) != sha256.Size || s.keyID == "" || len(s.names) > maxListed || repeats(s.names) {
		return signature{}, errForm
	}
	s.mac = mac
	return s, nil
}

// cutPair cuts one name="value" from the front, with the name in lower case. after is the rest,
// without leading space.
func cutPair(text string) (name, value, after string, ok bool) {
	name, rest, found := strings.Cut(text, "=")
	name, rest = strings.ToLower(strings.Trim(name, " \t")), strings.TrimLeft(rest, " \t")
	if !found || name == "" || strings.ContainsAny(name, "\", \t") || !strings.HasPrefix(rest, `"`) {
		return "", "", "", false
	}
	value, after, found = strings.Cut(rest[1:], `"`)
	return name, value, strings.TrimLeft(after, " \t"), found && !strings.Contains(value, `\`)
}

func repeats(names []string) bool {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return true
		}
	}
	return false
}

// covers reports whether all required headers are signed, for a request with or without a body.
func (s signature) covers(body bool) bool {
	target := slices.Contains(s.names, "request-target") || slices.Contains(s.names, "(request-target)")
	return target && slices.Contains(s.names, "v-c-merchant-id") && (!body || slices.Contains(s.names, "digest"))
}
