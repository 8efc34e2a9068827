package enginetest

import (
	"crypto/ecdh"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
)

func mustEphemeral(tb testing.TB) *ecdh.PublicKey {
	tb.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key.PublicKey()
}

func fieldCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	encrypted := Forge{Key: w.EC}.Encrypt(tb, plaintext)
	with := func(row int, name string, status int, code string, fields ...Field) Case {
		return Case{
			Row: row, Name: name, Request: Request{Method: "POST", Path: Path, Body: encrypted, Fields: fields},
			Status: status, Code: code,
		}
	}
	media := func(name string, fields ...Field) Case {
		return with(19, name, 415, "unsupported_media_type", fields...)
	}
	jose, text, v1 := Field{"Content-Type", "application/jose"}, Field{"Content-Type", "application/json"},
		Field{"X-SVC-MLE", "v1"}
	wants := Field{"X-SVC-MLE-Response", "required"}
	kid := Field{"X-SVC-MLE-Response-Kid", w.ResponseKey.KID}
	stripped := passed(20, "a client's own internal field",
		sent(encrypted, Field{"X-SVC-INT-MLE", "v1;merchant=" + Other}), plaintext)
	stripped.Has = append(stripped.Has, Field{"X-Svc-Int-Mle", "v1;kid=" + w.EC.KID + ";merchant=" + Merchant})
	clear := Request{
		Method: "POST", Path: Path, Body: plaintext,
		Fields: []Field{text, {"x-svc-int-mle", "v1"}, {"X-Svc-Int-Mle", "v1"}},
	}
	inside := []Field{
		{"X-SVC-INT-Proof", "guessed"},
		{"x-svc-int-merchant", Other},
		{"X-Svc-Int-", "a"},
		{"X-Svc-Int-Asks", "guessed"},
		{"x-SVC-int-mle-more", "a"},
	}
	hidden := func(c Case) Case {
		c.Row, c.Request.Fields = 20, slices.Concat(c.Request.Fields, inside)
		for _, f := range inside {
			c.HasNot = append(slices.Clone(c.HasNot), f.Name)
		}
		return c
	}
	response := Request{Method: "GET", Path: Path, Fields: []Field{wants}}
	return []Case{
		hidden(passed(20, "internal fields of any name", sent(encrypted), plaintext)),
		hidden(Case{
			Name:    "internal fields of any name in the clear",
			Request: Request{Method: "POST", Path: Path, Body: plaintext, Fields: []Field{text}}, Core: plaintext,
		}),
		hidden(Case{
			Name: "internal fields of any name, for a response", Request: response, Wrapped: &w.ResponseKey,
			CTY: "application/json",
		}),
		hidden(Case{
			Name:    "internal fields of any name on a route that is off",
			Request: Request{Method: "GET", Path: PathOff},
		}),
		media("another version", jose, Field{"X-SVC-MLE", "v2"}),
		media("the version in capitals", jose, Field{"X-SVC-MLE", "V1"}),
		media("an empty version", jose, Field{"X-SVC-MLE", ""}),
		media("the version twice", jose, v1, v1),
		media("the version twice in one field", jose, Field{"X-SVC-MLE", "v1,v1"}),
		media("the type without the version", jose),
		media("the version without the type", text, v1),
		media("the version without any type", v1),
		media("an unsupported version in the clear", text, Field{"X-SVC-MLE", "v2"}),
		media("two types", jose, text, v1),
		media("two types, the other way", text, jose, v1),
		media("two types without the version", text, jose),
		with(23, "packed", 415, "unsupported_media_type", jose, v1, Field{"Content-Encoding", "gzip"}),
		with(23, "packed by nothing", 415, "unsupported_media_type", jose, v1, Field{"Content-Encoding", "identity"}),
		with(21, "a response demanded with an unsupported word", 400, "invalid_value", jose, v1,
			Field{"X-SVC-MLE-Response", "optional"}),
		with(21, "a response demanded twice", 400, "invalid_value", jose, v1, wants, wants),
		with(21, "a response key, but no response demanded", 400, "invalid_value", jose, v1, kid),
		with(21, "a response demanded for a key without an id", 400, "invalid_value", jose, v1, wants,
			Field{"X-SVC-MLE-Response-Kid", ""}),
		media("a parameter that is cut off", Field{"Content-Type", `application/jose;charset="`}, v1),
		media("a parameter without a value", Field{"Content-Type", "application/jose; charset"}, v1),
		media("a parameter twice", Field{"Content-Type", "application/jose; a=b; a=c"}, v1),
		{
			Row: 19, Name: "the version alone, without encryption", Request: Request{
				Method: "GET", Path: Path,
				Fields: []Field{v1},
			},
			Status: 415, Code: "unsupported_media_type",
		},
		with(21, "a response demanded for two keys", 400, "invalid_value", jose, v1, wants, kid, kid),
		stripped,
		{
			Row: 20, Name: "a client's own internal field in the clear", Request: clear, Core: plaintext,
			HasNot: []string{"X-Svc-Int-Mle"},
		},
	}
}

// sizeCases are row 23, without the faults that net/http rejects, such as a wrong Content-Length.
func sizeCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	const limit = MaxBody
	large := func(name, body string, noLength bool) Case {
		c := Case{Row: 23, Name: name, Request: sent(body), Status: 413, Code: "body_too_large"}
		c.Request.NoLength = noLength
		return c
	}
	over := strings.Repeat("A", limit+1)
	// Three more bytes in the header make the message four bytes longer, so one of these has the
	// exact length.
	padded := func(n int) Forge { return Forge{Key: w.EC, Header: map[string]any{"x": strings.Repeat("x", n)}} }
	text := strings.Repeat(" ", (limit-1500)/4*3)
	var exact string
	for n := (limit - len(padded(0).Encrypt(tb, text)) - 4) / 4 * 3; len(exact) < limit; n++ {
		exact = padded(n).Encrypt(tb, text)
	}
	if len(exact) != limit {
		tb.Fatalf("got a message of %[2]d bytes, want %[1]d", limit, len(exact))
	}
	return []Case{
		passed(23, "as large as it may be", sent(exact), text),
		large("a byte more", over, false),
		large("a byte more, of no length", over, true),
	}
}
