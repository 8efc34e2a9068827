package engine_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestGolden compares the complete response to each case with a golden file.
func TestGolden(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	e := w.Engine(t)
	var lines []string
	for _, c := range enginetest.Cases(t, w) {
		got := exchange(t, e, c.Request, enginetest.Response{
			Status: 200, Fields: []enginetest.Field{{Name: "Content-Type", Value: "application/json"}}, Body: "{}",
		})
		line := fmt.Sprintf("%s: %d", c.Name, got.Status)
		var body struct {
			Error struct{ Type, Code, Message, Param string } `json:"error"`
		}
		if got.Reached == 0 {
			if err := json.Unmarshal([]byte(got.Response), &body); err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %s/%s %q %s", body.Error.Type, body.Error.Code, body.Error.Message, body.Error.Param)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	const path = "testdata/cases.golden"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(mustRead(t, path)); text != want {
		t.Errorf("the text differs from %s; check the difference after -update:\n%s", path, text)
	}
}

// keyless are the rows of the abuse list that are rejected without a private key.
var keyless = []int{
	1, 2, 4, 5, 6, 7, 8, 9, 10, 14, 17, 18, 19, 21, enginetest.RowResponse, enginetest.RowIdempotency,
}

// TestNoKeyIsRead: no private key is read for a request that can be rejected without one.
func TestNoKeyIsRead(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	e := w.Engine(t)
	seen := 0
	for _, c := range enginetest.Cases(t, w) {
		if c.Code == "" || !slices.Contains(keyless, c.Row) {
			continue
		}
		seen++
		before := w.Ring.Reads()
		exchange(t, e, c.Request, enginetest.Response{Status: 200})
		if w.Ring.Reads() != before {
			t.Errorf("%s: a private key was read", c.Name)
		}
	}
	if seen < 80 {
		t.Errorf("got %d cases, want most of them", seen)
	}
}

func TestCaller(t *testing.T) {
	t.Parallel()
	unknownCaller := &engine.Problem{Status: 401, Code: "invalid_api_key"}
	plain := http.Header{"Content-Type": {"application/json"}}
	encrypted := http.Header{"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}}
	login := func(lines ...string) http.Header { return http.Header{"Authorization": lines} }
	secret := login("Bearer sk_test_1")
	w := enginetest.NewWorld(t)
	for name, c := range map[string]struct {
		engine *engine.Engine
		fields http.Header
		path   string
		called int
	}{
		"in the clear":                    {mustEngine(t, engine.Config{Keys: w.Ring}), secret, enginetest.Path, 0},
		"in the clear, a strict merchant": {w.Engine(t), secret, enginetest.Path, 1},
		"a publishable key":               {w.Engine(t), login("Bearer pk_test_1"), enginetest.Path, 1},
		"an empty key":                    {w.Engine(t), login(""), enginetest.Path, 1},
		"another scheme":                  {w.Engine(t), login("Basic sk_test_1"), enginetest.Path, 1},
		"two keys":                        {w.Engine(t), login("Bearer sk_test_1", "Bearer sk_test_2"), enginetest.Path, 1},
		"no key":                          {w.Engine(t), plain, enginetest.Path, 0},
		"no key, encrypted":               {w.Engine(t), encrypted, enginetest.Path, 1},
		"encrypted":                       {mustEngine(t, engine.Config{Keys: w.Ring}), encrypted, enginetest.Path, 1},
		"legacy, an API key":              {w.Engine(t), secret, "/compat/rpc", 1},
		"legacy, no key":                  {w.Engine(t), plain, "/compat/rpc", 0},
		"legacy, a JWT":                   {w.Engine(t), login("Bearer eyJhbGciOiJSUzI1NiJ9.e30.AAAA"), "/compat/rpc", 0},
		"a response": {
			w.Engine(t), http.Header{"X-Svc-Mle-Response": {"required"}}, enginetest.Path, 1,
		},
		"off":          {w.Engine(t), plain, enginetest.PathOff, 0},
		"wrong fields": {w.Engine(t), http.Header{"X-Svc-Mle": {"v3"}}, enginetest.Path, 0},
	} {
		called := 0
		_, p := c.engine.Begin(t.Context(), engine.RequestHead{Method: "POST", Path: c.path, Body: true, Fields: c.fields},
			func(context.Context) (string, *engine.Problem) { called++; return "", unknownCaller })
		if called != c.called {
			t.Errorf("%s: got %d calls, want %d", name, called, c.called)
		}
		if called > 0 && p != unknownCaller {
			t.Errorf("%s: got %+v, want the caller's own problem", name, p)
		}
	}
}

// TestCoreResponses checks the responses of core that the engine must not pass on.
func TestCoreResponses(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	begin := func(fields http.Header) *engine.Exchange {
		x, p := w.Engine(t).Begin(
			t.Context(), engine.RequestHead{Method: "GET", Path: enginetest.Path, Fields: fields},
			enginetest.Call(enginetest.Merchant),
		)
		if p != nil {
			t.Fatal(p.Message)
		}
		return x
	}
	asked := http.Header{"X-Svc-Mle-Response": {"required"}}
	if _, p := begin(asked).BeginResponse(engine.ResponseHead{Status: 101, Fields: http.Header{}}); p == nil ||
		p.Status != 500 || p.Cause == nil {
		t.Errorf("another protocol: got %+v, want 500", p)
	}
	if _, p := begin(asked).BeginResponse(
		engine.ResponseHead{Status: 200, Body: true, Length: 1<<20 + 1, Fields: http.Header{}},
	); p == nil || p.Status != 500 {
		t.Errorf("too long by its own words: got %+v, want 500", p)
	}
	if _, p := begin(http.Header{}).Wrap([]byte("{}")); p == nil || p.Status != 500 {
		t.Errorf("no demand for encryption: got %+v, want 500", p)
	}
	x := begin(asked)
	if response, p := x.BeginResponse(
		engine.ResponseHead{Status: 200, Body: true, Length: -1, Fields: http.Header{"Vary": {"Authorization", "Origin"}}},
	); p != nil || !response.Wrap {
		t.Fatalf("got %+v, want a response to wrap", p)
	}
	body, p := x.Wrap(nil)
	if p != nil {
		t.Fatal(p.Message)
	}
	got := http.Header{"Vary": {"Authorization", "Origin"}}
	apply(got, body.Ops)
	if want := "Authorization, Origin, X-SVC-MLE, X-SVC-MLE-Response"; got.Get("Vary") != want {
		t.Errorf("Vary: got %q, want %q", got.Get("Vary"), want)
	}
	if _, text := w.ResponseKey.Decrypt(t, string(body.Bytes)); text != "" {
		t.Errorf("got %q, want an empty response, encrypted", text)
	}
}

// TestNoResponseBeforeDerivation: no response passes before the request was decrypted, if only the
// request can give the response key.
func TestNoResponseBeforeDerivation(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	x, p := w.Engine(t).Begin(t.Context(), engine.RequestHead{
		Method: "POST", Path: enginetest.Path, Body: true, Length: -1, Fields: http.Header{
			"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}, "X-Svc-Mle-Response": {"required"},
		},
	}, enginetest.Call(enginetest.Keyless))
	if p != nil {
		t.Fatal(p.Message)
	}
	if !x.WrapsResponse() || x.HasResponseKey() {
		t.Errorf("got wraps %v, key %v, want a demand without a key", x.WrapsResponse(), x.HasResponseKey())
	}
	for _, head := range []engine.ResponseHead{
		{Status: 200, Body: true, Length: -1, Fields: http.Header{}}, {Status: 204, Fields: http.Header{}},
	} {
		if response, p := x.BeginResponse(head); p == nil || p.Status != 500 {
			t.Errorf("%d: got %+v, want 500", head.Status, response)
		}
	}
	if body, p := x.Wrap([]byte("{}")); p == nil || p.Status != 500 {
		t.Errorf("got %+v, want 500", body)
	}
}

// TestResponseKeysThatCannotBeUsed checks that an unusable response key is rejected before the
// request is forwarded.
func TestResponseKeysThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	w := enginetest.NewWorld(t)
	good := w.ResponseKey.Public()
	signs, other, private := good, good, good
	signs.Use, other.Algorithm, private.Key = "sig", string(engine.RSAOAEP256), w.ResponseKey.Private
	for name, key := range map[string]jose.JSONWebKey{
		"small": {Key: &small.PublicKey, KeyID: "small", Algorithm: string(engine.RSAOAEP256)}, "signs": signs,
		"another's algorithm": other,
		"private":             private, "empty": {},
	} {
		ring := &enginetest.Ring{}
		ring.AddResponse(enginetest.Merchant, key)
		_, p := mustEngine(t, engine.Config{Keys: ring}).Begin(t.Context(), engine.RequestHead{
			Method: "GET", Path: enginetest.Path, Fields: http.Header{"X-Svc-Mle-Response": {"required"}},
		}, enginetest.Call(enginetest.Merchant))
		if p == nil || p.Code != engine.CodeKIDUnknown || p.Param != "X-SVC-MLE-Response" {
			t.Errorf("%s: got %+v, want that there is no key", name, p)
		}
	}
}

// TestProblems checks the table of codes and the form of an error body.
func TestProblems(t *testing.T) {
	t.Parallel()
	codes := engine.Codes()
	slices.Sort(codes)
	want := []string{
		"body_too_large", "internal_error", "invalid_value", "mle_decrypt_failed", "mle_kid_unknown", "mle_not_supported",
		"mle_required",
		"mle_unavailable", "rate_limited", "unsupported_media_type",
	}
	if !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
	p := &engine.Problem{Status: 400, Type: "mle_error", Code: engine.CodeRequired, Message: "m", Param: "X-SVC-MLE"}
	const body = `{"error":{"type":"mle_error","code":"mle_required","message":"m","status":400,"param":"X-SVC-MLE",` +
		`"request_id":"req_1","doc_url":"/docs#error-mle_required"}}` + "\n"
	if got := string(p.Body("req_1")); got != body {
		t.Errorf("got %s, want %s", got, body)
	}
	if got := string(p.Body("\xff")); !strings.Contains(got, `"request_id":""`) {
		t.Errorf("got %s, want no request id instead of an invalid one", got)
	}
}

// TestCodesAreDocumented checks that /docs lists each code: core proves it of v1.FrontCodes.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, code := range engine.Codes() {
		if !slices.Contains(v1.FrontCodes(), code) {
			t.Errorf("%s is not documented", code)
		}
	}
}
