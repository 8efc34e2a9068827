package enginetest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// Field is a header field of a message.
type Field struct{ Name, Value string }

// Request is a request from a client.
type Request struct {
	Method string
	Path   string
	Fields []Field
	Body   string
	// NoLength sends the body without a Content-Length.
	NoLength bool
	// Caller is the merchant of the request; Merchant if empty.
	Caller string
}

// Response is core's response.
type Response struct {
	Status int
	Fields []Field
	Body   string
}

// Case is a request, core's response to it, and the required outcome.
type Case struct {
	Row      int // of the abuse list in the contract's section 5; 0 for honest clients
	Name     string
	Request  Request
	Response Response // 200 with a small JSON body if its Status is 0

	// The response to a rejected request. Core is not reached, unless AfterCore is set.
	Status    int
	Code      string
	AfterCore bool

	// For an accepted request, the request at core and the response to the client.
	Core    string   // the body
	Has     []Field  // header fields with exactly one value
	HasNot  []string // absent header fields
	Wrapped *Key     // the registered key that decrypts the response, or nil
	Derived []byte   // the request's content key, from which the response key is derived, or nil
	CTY     string   // the cty of an encrypted response
	Gone    []string // fields of core's response that the client does not receive
}

// Outcome is the outcome of a request.
type Outcome struct {
	Reached  int         // the number of requests at core
	Core     http.Header // the last request at core
	Body     string      // of the last request at core
	Status   int         // of the response to the client
	Fields   http.Header
	Response string // the body of the response to the client
}

// core returns core's response of the case.
func (c Case) core() Response {
	if c.Response.Status == 0 {
		return Response{
			Status: 200, Fields: []Field{{"Content-Type", "application/json"}}, Body: `{"id":"txn_0000000000001"}`,
		}
	}
	return c.Response
}

// Run runs all cases. do sends a request through a shell around the world's engine, to a core that
// sends the given response.
func Run(t *testing.T, w *World, do func(t *testing.T, r Request, core Response) Outcome) {
	t.Helper()
	for _, c := range Cases(t, w) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.check(t, do(t, c.Request, c.core()))
		})
	}
}

func (c Case) check(t *testing.T, got Outcome) {
	t.Helper()
	if c.Code != "" {
		c.checkRefusal(t, got)
		return
	}
	if got.Reached != 1 {
		t.Fatalf("core: got %d requests, want 1; the client got %d %s", got.Reached, got.Status, got.Response)
	}
	if got.Body != c.Core {
		t.Errorf("core's body: got %q, want %q", short(got.Body), short(c.Core))
	}
	for _, f := range c.Has {
		if v := got.Core.Values(f.Name); len(v) != 1 || v[0] != f.Value {
			t.Errorf("core's %s: got %q, want %q", f.Name, v, f.Value)
		}
	}
	for _, name := range c.HasNot {
		if v := got.Core.Values(name); len(v) > 0 {
			t.Errorf("core's %s: got %q, want none", name, v)
		}
	}
	c.checkResponse(t, got)
}

func (c Case) checkRefusal(t *testing.T, got Outcome) {
	t.Helper()
	if want := map[bool]int{false: 0, true: 1}[c.AfterCore]; got.Reached != want {
		t.Errorf("core: got %d requests, want %d", got.Reached, want)
	}
	var body struct {
		Error struct {
			Type, Code, Message string
			Status              int
			RequestID           string `json:"request_id"`
		}
	}
	if err := json.Unmarshal([]byte(got.Response), &body); err != nil {
		t.Fatalf("got %d %q, want an error body", got.Status, short(got.Response))
	}
	e := body.Error
	if got.Status != c.Status || e.Status != c.Status || e.Code != c.Code {
		t.Errorf("got %d %s (%s), want %d %s", got.Status, e.Code, e.Message, c.Status, c.Code)
	}
	if e.Type == "" || e.Message == "" {
		t.Errorf("got %q, want a type and a message", got.Response)
	}
	if got.Fields.Get("Content-Type") != "application/json" || got.Fields.Get("Cache-Control") != "no-store" {
		t.Errorf("got %v, want JSON with Cache-Control: no-store", got.Fields)
	}
	if (got.Fields.Get("Retry-After") != "") != (c.Status == 503) {
		t.Errorf("Retry-After: got %q with status %d", got.Fields.Get("Retry-After"), got.Status)
	}
}

func (c Case) checkResponse(t *testing.T, got Outcome) {
	t.Helper()
	core := c.core()
	if got.Status != core.Status {
		t.Errorf("status: got %d, want core's %d", got.Status, core.Status)
	}
	for _, name := range c.Gone {
		if v := got.Fields.Values(name); len(v) > 0 {
			t.Errorf("%s: got %q, want none", name, v)
		}
	}
	if c.Wrapped == nil && c.Derived == nil {
		if got.Response != core.Body {
			t.Errorf("response: got %q, want core's %q", short(got.Response), short(core.Body))
		}
		return
	}
	header, text, kid := c.decrypt(t, got.Response)
	if text != core.Body {
		t.Errorf("response: got %q, want core's %q", short(text), short(core.Body))
	}
	extra := header.ExtraHeaders
	if header.KeyID != kid || extra["typ"] != "JOSE" || extra["iat"] != float64(Noon.Unix()) {
		t.Errorf("got kid %q and %v, want the key's kid, with typ and iat", header.KeyID, extra)
	}
	if cty, _ := extra["cty"].(string); cty != c.CTY {
		t.Errorf("cty: got %q, want %q", cty, c.CTY)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/jose", "X-Svc-Mle": "v1", "Cache-Control": "no-store", "Etag": "", "Last-Modified": "",
		"Content-Encoding": "", "Content-Digest": "", "Accept-Ranges": "",
	} {
		if v := got.Fields.Get(name); v != want {
			t.Errorf("%s: got %q, want %q", name, v, want)
		}
	}
}

// decrypt decrypts the response of the case, and returns the kid that its header must have.
func (c Case) decrypt(t *testing.T, response string) (header jose.Header, text, kid string) {
	t.Helper()
	if c.Derived != nil {
		header, text = DecryptDerived(t, c.Derived, c.Request.Body, response)
		return header, text, kidOf(t, c.Request.Body)
	}
	header, text = c.Wrapped.Decrypt(t, response)
	return header, text, c.Wrapped.KID
}

// InternalResponse is a response in the clear with fields for the filter only.
var InternalResponse = Response{
	Status: 200, Body: "{}",
	Fields: []Field{
		{"Content-Type", "application/json"}, {"X-Svc-Int-Mle", "v1"}, {"x-svc-int-note", "a"}, {"X-Svc-Interval", "b"},
	},
}

// CheckInternal requires that the client received InternalResponse without the fields for the
// filter.
func CheckInternal(t *testing.T, out Outcome) {
	t.Helper()
	if out.Status != 200 || out.Response != "{}" || out.Fields.Get("X-Svc-Interval") != "b" {
		t.Errorf("got %+v, want core's response", out)
	}
	for _, name := range []string{"X-Svc-Int-Mle", "X-Svc-Int-Note"} {
		if v := out.Fields.Values(name); len(v) > 0 {
			t.Errorf("%s: got %q, want none", name, v)
		}
	}
}

// Decrypt decrypts a message to the key.
func (k Key) Decrypt(t *testing.T, token string) (header jose.Header, text string) {
	t.Helper()
	object, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.KeyAlgorithm(k.Alg)},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatalf("got %q, want a compact JWE: %v", short(token), err)
	}
	plaintext, err := object.Decrypt(k.Private)
	if err != nil {
		t.Fatal(err)
	}
	return object.Header, string(plaintext)
}

func short(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
