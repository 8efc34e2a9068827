package enginetest

import (
	"bytes"
	"compress/flate"
	"crypto/ecdh"
	"crypto/rand"
	"math"
	"strings"
	"testing"
)

func algCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	var out []Case
	for _, alg := range []any{
		"none", "dir", "RSA1_5", "RSA-OAEP", "RSA-OAEP-512", "A256KW", "A256GCMKW",
		"PBES2-HS512+A256KW", "ECDH-ES", "ECDH-ES+A128KW", "rsa-oaep-256", "", nil, 5,
	} {
		header := map[string]any{"alg": alg}
		if text, _ := alg.(string); strings.HasPrefix(text, "PBES2") {
			header["p2c"], header["p2s"] = 1<<31, "AAAA"
		}
		out = append(out, failed(1, "alg "+label(alg), Forge{Key: w.EC, Header: header}.Encrypt(tb, plaintext)))
	}
	for _, enc := range []any{"A128GCM", "A192GCM", "A128CBC-HS256", "A256CBC-HS512", "XC20P", "", nil, 5} {
		out = append(out, failed(2, "enc "+label(enc), Forge{Key: w.EC, Header: map[string]any{"enc": enc}}.Encrypt(tb,
			plaintext)))
	}
	out = append(out, failed(2, "A128GCM for real", Forge{
		Key: w.RSA, Header: map[string]any{"enc": "A128GCM"},
		CEK: random(16),
	}.Encrypt(tb, plaintext)))
	swapped := Key{KID: w.RSA.KID, Alg: w.EC.Alg, Private: w.EC.Private}
	back := Key{KID: w.EC.KID, Alg: w.RSA.Alg, Private: w.RSA.Private}
	return append(out,
		failed(3, "ECDH with the kid of an RSA key", Forge{Key: swapped}.Encrypt(tb, plaintext)),
		failed(3, "RSA with the kid of an elliptic key", Forge{Key: back}.Encrypt(tb, plaintext)))
}

// label returns a value as the name of a case.
func label(v any) string {
	switch v := v.(type) {
	case string:
		if v == "" {
			return "empty"
		}
		return v
	case nil:
		return "left out"
	}
	return "a number"
}

func headerCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	with := func(row int, name string, header map[string]any) Case {
		return failed(row, name, Forge{Key: w.EC, Header: header}.Encrypt(tb, plaintext))
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	private := JWK(key.PublicKey())
	private["d"] = encode(key.Bytes())
	bait := "http://127.0.0.1:1/keys"
	return []Case{
		failed(4, "zip", Forge{Key: w.EC, Header: map[string]any{"zip": "DEF"}}.Encrypt(tb, deflated(tb, len(plaintext)))),
		failed(4, "zip, a bomb", Forge{Key: w.EC, Header: map[string]any{"zip": "DEF"}}.Encrypt(tb, deflated(tb, 5<<20))),
		with(4, "zip of another kind", map[string]any{"zip": "GZ"}),
		with(5, "crit", map[string]any{"crit": []string{"exp"}, "exp": 1}),
		with(5, "crit of nothing", map[string]any{"crit": []string{}}),
		with(5, "crit and b64", map[string]any{"crit": []string{"b64"}, "b64": true}),
		with(7, "jku", map[string]any{"jku": bait}),
		with(7, "x5u", map[string]any{"x5u": bait}),
		with(7, "jwk", map[string]any{"jwk": JWK(key.PublicKey())}),
		with(7, "jwk, private", map[string]any{"jwk": private}),
		with(7, "x5c, garbage", map[string]any{"x5c": []string{"AAAA"}}),
		with(7, "x5c, a chain", map[string]any{"x5c": strings.Split(strings.Repeat("AAAA ", 200), " ")}),
		with(7, "x5t", map[string]any{"x5t": "AAAA"}),
		with(7, "nonce", map[string]any{"nonce": "AAAA"}),
		failed(7, "jwk, escaped", Forge{Key: w.EC, Raw: func(h string) string {
			return `{"\u006a\u0077k":{},` + h[1:]
		}}.Encrypt(tb, plaintext)),
		with(0, "typ of a JWT", map[string]any{"typ": "JWT"}),
		with(0, "cty of a JWT", map[string]any{"cty": "JWT"}),
		with(0, "jti, a number", map[string]any{"jti": 1}),
		with(0, "apu that is no base64url", map[string]any{"apu": "a+b="}),
		failed(0, "epk with RSA", Forge{Key: w.RSA, Header: map[string]any{"epk": JWK(key.PublicKey())}}.Encrypt(tb,
			plaintext)),
	}
}

// deflated returns n zero bytes, compressed.
func deflated(tb testing.TB, n int) string {
	tb.Helper()
	var out bytes.Buffer
	packer, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := packer.Write(make([]byte, n)); err != nil {
		tb.Fatal(err)
	}
	if err := packer.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

func jsonCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	raw := func(name string, change func(h string) string) Case {
		return failed(6, name, Forge{Key: w.EC, Raw: change}.Encrypt(tb, plaintext))
	}
	constant := func(text string) func(string) string { return func(string) string { return text } }
	return []Case{
		raw("alg twice", func(h string) string { return `{"alg":"none",` + h[1:] }),
		raw("alg twice, the other way", func(h string) string { return h[:len(h)-1] + `,"alg":"ECDH-ES+A256KW"}` }),
		raw("kid twice", func(h string) string { return `{"kid":"` + w.EC.KID + `",` + h[1:] }),
		raw("kid twice, escaped", func(h string) string { return `{"\u006bid":"` + w.EC.KID + `",` + h[1:] }),
		raw("Alg", func(h string) string { return strings.Replace(h, `"alg"`, `"Alg"`, 1) }),
		raw("KID", func(h string) string { return strings.Replace(h, `"kid"`, `"KID"`, 1) }),
		raw("null", constant("null")),
		raw("a list", constant("[]")),
		raw("a string", constant(`"x"`)),
		raw("nothing", constant("")),
		raw("not JSON", constant(`{"alg"`)),
		raw("two objects", func(h string) string { return h + "{}" }),
		raw("nested deeply", func(h string) string {
			return `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "," + h[1:]
		}),
		raw("nested as deeply as fits", func(h string) string {
			return `{"a":` + strings.Repeat("[", 900) + "," + h[1:]
		}),
		raw("1 MiB", func(h string) string { return `{"a":"` + strings.Repeat("x", 170<<10) + `",` + h[1:] }),
		raw("a byte more than 2 KiB", pad(2<<10+1)),
		passed(6, "2 KiB", sent(Forge{Key: w.EC, Raw: pad(2 << 10)}.Encrypt(tb, plaintext)), plaintext),
		failed(6, "kid, a number", Forge{Key: w.EC, Header: map[string]any{"kid": 5}}.Encrypt(tb, plaintext)),
		raw("a null among it", func(h string) string { return `{"x":null,` + h[1:] }),
		raw("a null that is escaped", func(h string) string { return `{"\u007a\u0069p":null,` + h[1:] }),
		raw("zip, null", func(h string) string { return `{"zip":null,` + h[1:] }),
		raw("crit, null", func(h string) string { return `{"crit": null ,` + h[1:] }),
		raw("iat, null", func(h string) string { return `{"iat":null,` + h[1:] }),
		raw("apu, null", func(h string) string { return `{"apu":null,` + h[1:] }),
		passed(6, "the word null", sent(Forge{
			Key:    w.EC,
			Header: map[string]any{"x": "null", "y": []any{nil, map[string]any{"z": nil}}},
		}.Encrypt(tb, plaintext)), plaintext),
		raw("not UTF-8", func(h string) string { return "{\"x\":\"\xff\"," + h[1:] }),
		raw("half a character", func(h string) string { return "{\"x\":\"\xc3\"," + h[1:] }),
		raw("a surrogate as UTF-8", func(h string) string { return "{\"\xed\xa0\x80\":1," + h[1:] }),
		raw("kid, null", func(h string) string { return strings.Replace(h, `"`+w.EC.KID+`"`, "null", 1) }),
	}
}

// pad returns a function that pads a header to n bytes.
func pad(n int) func(string) string {
	return func(h string) string {
		const more = `,"pad":""}`
		return h[:len(h)-1] + `,"pad":"` + strings.Repeat("x", n-len(h)-len(more)+1) + `"}`
	}
}

func kidCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	unknown := func(name string, k Key) Case {
		c := failed(16, name, Forge{Key: k}.Encrypt(tb, plaintext))
		c.Code = "mle_kid_unknown"
		return c
	}
	odd := func(name, kid string) Case {
		return failed(16, name, Forge{Key: w.EC, Header: map[string]any{"kid": kid}}.Encrypt(tb, plaintext))
	}
	never := w.EC
	never.KID = strings.Repeat("A", 43)
	demanded := sent(Forge{Key: w.EC}.Encrypt(tb, plaintext), Field{"X-SVC-MLE-Response", "required"},
		Field{"X-SVC-MLE-Response-Kid", never.KID})
	return []Case{
		unknown("unknown", never), unknown("retired or revoked", w.Gone), unknown("another merchant's", w.Foreign),
		odd("empty", ""), odd("10 kB", strings.Repeat("A", 10_000)), odd("65 characters", strings.Repeat("A", 65)),
		odd("control characters", "a\x00\n"),
		odd("like a path", "../../etc/passwd"), odd("with a dot", "a.b"),
		failed(16, "left out", Forge{Key: w.EC, Header: map[string]any{"kid": nil}}.Encrypt(tb, plaintext)),
		{Row: 16, Name: "a response key that is not there", Request: demanded, Status: 400, Code: "mle_kid_unknown"},
	}
}

func timeCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	now := Noon.Unix()
	at := func(name string, iat any) Case {
		return failed(17, "iat "+name, Forge{Key: w.EC, Header: map[string]any{"iat": iat}}.Encrypt(tb, plaintext))
	}
	in := func(name string, iat any) Case {
		return passed(17, "iat "+name, sent(Forge{Key: w.EC, Header: map[string]any{"iat": iat}}.Encrypt(tb, plaintext)),
			plaintext)
	}
	bound := func(name, htm, htu string) Case {
		return failed(18, name, Forge{Key: w.EC, Header: map[string]any{"htm": htm, "htu": htu}}.Encrypt(tb, plaintext))
	}
	return []Case{
		in("300 s ago", now-300), in("300 s ahead", now+300), in("left out", nil),
		at("301 s ago", now-301), at("301 s ahead", now+301), at("in milliseconds", now*1000),
		at("in text", "1700000000"), at("1e300", 1e300),
		at("below zero", -1), at("a half", 0.5+float64(now)), at("the least there is", math.MinInt64), at("a list", []int{1}),
		bound("another method", "PUT", Path), bound("another path", "POST", Path+"/x"),
		bound("another host", "POST", "https://example.com"+Path),
		bound("no path", "POST", ""), bound("a query too", "POST", Path+"?limit=1"),
		bound("no method in capitals", "post", Path),
	}
}
