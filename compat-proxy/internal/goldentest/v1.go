package goldentest

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Exchange is one request to v1 and its response. Ids may be written as "txn:123". The query of a
// request is compared if it has one here, sorted and without percent-encoding.
type Exchange struct {
	Request  string         `json:"request"`
	Status   int            `json:"status"`
	Response jsontext.Value `json:"response,omitzero"`
	// Replayed: it is the response to an earlier request under the same Idempotency-Key.
	Replayed bool `json:"replayed,omitzero"`
}

// APIKey is the only key of the scripted v1.
const APIKey = "sk_test_0123456789abcdef"

// Secret returns the deduplication secret of proxies in tests.
func Secret() secret.String { return secret.New("a deduplication secret for tests only") }

// Identified handles requests about keys itself, and passes only requests with effects to next.
// Each API key is one of the same merchant, in test mode.
func Identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/api_keys/current" {
			_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"test","scopes":`+FullScopes+`}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Serve starts a server of v1's fake. Unless the fake sets a Date, each response has Today's. The
// machine's date can be the end of a deduplication span: the proxy then also requests the next
// span, which the fakes do not expect.
func Serve(tb testing.TB, fake http.Handler) *httptest.Server {
	tb.Helper()
	return serve(tb, fake, (*httptest.Server).Start)
}

// ServeTLS is Serve with HTTPS.
func ServeTLS(tb testing.TB, fake http.Handler) *httptest.Server {
	tb.Helper()
	return serve(tb, fake, (*httptest.Server).StartTLS)
}

func serve(tb testing.TB, fake http.Handler, start func(*httptest.Server)) *httptest.Server {
	tb.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", Today.Format(http.TimeFormat))
		fake.ServeHTTP(w, r)
	}))
	start(server)
	tb.Cleanup(server.Close)
	return server
}

// Script plays v1: it sends the responses of the case, in order, and fails the test for any other
// request.
type Script struct {
	// Mode is the mode of the key; empty means test.
	Mode v1.Mode

	t      *testing.T
	scopes []string

	mu        sync.Mutex
	remaining []Exchange // guarded by mu
}

// NewScript returns a v1 that expects these requests in order, by a key with these scopes; nil
// means all.
func NewScript(t *testing.T, expected []Exchange, scopes []string) *Script {
	t.Helper()
	return &Script{t: t, remaining: expected, scopes: scopes}
}

// FullScopes are the scopes of a key that may do everything, as JSON.
const FullScopes = `["payments:authorize","payments:capture","refunds:create","transactions:read",` +
	`"customers:write","customers:read","tokens:create","compat:use"]`

// ServeHTTP implements http.Handler.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/api_keys/current" {
		s.current(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	request := r.Method + " " + r.URL.Path
	if len(s.remaining) > 0 && strings.Contains(s.remaining[0].Request, "?") {
		query, err := url.QueryUnescape(r.URL.RawQuery)
		if err != nil {
			s.t.Error(err)
		}
		request += "?" + strings.Join(slices.Sorted(strings.SplitSeq(query, "&")), "&")
	}
	if len(s.remaining) == 0 || WithIDs(s.remaining[0].Request) != request {
		s.t.Errorf("v1 got the request %s, which the case does not expect here", request)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	next := s.remaining[0]
	s.remaining = s.remaining[1:]
	if next.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(next.Status)
	_, _ = w.Write(echoing(r, []byte(WithIDs(string(next.Response)))))
}

func (s *Script) current(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+APIKey {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","code":"invalid_api_key","message":"",`+
			`"status":401,"request_id":""}}`)
		return
	}
	scopes := FullScopes
	if s.scopes != nil {
		scopes = `["` + strings.Join(s.scopes, `","`) + `"]`
	}
	mode := cmp.Or(s.Mode, v1.ModeTest)
	_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"`+string(mode)+`","scopes":`+scopes+`}`)
}

// echoing copies the request's reference into the response if a case leaves it out.
func echoing(r *http.Request, response []byte) []byte {
	var sent struct {
		Reference jsontext.Value `json:"reference"`
	}
	var got, refused map[string]jsontext.Value
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &sent) != nil || sent.Reference == nil || json.Unmarshal(response, &got) != nil {
		return response
	}
	if json.Unmarshal(got["error"], &refused) == nil && refused["transaction"] != nil {
		refused["transaction"] = echoing(withBody(r, body), refused["transaction"])
		got["error"], _ = json.Marshal(refused)
	} else if got["error"] == nil && got["reference"] == nil {
		got["reference"] = sent.Reference
	}
	response, _ = json.Marshal(got)
	return response
}

func withBody(r *http.Request, body []byte) *http.Request {
	again := *r
	again.Body = io.NopCloser(bytes.NewReader(body))
	return &again
}

// Remaining returns how many requests of the case did not come.
func (s *Script) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.remaining)
}
