package enginetest

import (
	"strconv"
	"testing"
)

// RowLegacy is the row of the abuse list about the endpoints of compat-proxy.
const RowLegacy = 33

// The endpoints of compat-proxy, and the providers' own paths.
const (
	pathA     = "/compat/provider-a/xml"
	pathOwnA  = "/xml/v1/request.api"
	pathB     = "/compat/provider-b/pts/v2/payments"
	pathOwnB  = "/pts/v2/payments"
	pathRPC   = "/compat/rpc"
	legacyXML = `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"/>`
)

// secretKey is the API key of a legacy client.
var secretKey = Field{"Authorization", "Bearer sk_test_1"}

// legacy returns an encrypted request to a path. An empty cty is omitted.
func legacy(tb testing.TB, w *World, path, cty, body string, fields ...Field) Request {
	tb.Helper()
	header := map[string]any{}
	if cty != "" {
		header["cty"] = cty
	}
	r := sent(Forge{Key: w.EC, Header: header}.Encrypt(tb, body), fields...)
	r.Path = path
	return r
}

// legacyCases are row 33 and its honest clients.
func legacyCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	return append(legacyHonest(tb, w), legacyRefused(tb, w)...)
}

func legacyHonest(tb testing.TB, w *World) []Case {
	tb.Helper()
	passes := func(name, path, cty, body, contentType string) Case {
		return Case{
			Name: "legacy: " + name, Request: legacy(tb, w, path, cty, body, secretKey), Core: body,
			HasNot: append([]string{"X-Svc-Int-Proof"}, unseen...),
			Has: []Field{
				{"Content-Type", contentType}, {"Content-Length", strconv.Itoa(len(body))}, secretKey,
			},
		}
	}
	encrypted := passes("an encrypted response", pathB, "json", plaintext, "application/json")
	encrypted.Request.Fields = append(encrypted.Request.Fields, demand)
	encrypted.Response = Response{201, []Field{{"Content-Type", "application/hal+json;charset=utf-8"}}, `{"id":"1"}`}
	encrypted.Wrapped, encrypted.CTY = &w.ResponseKey, "application/hal+json"
	inXML := passes("an encrypted response in XML", pathA, "text/xml", legacyXML, "text/xml")
	inXML.Request.Fields = append(inXML.Request.Fields, demand)
	inXML.Response = Response{200, []Field{{"Content-Type", "application/xml; charset=utf-8"}}, "<r/>"}
	inXML.Wrapped, inXML.CTY = &w.ResponseKey, "application/xml"
	clear := []Field{{"Content-Type", "text/xml"}, {"X-Svc-Int-Mle", "v1"}}
	return []Case{
		encrypted, inXML,
		passes("XML", pathA, "application/xml", legacyXML, "application/xml"),
		passes("XML without its prefix", pathA, "xml", legacyXML, "application/xml"),
		passes("XML as text", pathOwnA, "Text/XML; charset=UTF-8", legacyXML, "text/xml"),
		passes("JSON of provider-a", pathOwnA, "json", "{}", "application/json"),
		passes("a slash at the end", pathOwnA+"/", "json", "{}", "application/json"),
		passes("JSON of provider-b", pathOwnB, "application/json", plaintext, "application/json"),
		passes("another family of provider-b", "/risk/v1/decisions", "", plaintext, "application/json"),
		passes("provider-b without cty", pathB, "", plaintext, "application/json"),
		passes("JSON-RPC", pathRPC, "", "[]", "application/json"),
		passes("an escape in the path", "/compat/%70rovider-a/xml", "xml", legacyXML, "application/xml"),
		{Name: "legacy: a login of the provider in the clear", Request: Request{
			Method: "POST", Path: pathA, Body: legacyXML, Fields: clear, Caller: Strict,
		}, Core: legacyXML, Has: clear[:1], HasNot: []string{"X-Svc-Int-Mle"}},
		{Name: "legacy: an API key in the clear", Request: Request{
			Method: "POST", Path: pathB, Body: plaintext, Fields: []Field{secretKey},
		}, Core: plaintext},
	}
}

func legacyRefused(tb testing.TB, w *World) []Case {
	tb.Helper()
	login := func(name string, fields ...Field) Case {
		r := legacy(tb, w, pathB, "json", plaintext, fields...)
		return Case{Row: RowLegacy, Name: "login: " + name, Request: r, Status: 400, Code: "mle_not_supported"}
	}
	cty := func(name, path, cty string) Case {
		r := legacy(tb, w, path, cty, plaintext, secretKey)
		return Case{Row: RowLegacy, Name: "cty: " + name, Request: r, Status: 400, Code: "mle_decrypt_failed"}
	}
	onlyResponse := Request{Method: "GET", Path: "/tss/v2/transactions/1", Fields: []Field{demand}}
	return []Case{
		login("none"), login("a JWT", Field{"Authorization", "Bearer eyJhbGciOiJSUzI1NiJ9.e30.AAAA"}),
		login("another scheme", Field{"Authorization", "Basic sk_test_1"}), login("two", secretKey, secretKey),
		login("an empty key", Field{"Authorization", "Bearer "}),
		{
			Row: RowLegacy, Name: "login: none, only the response demanded", Request: onlyResponse,
			Status: 400, Code: "mle_not_supported",
		},
		cty("XML for JSON", pathB, "application/xml"), cty("XML for RPC", pathRPC, "xml"), cty("XML for v1", Path, "xml"),
		cty("none for provider-a", pathA, ""), cty("a nested JWE", pathA, "application/jose"),
		cty("a nested JWE, short", pathOwnB, "JOSE"), cty("a JWT", pathB, "JWT"), cty("HTML", pathA, "text/html"),
		cty("another charset", pathA, "text/xml; charset=iso-8859-1"), cty("another parameter", pathB, "json; a=b"),
		cty("two types", pathA, "text/xml, application/json"), cty("a space", pathA, "application/ xml"),
		cty("a line break", pathA, "text/xml\r\nX-Svc-Int-Proof: 1"), cty("no name", pathA, "application/"),
		{Row: RowLegacy, Name: "an API key of a strict merchant in the clear", Request: Request{
			Method: "POST", Path: pathB, Body: plaintext, Fields: []Field{secretKey}, Caller: Strict,
		}, Status: 400, Code: "mle_required"},
	}
}
