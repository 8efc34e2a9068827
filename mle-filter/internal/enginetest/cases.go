package enginetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plaintext is the plaintext of most cases.
const plaintext = `{"amount":1000,"currency":"usd","payment_method":"card"}`

// unseen are header fields that core never receives with a decrypted request.
var unseen = []string{
	"X-SVC-MLE", "X-SVC-MLE-Response", "X-SVC-MLE-Response-Kid", "Accept-Encoding", "Range", "If-None-Match",
	"Content-Digest",
}

// Cases returns all cases.
func Cases(tb testing.TB, w *World) []Case {
	tb.Helper()
	all := slices.Concat(
		honestCases(tb, w), responseCases(tb, w), algCases(tb, w), headerCases(tb, w), jsonCases(tb, w),
		encodingCases(tb, w), keyCases(tb, w),
		cekCases(tb, w), epkCases(tb, w), flipCases(tb, w), kidCases(tb, w), timeCases(tb, w),
		fieldCases(tb, w), sizeCases(tb, w),
		plaintextCases(tb, w), policyCases(tb, w), bindingCases(tb, w), derivedCases(tb, w),
		legacyCases(tb, w),
	)
	names := map[string]bool{}
	for i := range all {
		if all[i].Row > 0 {
			all[i].Name = strconv.Itoa(all[i].Row) + "/" + all[i].Name
		}
		if names[all[i].Name] {
			tb.Fatalf("two cases have the name %s", all[i].Name)
		}
		names[all[i].Name] = true
	}
	return all
}

// sent returns a request with an encrypted body.
func sent(body string, more ...Field) Request {
	return Request{Method: "POST", Path: Path, Body: body, Fields: append([]Field{
		{"Content-Type", "application/jose"}, {"X-SVC-MLE", "v1"},
	}, more...)}
}

// failed returns a case whose body cannot be decrypted.
func failed(row int, name, body string) Case {
	return Case{Row: row, Name: name, Request: sent(body), Status: 400, Code: "mle_decrypt_failed"}
}

// passed returns a case whose body reaches core.
func passed(row int, name string, r Request, core string) Case {
	return Case{Row: row, Name: name, Request: r, Core: core, HasNot: unseen, Has: []Field{
		{"Content-Type", "application/json"}, {"Content-Length", strconv.Itoa(len(core))},
	}}
}

func honestCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	seen := func(k Key, more string) Field {
		return Field{"X-Svc-Int-Mle", "v1;kid=" + k.KID + ";merchant=" + Merchant + more}
	}
	least := passed(0, "the smallest header", sent(Forge{Key: w.EC}.Encrypt(tb, plaintext),
		Field{"Idempotency-Key", "a"}), plaintext)
	least.Has = append(least.Has, seen(w.EC, ""), Field{"Idempotency-Key", "a"})
	rsa := passed(0, "RSA", sent(Forge{Key: w.RSA}.Encrypt(tb, plaintext)), plaintext)
	rsa.Has = append(rsa.Has, seen(w.RSA, ""))
	full := map[string]any{
		"typ": "JOSE", "cty": "application/json", "iat": Noon.Unix(), "jti": "one", "htm": "POST", "htu": Path,
		"extra": map[string]any{"a": []int{1}},
	}
	both := passed(0, "both ways", sent(Forge{Key: w.EC, Header: full}.Encrypt(tb, plaintext),
		Field{"X-SVC-MLE-Response", "required"}, Field{"Accept-Encoding", "gzip"},
		Field{"Content-Digest", "sha-256=:AA==:"}), plaintext)
	both.Wrapped, both.CTY = &w.ResponseKey, "application/json"
	both.Has = append(both.Has, seen(w.EC, ";response=required"))
	older := passed(0, "to the demanded key",
		sent(Forge{Key: w.RSA}.Encrypt(tb, plaintext), Field{"X-SVC-MLE-Response", "required"},
			Field{"X-SVC-MLE-Response-Kid", w.Older.KID}), plaintext)
	older.Wrapped, older.CTY = &w.Older, "application/json"
	chunked := passed(0, "no length", sent(Forge{Key: w.EC}.Encrypt(tb, plaintext)), plaintext)
	chunked.Request.NoLength = true
	chunked.Has = chunked.Has[:1] // Envoy forwards it without a length
	escaped := func(header string) string {
		return strings.Replace(header, `"enc"`, `"cty":"application\/json","\u0065nc"`, 1)
	}
	clear := []Field{{"Content-Type", "application/json"}, {"Accept-Encoding", "gzip"}}
	parameters := sent(Forge{Key: w.EC, Header: map[string]any{"typ": "jose", "cty": "JSON"}}.Encrypt(tb, plaintext))
	parameters.Fields[0].Value = "Application/JOSE; charset=utf-8"
	return []Case{
		least, rsa, both, older, chunked, passed(0, "other spellings", parameters, plaintext),
		passed(0, "escapes in the header", sent(Forge{Key: w.EC, Raw: escaped}.Encrypt(tb, plaintext)), plaintext),
		{Name: "nothing encrypted", Request: Request{
			Method: "POST", Path: Path, Body: plaintext, Fields: clear,
		}, Core: plaintext, Has: clear, HasNot: []string{"X-Svc-Int-Mle"}},
		{Name: "only the response", Request: Request{
			Method: "GET", Path: Path, Fields: []Field{
				{"X-SVC-MLE", "v1"},
				{"X-SVC-MLE-Response", "required"},
				{"If-None-Match", `"a"`},
				{"Range", "bytes=0-1"},
			},
		}, HasNot: unseen, Has: []Field{{
			"X-Svc-Int-Mle",
			"v1;merchant=" + Merchant + ";response=required",
		}}, Wrapped: &w.ResponseKey, CTY: "application/json"},
	}
}

// responseCases are row 28 of the list: core's responses to a client that demands encryption.
func responseCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	responds := func(name string, core Response) Case {
		return Case{Row: 28, Name: name, Request: Request{
			Method: "GET", Path: Path,
			Fields: []Field{{"X-SVC-MLE-Response", "required"}},
		}, Response: core}
	}
	wrapped := func(name string, core Response, cty string) Case {
		c := responds(name, core)
		c.Wrapped, c.CTY = &w.ResponseKey, cty
		return c
	}
	broken := func(name string, core Response) Case {
		c := responds(name, core)
		c.Status, c.Code, c.AfterCore = 500, "internal_error", true
		return c
	}
	text := Field{"Content-Type", "application/json"}
	describing := []Field{
		{"ETag", `"a"`},
		{"Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT"},
		{"Content-MD5", "AA=="},
		{"Digest", "sha-256=AA=="},
		{"Content-Digest", "sha-256=:AA==:"},
		{"Repr-Digest", "sha-256=:AA==:"},
		{"Accept-Ranges", "bytes"},
		{"Content-Language", "en"},
		{"Content-Location", "/v1/customers?email=a@example.com"},
		{"Content-Disposition", `attachment; filename="a"`},
		{"Link", `</v1/customers?email=a@example.com>; rel="next"`},
		{"Set-Cookie", "a=b"},
		{"Signature", "sig=:AA==:"},
		{"Signature-Input", `sig=("content-digest")`},
		{"X-Svc-Int-Mle", "v1"},
		{"X-SVC-INT-Note", "a"},
	}
	described := func(c Case, more ...Field) Case {
		c.Response.Fields = slices.Concat(c.Response.Fields, describing, more)
		for _, f := range slices.Concat(describing, more) {
			c.Gone = append(c.Gone, f.Name)
		}
		return c
	}
	head := responds("HEAD", Response{Status: 200, Fields: []Field{text}})
	head.Request.Method = "HEAD"
	describedHead := described(head, Field{"Content-Length", "2"})
	describedHead.Name = "HEAD, with fields about its body"
	return []Case{
		described(wrapped("every field about its body", Response{200, []Field{text}, "{}"}, "application/json")),
		described(responds("304, with fields about its body", Response{Status: 304})),
		described(responds("204, with fields about its body", Response{Status: 204})),
		describedHead,
		wrapped("validators", Response{200, []Field{
			text,
			{"ETag", `"a"`},
			{"Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT"},
			{"Accept-Ranges", "bytes"},
			{"Content-Digest", "sha-256=:AA==:"},
			{"Cache-Control", "max-age=60"},
			{"Vary", "Authorization"},
			{"Content-Encoding", "identity"},
		}, "{}"}, "application/json"),
		wrapped("an error of core's", Response{402, []Field{text}, `{"error":{"code":"card_declined"}}`}, "application/json"),
		wrapped("a fault of core's", Response{500, []Field{text}, `{"error":{"code":"internal_error"}}`}, "application/json"),
		wrapped("another type", Response{200, []Field{{"Content-Type", "text/plain; charset=utf-8"}}, "text"}, "text/plain"),
		wrapped("as large as it may be", Response{200, []Field{text}, strings.Repeat("x", 1<<20)}, "application/json"),
		broken("too large", Response{200, []Field{text}, strings.Repeat("x", 1<<20+1)}),
		broken("packed", Response{200, []Field{text, {"Content-Encoding", "gzip"}}, "\x1f\x8b"}),
		broken("a stream", Response{200, []Field{{"Content-Type", "text/event-stream"}}, "data: 1\n\n"}),
		responds("204", Response{Status: 204}),
		responds("304", Response{Status: 304}),
		head,
	}
}

// policyCases returns the parts of rows 19 and 21 about routes and merchants.
func policyCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	encrypted := Forge{Key: w.EC}.Encrypt(tb, plaintext)
	text := Field{"Content-Type", "application/json"}
	refused := func(row int, name, code string, r Request) Case {
		return Case{Row: row, Name: name, Request: r, Status: 400, Code: code}
	}
	on := func(path, method string, fields []Field, body string) Request {
		return Request{Method: method, Path: path, Fields: fields, Body: body}
	}
	taken := sent(encrypted)
	taken.Path = PathRequired
	strict := sent(encrypted, Field{"X-SVC-MLE-Response", "required"})
	strict.Path, strict.Caller = PathStrictForOne, Strict
	other := on(PathStrictForOne, "POST", []Field{text, secretKey}, plaintext)
	strictPlain := other
	strictPlain.Caller = Strict
	emptyKey := strictPlain
	emptyKey.Fields = []Field{text, {"Authorization", ""}}
	noKey := strictPlain // no field names the merchant
	noKey.Fields = []Field{text}
	script := noKey
	script.Method, script.Path, script.Body = "GET", "/v1/js/causeway-1.js", ""
	half := strict
	half.Fields = half.Fields[:2]
	off := sent(encrypted)
	off.Path = PathOff
	return []Case{
		refused(19, "a body in the clear on a required route", "mle_required",
			on(PathRequired, "POST", []Field{text}, plaintext)),
		refused(19, "no body on a required route", "mle_required", on(PathRequired, "POST", nil, "")),
		refused(19, "a required route spelt otherwise", "mle_required",
			on("//v1/x/..%2ftokens/", "POST", []Field{text}, plaintext)),
		refused(19, "an encrypted body on a route that is off", "mle_not_supported", off),
		refused(19, "a response demanded on a route that is off", "mle_not_supported",
			on(PathOff, "GET", []Field{{"X-SVC-MLE-Response", "required"}}, "")),
		refused(21, "no response demanded where one is required", "mle_required", on(PathResponse, "GET", nil, "")),
		refused(21, "no response demanded by a strict merchant", "mle_required", half),
		refused(21, "a body in the clear from a strict merchant", "mle_required", strictPlain),
		refused(21, "an empty Authorization field", "mle_required", emptyKey),
		passed(19, "an encrypted body on a required route", taken, plaintext),
		{Name: "a required route read", Request: on(PathRequired, "GET", nil, "")},
		{
			Name: "a route that is off", Request: on(PathOff, "GET", []Field{{"X-SVC-INT-MLE", "v1"}}, ""),
			HasNot: []string{"X-Svc-Int-Mle"},
		},
		{Name: "a merchant like any other", Request: other, Core: plaintext},
		{Name: "no API key, while a merchant is strict", Request: noKey, Core: plaintext},
		{Name: "a route without API keys, while a merchant is strict", Request: script},
	}
}
