package providera_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
)

// document returns a request in JSON.
func document(method, members string) []byte { return []byte(`{"` + method + `":{` + members + `}}`) }

// sendWith returns the response to a body with an Authorization header, "" for none.
func sendWith(t *testing.T, v1 http.Handler, authorization string, body []byte) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	mustHandler(t, goldentest.MustExecutor(t, v1)).ServeHTTP(w, r)
	return w.Body.String()
}

// TestBearerKeyAlone sends each request with a bearer key in the header and no
// merchantAuthentication. The response is that to the request with an empty element.
func TestBearerKeyAlone(t *testing.T) {
	t.Parallel()
	const bearer = "Bearer " + goldentest.APIKey
	inJSON := func(_ *testing.T, body []byte) []byte { return body }
	for _, request := range requests {
		for format, written := range map[string]func(*testing.T, []byte) []byte{"JSON": inJSON, "XML": asXML} {
			t.Run(request.name+" in "+format, func(t *testing.T) {
				t.Parallel()
				send := func(members string) string {
					return sendWith(t, &scopedV1{scopes: everyScope}, bearer, written(t, document(request.method, members)))
				}
				got, want := send(request.members), send(`"merchantAuthentication":{},`+request.members)
				if got != want || strings.Contains(got, "E00003") {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
		t.Run(request.name+" by RPC", func(t *testing.T) {
			t.Parallel()
			call := func(members string) string {
				h := mustHandler(t, goldentest.MustExecutor(t, &scopedV1{scopes: everyScope}))
				got, err := h.Call(t.Context(), request.method, []byte("{"+members+"}"),
					rpc.Origin{Header: http.Header{"Authorization": {bearer}}})
				if err != nil {
					t.Fatal(err)
				}
				return string(got)
			}
			got, want := call(request.members), call(`"merchantAuthentication":{},`+request.members)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestBearerKeyRefused: an invalid bearer key has the code of a wrong login. Without the scheme
// Bearer, the element is required.
func TestBearerKeyRefused(t *testing.T) {
	t.Parallel()
	for authorization, code := range map[string]string{
		"Bearer nonsense": "E00007", "bearer": "E00007", "Bearer pk_test_0123456789abcdef": "E00007",
		"": "E00003", "Basic bWU6eA==": "E00003", goldentest.APIKey: "E00003",
	} {
		for _, request := range requests {
			v1 := &scopedV1{scopes: everyScope}
			got := sendWith(t, v1, authorization, document(request.method, request.members))
			if !strings.Contains(got, `"code":"`+code+`"`) || len(v1.posts) > 0 {
				t.Errorf("%s, %q: got %s and %v, want %s", request.name, authorization, got, v1.posts, code)
			}
		}
	}
}

// TestBearerKeyTwice: with several Authorization headers, no key counts. A program in front may
// have judged another one.
func TestBearerKeyTwice(t *testing.T) {
	t.Parallel()
	const bearer = "Bearer " + goldentest.APIKey
	for _, both := range [][]string{{bearer, bearer}, {bearer, "Basic bWU6eA=="}, {"Basic bWU6eA==", bearer}} {
		v1 := &scopedV1{scopes: everyScope}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
			bytes.NewReader(document(requests[0].method, requests[0].members)))
		r.Header["Authorization"] = both
		w := httptest.NewRecorder()
		mustHandler(t, goldentest.MustExecutor(t, v1)).ServeHTTP(w, r)
		if got := w.Body.String(); !strings.Contains(got, `"code":"E00007"`) || len(v1.posts) > 0 {
			t.Errorf("%q: got %s and %v, want E00007", both, got, v1.posts)
		}
	}
}
