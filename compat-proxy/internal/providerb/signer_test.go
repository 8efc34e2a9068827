package providerb_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// signer sends requests with an HTTP signature, all in the same second, and records the names of
// their commands. It executes them as v1 does: it refuses evidence that is bound to another name.
type signer struct {
	content

	handler *providerb.Handler
	clock   *clock.Fake
	secret  []byte
	// replicas are further proxies in front of the same v1. They share no memory.
	replicas []*providerb.Handler

	mu    sync.Mutex
	bound map[string]string // guarded by mu: evidence to the name that came with it
	names []string          // guarded by mu
	// purposes maps evidence to the purpose of its reservation; guarded by mu.
	purposes map[string]string
	finals   []bool // whether a refusal would have used each name
	refuses  bool   // while v1 refuses without a record
	// lacks is the scope that the API key lacks, "" for none. spent has the requests with a final
	// refusal. Both are guarded by mu.
	lacks string
	down  bool // while v1 is unavailable
	spent map[string]bool
}

// allScopes are the scopes of every operation, and of storing cards.
var allScopes = []string{
	"compat:use", "payments:authorize", "payments:capture", "refunds:create", "transactions:read",
	"customers:write", "customers:read", "tokens:create",
}

// Identify returns the scopes of the API key.
func (s *signer) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scopes := slices.DeleteFunc(slices.Clone(allScopes), func(scope string) bool { return scope == s.lacks })
	return v1.APIKey{Merchant: "mer_1", Scopes: scopes}, command.Result{Outcome: command.Done}
}

// final refuses a Refusal, and from then on the same bytes, like a executor.Executor. The caller
// holds mu.
func (s *signer) final(n command.Named) *command.Result {
	request := strings.Join([]string{string(n.Kind()), n.Name, n.Evidence}, "\n")
	if _, refusal := n.Command.(command.Refusal); refusal {
		if s.spent == nil {
			s.spent = map[string]bool{}
		}
		s.spent[request] = true
		return &command.Result{Outcome: command.Refused, Status: http.StatusForbidden, Code: command.CodeNotPermitted}
	}
	if s.spent[request] {
		return &command.Result{Outcome: command.Refused, Status: http.StatusUnprocessableEntity, Code: command.CodeNameSpent}
	}
	return nil
}

func (s *signer) Execute(ctx context.Context, key secret.String, c command.Command) command.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return command.Result{Outcome: command.Unavailable}
	}
	name := ""
	if named, ok := c.(command.Named); ok {
		name, c = named.Name, named.Command
		s.finals = append(s.finals, named.Final)
		if !s.binds(named) {
			return command.Result{
				Outcome: command.Refused, Status: http.StatusUnprocessableEntity,
				Code: command.CodeNameSpent,
			}
		}
		if r := s.final(named); r != nil {
			return *r
		}
	}
	if s.refuses {
		return command.Result{Outcome: command.Refused, Status: http.StatusForbidden, Code: "insufficient_scope"}
	}
	name = string(c.Kind()) + " " + name
	fresh := !slices.Contains(s.names, name)
	s.names = append(s.names, name)
	r := s.content.Execute(ctx, key, c)
	r.Fresh = fresh
	r.Capture = &v1.Capture{ID: id.Format(id.Capture, 60410000124), Currency: "usd"}
	r.Refund = &v1.Refund{ID: id.Format(id.Refund, 60410000125), Currency: "usd"}
	return r
}

// Bind stores the purpose of evidence, as v1 does.
func (s *signer) Bind(_ context.Context, _ secret.String, b command.Binding, purpose []string) command.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.purposes == nil {
		s.purposes = map[string]string{}
	}
	of := strings.Join(purpose, "\n")
	if had, known := s.purposes[b.Evidence]; known && had != of {
		return command.Result{Outcome: command.Refused, Status: http.StatusUnprocessableEntity, Code: command.CodeNameSpent}
	}
	s.purposes[b.Evidence] = of
	return command.Result{Outcome: command.Done}
}

// binds stores the evidence of a name, as v1 does. Evidence belongs to the first name that came
// with it, or is a name itself. The caller holds mu.
func (s *signer) binds(n command.Named) bool {
	if s.bound == nil {
		s.bound = map[string]string{}
	}
	for _, evidence := range []string{n.Bound.Evidence, n.Name} {
		if of, known := s.bound[evidence]; known && of != n.Name {
			return false
		}
	}
	s.bound[n.Name] = n.Name
	if n.Bound.Evidence != "" {
		s.bound[n.Bound.Evidence] = n.Name
	}
	return true
}

// distinct returns how many different payments v1 would have made.
func (s *signer) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.Compact(slices.Sorted(slices.Values(s.names))))
}

func mustSigner(t *testing.T) *signer {
	t.Helper()
	s := &signer{clock: clock.NewFake(goldentest.Today), secret: []byte("a shared secret of thirty-two by")}
	for range 2 {
		s.replicas = append(s.replicas, s.proxy(t, true))
	}
	s.handler = s.replicas[0]
	return s
}

// proxy returns a further proxy in front of the same v1. credits decides whether the shop may give
// credits.
func (s *signer) proxy(t *testing.T, credits bool) *providerb.Handler {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	text := fmt.Sprintf(`provider_b:
  - {merchant_id: shop, unlinked_credits: %[3]t, api_key: %[1]s, keys: [{id: key, shared_secret: %[2]s}]}
  - {merchant_id: other, api_key: %[1]s_other}
  - {merchant_id: group, portfolio: [shop, other], keys: [{id: meta, shared_secret: %[2]s}]}
`, goldentest.APIKey, base64.StdEncoding.EncodeToString(s.secret), credits)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := credentials.Open(path, s.clock, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return providerb.New(providerb.Config{
		Verifier: auth.New(auth.Config{Keys: store, Clock: s.clock, Age: 15 * time.Minute}),
		Config: dialect.Config{
			Executor: s, Clock: s.clock, Currency: "usd", MaxBytes: 256 << 10, NewNumber: func() string { return "1" },
		},
	})
}

// request returns a signed request. Requests with different bodies are different requests.
func (s *signer) request(ctx context.Context, body string) *http.Request {
	return s.requestTo(ctx, "/pts/v2/payments", body)
}

func (s *signer) requestTo(ctx context.Context, path, body string) *http.Request {
	return s.signedAs(ctx, "key", "shop", path, body)
}

// signedAs returns a request that the key signs for that merchant or portfolio.
func (s *signer) signedAs(ctx context.Context, key, merchant, path, body string) *http.Request {
	return signedBy(ctx, s.secret, key, merchant, path, body)
}

// signedBy returns a request with a signature by a shared secret.
func signedBy(ctx context.Context, secret []byte, key, merchant, path, body string) *http.Request {
	const host, date = "apitest.cybersource.com", "Sat, 21 Nov 2026 09:30:00 GMT"
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	sum := sha256.Sum256([]byte(body))
	digest := "SHA-256=" + base64.StdEncoding.EncodeToString(sum[:])
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("host: " + host + "\ndate: " + date + "\nrequest-target: post " + path + "\ndigest: " + digest +
		"\nv-c-merchant-id: " + merchant))
	r.Host = host
	r.Header.Set("Date", date)
	r.Header.Set("Digest", digest)
	r.Header.Set("V-C-Merchant-Id", merchant)
	r.Header.Set("Signature", `keyid="`+key+`", algorithm="HmacSHA256", headers="host date request-target digest `+
		`v-c-merchant-id", signature="`+
		base64.StdEncoding.EncodeToString(mac.Sum(nil))+`"`)
	return r
}

const signedBody = `{"clientReferenceInformation":{"code":"A"},"paymentInformation":{"card":` +
	`{"number":"4111111111111111","expirationMonth":"12","expirationYear":"2031"}},` +
	`"orderInformation":{"amountDetails":{"totalAmount":"1.00","currency":"USD"}}}`

// send sends the body, which must be approved.
func (s *signer) send(t *testing.T, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, s.request(t.Context(), body))
	if w.Code != http.StatusCreated {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
}

// A name of the client has precedence over its evidence. The transactionId comes first, even if the
// rest differs.
func TestNames(t *testing.T) {
	t.Parallel()
	withID := strings.Replace(signedBody, `"code":"A"`, `"code":"A","transactionId":"T-1"`, 1)
	s := mustSigner(t)
	s.send(t, withID)
	s.send(t, withID)
	if got := s.distinct(); got != 1 {
		t.Errorf("by transactionId: got %d payments, want 1: %q", got, s.names)
	}
	for _, header := range []string{"v-c-idempotency-id", "v-c-idempotency-key"} {
		s := mustSigner(t)
		for range 2 {
			r := s.request(t.Context(), signedBody)
			r.Header.Set(header, "K-1")
			s.handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		if got := s.distinct(); got != 1 {
			t.Errorf("by %s: got %d payments, want 1: %q", header, got, s.names)
		}
	}
	bearer := &signer{}
	h := mustHandler(t, bearer)
	for range 2 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pts/v2/payments", strings.NewReader(signedBody))
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if got := bearer.names; !slices.Equal(got, []string{"payment.authorize ", "payment.authorize "}) {
		t.Errorf("by a key alone: got names %q, want none", got)
	}
}
