package enginetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

func encodingCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	text := func(row int, name string, change func(string) string) Case {
		return failed(row, name, Forge{Key: w.EC, Text: change}.Encrypt(tb, plaintext))
	}
	parts := func(row int, name string, change func(*[5][]byte)) Case {
		return failed(row, name, Forge{Key: w.EC, Parts: change}.Encrypt(tb, plaintext))
	}
	constant := func(s string) func(string) string { return func(string) string { return s } }
	long := Forge{Key: w.EC}.Encrypt(tb, "12345") // two bits of the last character belong to no byte
	short := Forge{Key: w.EC}.Encrypt(tb, "1234") // here four bits
	return []Case{
		text(8, "a line break in a segment", func(s string) string { return s[:9] + "\r\n" + s[9:] }),
		text(8, "a line break at the end", func(s string) string { return s + "\n" }),
		text(8, "a space ahead", func(s string) string { return " " + s }),
		text(8, "a NUL inside", func(s string) string { return s[:9] + "\x00" + s[10:] }),
		text(8, "padding", func(s string) string { return s + "==" }),
		text(8, "padding in the middle", func(s string) string { return strings.Replace(s, ".", "=.", 1) }),
		text(8, "base64 of the other alphabet", func(s string) string { return segment(s, SegmentCiphertext, "+/+/") }),
		text(8, "a character of no alphabet", func(s string) string { return segment(s, SegmentCiphertext, "AAA!") }),
		failed(8, "stray bits in the ciphertext", stray(long, SegmentCiphertext)),
		failed(8, "stray bits in the ciphertext, of another length", stray(short, SegmentCiphertext)),
		failed(8, "stray bits in the tag", stray(long, SegmentTag)),
		text(8, "a length that no bytes have", func(s string) string { return segment(s, SegmentCiphertext, "AAAAA") }),
		parts(9, "tag of 15", func(p *[5][]byte) { p[SegmentTag] = p[SegmentTag][:15] }),
		parts(9, "tag of 8", func(p *[5][]byte) { p[SegmentTag] = p[SegmentTag][:8] }),
		parts(9, "tag of 4", func(p *[5][]byte) { p[SegmentTag] = p[SegmentTag][:4] }),
		parts(9, "no tag", func(p *[5][]byte) { p[SegmentTag] = nil }),
		parts(9, "tag of 17", func(p *[5][]byte) { p[SegmentTag] = append(p[SegmentTag], 0) }),
		parts(9, "the border moved back", func(p *[5][]byte) {
			p[SegmentCiphertext], p[SegmentTag] = nil, append(p[SegmentCiphertext], p[SegmentTag]...)
		}),
		parts(9, "the border moved on", func(p *[5][]byte) {
			p[SegmentCiphertext], p[SegmentTag] = append(p[SegmentCiphertext], p[SegmentTag][0]), p[SegmentTag][1:]
		}),
		failed(10, "iv of 16", Forge{Key: w.EC, IVSize: 16}.Encrypt(tb, plaintext)),
		failed(10, "iv of 16, RSA", Forge{Key: w.RSA, IVSize: 16}.Encrypt(tb, plaintext)),
		parts(10, "no iv", func(p *[5][]byte) { p[SegmentIV] = nil }),
		text(14, "3 segments", func(s string) string { return strings.Join(strings.Split(s, ".")[:3], ".") }),
		text(14, "4 segments", func(s string) string { return strings.Join(strings.Split(s, ".")[:4], ".") }),
		text(14, "6 segments", func(s string) string { return s + ".AAAA" }),
		text(14, "dots alone", constant("....")),
		text(14, "no body", constant("")),
		text(14, "JSON, flattened", constant(`{"protected":"e30","encrypted_key":"AAAA","iv":"AAAA","ciphertext":"AAAA",`+
			`"tag":"AAAA"}`)),
		text(14, "JSON, 33 recipients",
			constant(`{"protected":"e30","recipients":[`+strings.Repeat(`{"encrypted_key":"AAAA"},`,
				32)+`{}],"ciphertext":"AAAA"}`)),
		text(14, "the plaintext itself", constant(plaintext)),
	}
}

// segment replaces a segment with another text.
func segment(token string, at int, text string) string {
	parts := strings.Split(token, ".")
	parts[at] = text
	return strings.Join(parts, ".")
}

// stray sets the lowest bit of a segment's last character, which belongs to no byte.
func stray(token string, at int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	parts := strings.Split(token, ".")
	last := len(parts[at]) - 1
	value := strings.IndexByte(alphabet, parts[at][last])
	parts[at] = parts[at][:last] + string(alphabet[value|1])
	return strings.Join(parts, ".")
}

func keyCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	ec := func(name string, change func([]byte) []byte) Case {
		return failed(11, name, Forge{
			Key:   w.EC,
			Parts: func(p *[5][]byte) { p[SegmentKey] = change(p[SegmentKey]) },
		}.Encrypt(tb, plaintext))
	}
	rsa := func(name string, change func([]byte) []byte) Case {
		return failed(11, "RSA, "+name, Forge{
			Key:   w.RSA,
			Parts: func(p *[5][]byte) { p[SegmentKey] = change(p[SegmentKey]) },
		}.Encrypt(tb, plaintext))
	}
	return []Case{
		ec("none", func([]byte) []byte { return nil }),
		ec("8 bytes", func(b []byte) []byte { return b[:8] }),
		ec("32 bytes", func(b []byte) []byte { return b[:32] }),
		ec("41 bytes", func(b []byte) []byte { return append(b, 0) }),
		ec("48 bytes", func(b []byte) []byte { return append(b, make([]byte, 8)...) }),
		rsa("none", func([]byte) []byte { return nil }),
		rsa("a byte less", func(b []byte) []byte { return b[1:] }),
		rsa("a byte more", func(b []byte) []byte { return append([]byte{0}, b...) }),
		rsa("of a larger key", func([]byte) []byte { return random(384) }),
		rsa("far too long", func([]byte) []byte { return random(513) }),
		rsa("above the modulus", func(b []byte) []byte { return []byte(strings.Repeat("\xff", len(b))) }),
		rsa("zero", func(b []byte) []byte { return make([]byte, len(b)) }),
	}
}

func cekCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	var out []Case
	for name, cek := range map[string][]byte{
		"16 bytes": random(16), "24 bytes": random(24), "31 bytes": random(31),
		"33 bytes": random(33), "none": {},
	} {
		out = append(out, failed(12, "a content key of "+name, Forge{Key: w.RSA, CEK: cek}.Encrypt(tb, plaintext)))
	}
	return out
}

func epkCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	epk := func(name string, change func(map[string]any)) Case {
		key := JWK(mustEphemeral(tb))
		change(key)
		return failed(13, name, Forge{Key: w.EC, Header: map[string]any{"epk": key}}.Encrypt(tb, plaintext))
	}
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	point, err := large.PublicKey.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	zero := encode(make([]byte, 32))
	return []Case{
		epk("off the curve", func(k map[string]any) { k["y"] = k["x"] }),
		epk("at infinity", func(k map[string]any) { k["x"], k["y"] = zero, zero }),
		epk("beyond the field", func(k map[string]any) { k["x"] = encode([]byte(strings.Repeat("\xff", 32))) }),
		epk("P-384", func(k map[string]any) { k["crv"], k["x"], k["y"] = "P-384", encode(point[1:49]), encode(point[49:]) }),
		epk("P-384 in name", func(k map[string]any) { k["crv"] = "P-384" }),
		epk("private", func(k map[string]any) { k["d"] = zero }),
		epk("private, of nothing", func(k map[string]any) { k["d"] = nil }),
		epk("private, of RSA", func(k map[string]any) { k["p"] = zero }),
		epk("a secret key", func(k map[string]any) { k["k"] = zero }),
		epk("with certificates", func(k map[string]any) { k["x5c"] = []string{"AAAA"} }),
		epk("with certificates elsewhere", func(k map[string]any) { k["x5u"] = "http://127.0.0.1:1/" }),
		epk("with the thumbprint of one", func(k map[string]any) { k["x5t#S256"] = zero }),
		epk("with a name", func(k map[string]any) { k["kid"] = "a" }),
		epk("with a null", func(k map[string]any) { k["alg"] = nil }),
		failed(13, "certificates in it, escaped", Forge{Key: w.EC, Raw: func(h string) string {
			return strings.Replace(h, `"kty"`, `"\u0078\u0035c":["AAAA"],"kty"`, 1)
		}}.Encrypt(tb, plaintext)),
		epk("of another kind", func(k map[string]any) { k["kty"], k["crv"] = "OKP", "X25519" }),
		epk("a short coordinate", func(k map[string]any) { k["x"] = encode(random(31)) }),
		epk("a long coordinate", func(k map[string]any) { k["x"] = encode(random(33)) }),
		epk("a coordinate in another form", func(k map[string]any) {
			k["x"] = k["x"].(string)[:20] + "\n" + k["x"].(string)[20:]
		}),
		epk("numbers", func(k map[string]any) { k["x"] = 5 }),
		epk("empty", func(k map[string]any) { clear(k) }),
		failed(13, "left out", Forge{Key: w.EC, Header: map[string]any{"epk": nil}}.Encrypt(tb, plaintext)),
		failed(13, "a string", Forge{Key: w.EC, Header: map[string]any{"epk": "x"}}.Encrypt(tb, plaintext)),
		failed(13, "the border of its coordinates moved",
			Forge{Key: w.EC, Raw: func(h string) string { return moved(tb, h) }}.Encrypt(tb, plaintext)),
		failed(13, "of another message", Forge{Key: w.EC, Header: map[string]any{"epk": JWK(mustEphemeral(tb))}}.Encrypt(tb,
			plaintext)),
	}
}

// moved moves a byte from x to y. The concatenated point stays the same.
func moved(tb testing.TB, header string) string {
	tb.Helper()
	var h map[string]any
	if err := json.Unmarshal([]byte(header), &h); err != nil {
		tb.Fatal(err)
	}
	epk := h["epk"].(map[string]any)
	var point []byte
	for _, name := range []string{"x", "y"} {
		coordinate, err := base64.RawURLEncoding.DecodeString(epk[name].(string))
		if err != nil {
			tb.Fatal(err)
		}
		point = append(point, coordinate...)
	}
	epk["x"], epk["y"] = encode(point[:31]), encode(point[31:])
	text, err := json.Marshal(h)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func flipCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	var out []Case
	for _, flip := range Flips(tb, w.EC, plaintext) {
		out = append(out, failed(15, flip.Name+", ECDH", flip.Token))
	}
	for _, flip := range Flips(tb, w.RSA, plaintext) {
		out = append(out, failed(15, flip.Name+", RSA", flip.Token))
	}
	return out
}

// Flip is a message whose fault only the private key can detect.
type Flip struct{ Name, Token string }

// Flips returns valid messages with one bit of one segment flipped. In the header it is a bit of an
// ignored member.
func Flips(tb testing.TB, k Key, text string) []Flip {
	tb.Helper()
	forge := Forge{Key: k, Header: map[string]any{"x": "a"}}
	var out []Flip
	for at, name := range []string{"header", "encrypted key", "iv", "ciphertext", "tag"} {
		forge.Parts = func(p *[5][]byte) {
			if at == SegmentHeader {
				p[at] = []byte(strings.Replace(string(p[at]), `"x":"a"`, `"x":"c"`, 1))
				return
			}
			p[at][len(p[at])/2] ^= 2
		}
		out = append(out, Flip{"a bit of the " + name, forge.Encrypt(tb, text)})
	}
	return out
}

func plaintextCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	var out []Case
	for name, text := range map[string]string{
		"not JSON": "amount=1", "not UTF-8": "{\"a\":\"\xff\"}", "a byte order mark": "\ufeff{}", "empty": "",
		"a JWE": Forge{Key: w.EC}.Encrypt(tb, plaintext),
	} {
		out = append(out, passed(24, "the content: "+name, sent(Forge{Key: w.EC}.Encrypt(tb, text)), text))
	}
	return out
}
