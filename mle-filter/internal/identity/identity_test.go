package identity_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/identity"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const shown = `{"id":"key_01jd8m3k2q4r5","object":"api_key","merchant":"mer_01jd8m3k2q4r5","mode":"live",
	"kind":"secret","scopes":["mle:write"],"hint":"abcd","status":"active","created_at":"2026-11-21T09:30:00.000Z"%s}`

// core always sends the same response, and counts the requests.
type core struct {
	token    secret.String // the operator's, as the resolver has it
	requests atomic.Int32
	response atomic.Pointer[func(http.ResponseWriter, *http.Request)]
}

func (c *core) responds(status int, header, body string) {
	f := func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
	c.response.Store(&f)
}

func setup(t *testing.T) (*core, *identity.Resolver, *clock.Fake) {
	t.Helper()
	return setupWith(t, &core{})
}

func setupWith(t *testing.T, c *core) (*core, *identity.Resolver, *clock.Fake) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		if r.URL.Path != "/v1/api_keys/current" || r.Header.Get("Authorization") == "" || r.Method != "GET" {
			t.Errorf("got %s %s", r.Method, r.URL)
		}
		(*c.response.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	fake := clock.NewFake(birth)
	return c, identity.New(identity.Config{V1: s.URL + "/", Client: s.Client(), Clock: fake, Token: c.token}), fake
}

func as(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

func TestResolve(t *testing.T) {
	t.Parallel()
	c, r, fake := setup(t)
	c.responds(200, "", fmt.Sprintf(shown, ""))
	want := func(requests int32) {
		t.Helper()
		who, p := r.Resolve(t.Context(), as("sk"))
		if p != nil || who.Tenant() != "mer_01jd8m3k2q4r5/live" || who.Publishable || !who.Has("mle:write") ||
			who.Has("compat:use") {
			t.Fatalf("got %+v, %+v", who, p)
		}
		if got := c.requests.Load(); got != requests {
			t.Errorf("core got %d requests, want %d", got, requests)
		}
	}
	want(1)
	fake.Advance(30*time.Second - time.Millisecond)
	want(1)
	fake.Advance(time.Millisecond)
	want(2)
	if _, p := r.Resolve(t.Context(), as("another")); p != nil || c.requests.Load() != 3 {
		t.Errorf("another key: got %+v after %d requests", p, c.requests.Load())
	}
	if _, p := r.Fresh(t.Context(), as("sk")); p != nil || c.requests.Load() != 4 {
		t.Errorf("fresh: got %+v after %d requests", p, c.requests.Load())
	}
	c.responds(200, "", fmt.Sprintf(shown, `,"expires_at":"2026-11-21T09:30:31.000Z"`))
	if _, p := r.Resolve(t.Context(), as("soon over")); p != nil {
		t.Fatal(p)
	}
	c.responds(401, "", `{"error":{"type":"authentication_error","code":"invalid_api_key","message":"m","status":401,`+
		`"request_id":"req_core"}}`)
	fake.Advance(time.Second)
	if _, p := r.Resolve(t.Context(), as("soon over")); p == nil || p.Status != 401 {
		t.Errorf("a key whose time is over: got %+v", p)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	refusal := `{"error":{"type":"%s","code":"%s","message":"why","status":400,"request_id":"req_core"}}`
	for name, tt := range map[string]struct {
		status         int
		retry, body    string
		want           int
		code           string
		errorType      v1.ErrorType
		wait, requests int
		headerLines    []string
	}{
		"Invalid": {
			401, "", fmt.Sprintf(refusal, "authentication_error", "invalid_api_key"), 401, "invalid_api_key",
			v1.ErrorTypeAuthenticationError, 0, 2, nil,
		},
		"Disabled": {
			403, "", fmt.Sprintf(refusal, "permission_error", "merchant_disabled"), 403, "merchant_disabled",
			v1.ErrorTypePermissionError, 0, 2, nil,
		},
		"Limited": {
			429, "7", fmt.Sprintf(refusal, "rate_limit_error", "rate_limited"), 429, "rate_limited",
			v1.ErrorTypeRateLimitError, 7, 2, nil,
		},
		"Overloaded": {
			503, "1", fmt.Sprintf(refusal, "api_error", "overloaded"), 503, "overloaded", v1.ErrorTypeAPIError, 1,
			2, nil,
		},
		"Broken":  {502, "", "<html>", 503, "overloaded", v1.ErrorTypeAPIError, 1, 2, nil},
		"NotAKey": {200, "", `{}`, 503, "overloaded", v1.ErrorTypeAPIError, 1, 2, nil},
		"NoKey":   {200, "", "", 401, "invalid_api_key", v1.ErrorTypeAuthenticationError, 0, 0, []string{}},
		"TwoKeys": {
			200, "", "", 401, "invalid_api_key", v1.ErrorTypeAuthenticationError, 0, 0,
			[]string{"Bearer a", "Bearer b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r, _ := setup(t)
			c.responds(tt.status, tt.retry, tt.body)
			h := as("sk")
			if tt.headerLines != nil {
				h = http.Header{"Authorization": tt.headerLines}
			}
			for range 2 { // rejections are not cached
				who, p := r.Resolve(t.Context(), h)
				if p == nil || p.Status != tt.want || p.Code != tt.code || p.Type != tt.errorType || p.RetryAfter != tt.wait ||
					p.Message == "" || who.Merchant != "" {
					t.Errorf("got %+v, %+v", who, p)
				}
			}
			if got := int(c.requests.Load()); got != tt.requests {
				t.Errorf("got %d requests, want %d", got, tt.requests)
			}
		})
	}
}

// TestPublishableKeys checks that it is reported as a fault of our configuration if core does not
// identify a publishable key.
func TestPublishableKeys(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":{"type":"permission_error","code":"publishable_key_not_allowed","message":"why",` +
		`"status":403,"request_id":"req_core"}}`
	c, r, _ := setup(t)
	c.responds(403, "", refusal)
	if _, p := r.Resolve(t.Context(), as("pk")); p == nil || p.Status != 403 || p.Code != "publishable_key_not_allowed" ||
		!strings.Contains(p.Message, "filter token") {
		t.Errorf("without a token: got %+v, want to hear that it is missing", p)
	}
	c, r, _ = setupWith(t, &core{token: secret.New("wrong")})
	c.responds(403, "", refusal)
	if _, p := r.Resolve(t.Context(), as("pk")); p == nil || p.Status != 503 || p.Cause == nil ||
		!strings.Contains(p.Cause.Error(), "filter token") {
		t.Errorf("with another one than core's: got %+v, want a fault of ours", p)
	}
}

// TestCallersOfOtherAddressesShareNoCall checks that a client over its rate limit gets no client of
// another address refused, even if both call at the same time.
func TestCallersOfOtherAddressesShareNoCall(t *testing.T) {
	t.Parallel()
	c, r, _ := setup(t)
	limited, other := make(chan struct{}), make(chan struct{})
	response := func(w http.ResponseWriter, req *http.Request) {
		if c.requests.Load() > 1 {
			close(other)
			_, _ = fmt.Fprintf(w, shown, "")
			return
		}
		close(limited)
		select {
		case <-other:
		case <-req.Context().Done():
		}
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprint(w, `{"error":{"type":"rate_limit_error","code":"rate_limited","message":"m","status":429,`+
			`"request_id":"req_core"}}`)
	}
	c.response.Store(&response)
	first := make(chan *engine.Problem, 1)
	go func() {
		_, p := r.Resolve(from(t, "203.0.113.7:1"), as("pk"))
		first <- p
	}()
	<-limited
	if _, p := r.Resolve(from(t, "203.0.113.8:1"), as("pk")); p != nil {
		t.Errorf("another client: got %+v", p)
	}
	if p := <-first; p == nil || p.Status != http.StatusTooManyRequests {
		t.Errorf("the client over its limit: got %+v", p)
	}
}

// from returns the context of a request from a peer.
func from(t *testing.T, peer string) (ctx context.Context) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	r.RemoteAddr = peer
	httpx.ClientAddress(secret.String{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx = r.Context()
	})).ServeHTTP(httptest.NewRecorder(), r)
	return ctx
}
