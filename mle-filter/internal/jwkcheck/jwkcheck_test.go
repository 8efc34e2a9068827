package jwkcheck_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwkcheck"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
)

type member map[string]any

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// with returns the members with one replaced; nil removes it.
func (m member) with(name string, value any) member {
	out := member{}
	for k, v := range m {
		out[k] = v
	}
	out[name] = value
	if value == nil {
		delete(out, name)
	}
	return out
}

func (m member) text(tb testing.TB) string {
	tb.Helper()
	b, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func ecKey(tb testing.TB) member {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	return member{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}
}

// rsaKey returns a JWK with a modulus of two primes. The test needs no private key.
func rsaKey(tb testing.TB, bits int) member {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		tb.Fatal(err)
	}
	return member{"kty": "RSA", "n": b64(key.N.Bytes()), "e": "AQAB"}
}

func number(m member, add int64) string {
	b, _ := base64.RawURLEncoding.DecodeString(m["n"].(string))
	n := new(big.Int).SetBytes(b)
	return b64(n.Add(n, big.NewInt(add)).Bytes())
}

// stray returns base64url of 32 bytes with one of the two unused bits set.
func stray(text string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(text) - 1
	return text[:last] + string(alphabet[strings.IndexByte(alphabet, text[last])|1])
}

func TestTaken(t *testing.T) {
	t.Parallel()
	ec, r := ecKey(t), rsaKey(t, 2048)
	for name, c := range map[string]struct {
		text string
		alg  engine.Alg
	}{
		"EC": {ec.text(t), engine.ECDHESA256KW},
		"EC, full": {ec.with("use", "enc").with("alg", "ECDH-ES+A256KW").with("key_ops", []string{"deriveKey"}).with("ext",
			true).text(t), engine.ECDHESA256KW},
		"EC, no op": {ec.with("key_ops", []string{}).text(t), engine.ECDHESA256KW},
		"RSA":       {r.text(t), engine.RSAOAEP256},
		"RSA, full": {r.with("use", "enc").with("alg", "RSA-OAEP-256").with("key_ops",
			[]string{"encrypt", "wrapKey"}).text(t), engine.RSAOAEP256},
		"RSA, e 3":   {r.with("e", "Aw").text(t), engine.RSAOAEP256},
		"RSA, e max": {r.with("e", b64([]byte{0x7f, 0xff, 0xff, 0xff})).text(t), engine.RSAOAEP256},
		"RSA, 4096":  {big4096, engine.RSAOAEP256},
	} {
		jwk, alg, err := jwkcheck.Parse([]byte(c.text), keyring.Thumbprint)
		if err != nil || alg != c.alg || jwk.Algorithm != string(alg) || jwk.Use != "enc" || len(jwk.KeyID) != 43 ||
			!jwk.IsPublic() {
			t.Errorf("%s: got %+v, %s, %v", name, jwk, alg, err)
			continue
		}
		named := strings.TrimSuffix(c.text, "}") + `,"kid":"` + jwk.KeyID + `"}`
		if _, _, err := jwkcheck.Parse([]byte(named), keyring.Thumbprint); err != nil {
			t.Errorf("%s, with its kid: %v", name, err)
		}
	}
}

// big4096 is an RSA key of 4096 bits, the largest accepted.
var big4096 = `{"kty":"RSA","e":"AQAB","n":"` + b64(modulus(4096).Bytes()) + `"}`

// modulus returns a number that looks like a modulus of that many bits: odd and without small
// factors.
func modulus(bits uint) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), bits-1)
	for n.Add(n, big.NewInt(1)); smallFactor(n); {
		n.Add(n, big.NewInt(2))
	}
	return n
}

func smallFactor(n *big.Int) bool {
	for p := int64(3); p < 2000; p += 2 {
		if new(big.Int).Mod(n, big.NewInt(p)).Sign() == 0 {
			return true
		}
	}
	return false
}

func TestRefused(t *testing.T) {
	t.Parallel()
	ec, r := ecKey(t), rsaKey(t, 2048)
	x := ec["x"].(string)
	for name, c := range map[string]struct{ text, member string }{
		"EC private":       {ec.with("d", x).text(t), "d"},
		"RSA private":      {r.with("d", "AQ").text(t), "d"},
		"RSA prime":        {r.with("p", "AQ").text(t), "p"},
		"RSA more primes":  {r.with("oth", []any{}).text(t), "oth"},
		"RSA crt":          {r.with("qi", "AQ").text(t), "qi"},
		"secret in EC":     {ec.with("k", "AQ").text(t), "k"},
		"oct":              {`{"kty":"oct"}`, "kty"},
		"OKP":              {`{"kty":"OKP","crv":"X25519","x":"` + x + `"}`, "kty"},
		"no kty":           {ec.with("kty", nil).text(t), "kty"},
		"P-384":            {ec.with("crv", "P-384").text(t), "crv"},
		"off the curve":    {ec.with("y", x).text(t), "x"},
		"infinity":         {ec.with("x", b64(make([]byte, 32))).with("y", b64(make([]byte, 32))).text(t), "x"},
		"short x":          {ec.with("x", x[:20]).text(t), "x"},
		"no y":             {ec.with("y", nil).text(t), "x"},
		"EC and RSA":       {ec.with("n", "AQ").text(t), "kty"},
		"RSA and EC":       {r.with("crv", "P-256").text(t), "kty"},
		"for signatures":   {ec.with("use", "sig").text(t), "use"},
		"empty use":        {ec.with("use", "").text(t), "use"},
		"to decrypt":       {r.with("key_ops", []string{"decrypt"}).text(t), "key_ops"},
		"to verify":        {r.with("key_ops", []string{"encrypt", "verify"}).text(t), "key_ops"},
		"alg of RSA":       {ec.with("alg", "RSA-OAEP-256").text(t), "alg"},
		"alg of EC":        {r.with("alg", "ECDH-ES+A256KW").text(t), "alg"},
		"alg SHA-1":        {r.with("alg", "RSA-OAEP").text(t), "alg"},
		"another kid":      {ec.with("kid", "mine").text(t), "kid"},
		"certificates":     {ec.with("x5c", []string{}).text(t), "x5c"},
		"fetched":          {ec.with("x5u", "http://localhost").text(t), "x5u"},
		"unknown":          {ec.with("iat", 1).text(t), "iat"},
		"other case":       {ec.with("D", x).text(t), "D"},
		"2047 bits":        {r.with("n", b64(modulus(2047).Bytes())).text(t), "n"},
		"4097 bits":        {r.with("n", b64(modulus(4097).Bytes())).text(t), "n"},
		"e 1":              {r.with("e", "AQ").text(t), "e"},
		"RSA without e":    {r.with("e", nil).text(t), "e"},
		"e 0":              {r.with("e", "AA").text(t), "e"},
		"e empty":          {r.with("e", "").text(t), "e"},
		"e 2":              {r.with("e", "Ag").text(t), "e"},
		"e 65536":          {r.with("e", "AQAA").text(t), "e"},
		"even modulus":     {r.with("n", number(r, 1)).text(t), "n"},
		"small factor":     {r.with("n", b64(new(big.Int).Mul(modulus(2040), big.NewInt(1997)).Bytes())).text(t), "n"},
		"ROCA":             {r.with("n", b64(roca(t).Bytes())).text(t), "n"},
		"padding":          {r.with("e", "AQAB==").text(t), "e"},
		"padding in x":     {ec.with("x", x+"=").text(t), "x"},
		"a break in x":     {ec.with("x", x[:20]+"\n"+x[20:]).text(t), "x"},
		"a break behind y": {ec.with("y", ec["y"].(string)+"\r\n").text(t), "y"},
		"a space in x":     {ec.with("x", x[:20]+" "+x[20:]).text(t), "x"},
		"a break in n":     {r.with("n", "\n"+r["n"].(string)).text(t), "n"},
		"a break in e":     {r.with("e", "AQ\r\nAB").text(t), "e"},
		"a tab in e":       {r.with("e", "AQ\tAB").text(t), "e"},
		"stray bits in x":  {ec.with("x", stray(x)).text(t), "x"},
		"the other base64": {ec.with("x", "+/"+x[2:]).text(t), "x"},
		"x with zeros":     {ec.with("x", "AAAA"+x).text(t), "x"},
		"n with a zero":    {r.with("n", "AAAA"+r["n"].(string)).text(t), "n"},
		"e with a zero":    {r.with("e", b64([]byte{0, 1, 0, 1})).text(t), "e"},
		"n of zero":        {r.with("n", "AA").text(t), "n"},
		"wrong type":       {ec.with("alg", 1).text(t), "alg"},
		"no boolean":       {ec.with("ext", "true").text(t), "ext"},
		"twice":            {`{"kty":"EC","kty":"EC"}`, ""},
		"array":            {`[]`, ""},
		"null":             {`null`, ""},
		"nothing":          {``, ""},
		"cut off":          {`{"kty":"EC"`, ""},
		"long":             {ec.with("kid", strings.Repeat("k", 8<<10)).text(t), ""},
		"nothing in it":    {`{}`, "kty"},
		"RSA without n":    {`{"kty":"RSA","e":"AQAB"}`, "n"},
		"RSA huge e":       {r.with("e", b64(bytes.Repeat([]byte{0xff}, 9))).text(t), "e"},
		"RSA e 2^31+1":     {r.with("e", b64([]byte{0x80, 0, 0, 1})).text(t), "e"},
		"RSA e cut to F4":  {r.with("e", b64([]byte{1, 0, 0, 0, 0, 0, 1, 0, 1})).text(t), "e"}, // its low 64 bits are 65537
		"private among it": {`{"d":"AQ",` + ec.text(t)[1:], "d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := jwkcheck.Parse([]byte(c.text), keyring.Thumbprint)
			var e *jwkcheck.MemberError
			if !errors.As(err, &e) || e.Member != c.member || e.Message == "" {
				t.Errorf("got %v, want a refusal of %q", err, c.member)
			}
		})
	}
}

// roca makes a modulus as the vulnerable chips did: p = k·M + (65537^a mod M), M the product of the
// first primes.
func roca(tb testing.TB) *big.Int {
	tb.Helper()
	m := big.NewInt(1)
	for p := int64(2); p <= 167; p++ {
		if big.NewInt(p).ProbablyPrime(10) {
			m.Mul(m, big.NewInt(p))
		}
	}
	prime := func() *big.Int {
		for {
			k, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(1040-m.BitLen())))
			if err != nil {
				tb.Fatal(err)
			}
			k.SetBit(k, 1039-m.BitLen(), 1)
			a, err := rand.Int(rand.Reader, m)
			if err != nil {
				tb.Fatal(err)
			}
			p := new(big.Int).Exp(big.NewInt(65537), a, m)
			if p.Add(p, k.Mul(k, m)); p.ProbablyPrime(10) {
				return p
			}
		}
	}
	return new(big.Int).Mul(prime(), prime())
}

// TestWycheproof checks that no key of the vectors is accepted, because none is for encryption. The
// faulty keys must be rejected even without a stated purpose.
func TestWycheproof(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("testdata", "json_web_key_test.json"))
	if err != nil {
		t.Fatal(err)
	}
	type set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	var file struct {
		Groups []struct {
			Private, Public set
			Tests           []struct {
				ID      int `json:"tcId"`
				Comment string
			}
		} `json:"testGroups"`
	}
	if err := json.Unmarshal(b, &file, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	// ROCA, 1024 bits, e = 1, changed x/y, crv, kty
	faulty := map[int]bool{7: true, 8: true, 9: true, 22: true, 23: true, 24: true}
	seen := 0
	for _, g := range file.Groups {
		for _, c := range g.Tests {
			seen++
			for _, key := range append(g.Public.Keys, g.Private.Keys...) {
				if _, _, err := jwkcheck.Parse(key, keyring.Thumbprint); err == nil {
					t.Errorf("%d %s: taken", c.ID, c.Comment)
				}
			}
			for _, key := range g.Public.Keys {
				var m member
				if err := json.Unmarshal(key, &m); err != nil {
					t.Fatal(err)
				}
				bare := m.with("use", nil).with("alg", nil).with("kid", nil)
				_, _, err := jwkcheck.Parse([]byte(bare.text(t)), keyring.Thumbprint)
				if faulty[c.ID] != (err != nil) {
					t.Errorf("%d %s, bare: got %v", c.ID, c.Comment, err)
				}
			}
		}
	}
	if seen != 26 {
		t.Errorf("got %d vectors, want 26", seen)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(ecKey(f).text(f)))
	f.Add([]byte(big4096))
	f.Add([]byte(`{"kty":"EC","crv":"P-256","x":"","y":"","d":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		jwk, alg, err := jwkcheck.Parse(text, keyring.Thumbprint)
		if err != nil {
			var e *jwkcheck.MemberError
			if !errors.As(err, &e) {
				t.Errorf("got %v, want a MemberError", err)
			}
			return
		}
		again, err := jwk.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := jwkcheck.Parse(again, keyring.Thumbprint)
		if err != nil || back.KeyID != jwk.KeyID || !jwk.IsPublic() {
			t.Errorf("%s: %v", again, err)
		}
		to := jose.Recipient{Algorithm: jose.KeyAlgorithm(alg), Key: jwk.Key}
		e, err := jose.NewEncrypter(jose.A256GCM, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Encrypt([]byte("x")); err != nil {
			t.Error(err)
		}
	})
}
