package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
)

// signed authenticates by an HTTP signature. An unknown key takes as long as a wrong signature by a
// known one.
func (v *Verifier) signed(ctx context.Context, r Request) (Caller, error) {
	s, err := parseSignature(r.Header.Get("Signature"))
	if err != nil {
		return Caller{}, err
	}
	if !s.covers(len(r.Body) > 0) {
		return Caller{}, errList
	}
	fields, err := s.fields(r)
	if err != nil {
		return Caller{}, err
	}
	if slices.Contains(s.names, "digest") && !digestOf(r.Body, fields["digest"]) {
		return Caller{}, errDigest
	}
	key, known := v.cfg.Keys.ProviderBKey(ctx, s.keyID)
	if key.Certificate != nil || !known {
		key, known = credentials.KeyB{Login: &credentials.LoginB{}}, false
	}
	material := []byte(key.Secret.Reveal())
	seen, same := s.search(v.candidates(r, fields, key.Login), material, fields)
	switch {
	case !known:
		return Caller{}, errUnknown
	case !same:
		return Caller{}, errMAC
	case !v.datesValid(fields, v.ageOf(key.Login)):
		return Caller{}, errDate
	}
	merchant := fields["v-c-merchant-id"]
	c, err := actsFor(key, merchant, seen.merchant == merchant)
	c.Evidence = s.evidence(seen, material, fields, r.Body)
	return c, err
}

// fields returns the signed headers by name. Each must occur exactly once, because a second value
// would be ambiguous.
func (s signature) fields(r Request) (map[string]string, error) {
	fields := make(map[string]string, len(s.names))
	for _, name := range s.names {
		if name == "host" || name == "request-target" || name == "(request-target)" {
			continue
		}
		values := r.Header.Values(name)
		if len(values) != 1 {
			return nil, errRepeated
		}
		fields[name] = values[0]
	}
	return fields, nil
}

// digestOf reports whether a Digest header matches the body.
func digestOf(body []byte, header string) bool {
	const label = "SHA-256="
	if len(header) < len(label) || !strings.EqualFold(header[:len(label)], label) {
		return false
	}
	return sameDigest(body, header[len(label):])
}

// sameDigest reports whether text is the base64 of the body's SHA-256.
func sameDigest(body []byte, text string) bool {
	sum := sha256.Sum256(body)
	return subtle.ConstantTimeCompare([]byte(base64.StdEncoding.EncodeToString(sum[:])), []byte(text)) == 1
}

// candidate is a form of the signed values that a client may have sent.
type candidate struct {
	host, target, merchant string
	earlier                bool // the signed date is a second before the sent one
}

// candidates are all forms of the signed values that a client may have sent, the likeliest of each
// first. In every form, the digest and the method bind the request.
type candidates struct{ hosts, targets, merchants []string }

func (v *Verifier) candidates(r Request, fields map[string]string, owner *credentials.LoginB) candidates {
	method := strings.ToLower(r.Method) + " "
	targets := []string{method + r.Target}
	if cut, ok := strings.CutPrefix(r.Target, r.Prefix); ok {
		targets = distinct(method+cut, targets[0])
	}
	merchants := []string{fields["v-c-merchant-id"]}
	if _, own := owner.Grant(owner.ID); !own {
		// A portfolio that acts for itself signs its own name for no other merchant.
		merchants = distinct(merchants[0], owner.ID)
	}
	return candidates{hostsOf(r.Host, v.cfg.Hosts), targets, merchants}
}

// count returns the number of candidates.
func (v candidates) count() int { return 2 * len(v.merchants) * len(v.targets) * len(v.hosts) }

// at returns the ith candidate, the likeliest at 0. It makes them one by one, because the first is
// nearly always right.
func (v candidates) at(i int) candidate {
	hosts, targets := len(v.hosts), len(v.targets)
	return candidate{
		host: v.hosts[i%hosts], target: v.targets[i/hosts%targets], merchant: v.merchants[i/hosts/targets%len(v.merchants)],
		earlier: i >= v.count()/2,
	}
}

// hostsOf returns the names of the host that a client may have signed.
func hostsOf(host string, others []string) []string {
	bare := host
	if name, _, err := net.SplitHostPort(host); err == nil {
		bare = name
	}
	return distinct(append([]string{host, bare}, others...)...)
}

// distinct returns the list without empty and repeated entries.
func distinct(list ...string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// search returns the candidate that was signed.
func (s signature) search(among candidates, key []byte, fields map[string]string) (seen candidate, same bool) {
	for i := range among.count() {
		seen = among.at(i)
		content, ok := s.content(seen, fields)
		if !ok {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(content))
		if hmac.Equal(mac.Sum(nil), s.mac) {
			return seen, true
		}
	}
	return candidate{}, false
}

// content returns the signed text of a candidate. It returns false if the date has no form that is
// one second earlier.
func (s signature) content(c candidate, fields map[string]string) (string, bool) {
	var b strings.Builder
	shifted := false
	for i, name := range s.names {
		value := fields[name]
		switch name {
		case "host":
			value = c.host
		case "request-target", "(request-target)":
			value = c.target
		case "v-c-merchant-id":
			value = c.merchant
		case "date", "v-c-date":
			if c.earlier {
				value, shifted = secondBefore(value)
			}
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(name + ": " + value)
	}
	return b.String(), shifted == c.earlier
}
