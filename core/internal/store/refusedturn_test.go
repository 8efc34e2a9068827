package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// turnless is an engine that refuses the turns of some commands.
type turnless struct {
	store.Engine
	// refuse returns the error for a command without a turn, or nil to run it.
	refuse func(c *store.Command) error
	// unconfirmed is the error of Confirm, nil to confirm.
	unconfirmed error

	mu      sync.Mutex
	refused []store.Caller // guarded by mu
}

// Update implements store.Engine.
func (e *turnless) Update(ctx context.Context, c *store.Command) error {
	if err := e.refuse(c); err != nil {
		e.mu.Lock()
		e.refused = append(e.refused, c.Caller())
		e.mu.Unlock()
		return err
	}
	return e.Engine.Update(ctx, c)
}

// Confirm implements store.Engine.
func (e *turnless) Confirm(ctx context.Context) error {
	return errors.Join(e.unconfirmed, e.Engine.Confirm(ctx))
}

// ofClients refuses a command that a client waits for among the commands of its merchant.
func ofClients(c *store.Command) error {
	if c.Background() || c.Caller().Ends {
		return nil
	}
	return payment.ErrTooManyChanges
}

// refuseTurns makes the store of a service refuse the turns of commands.
func refuseTurns(s *coretest.Service, refuse func(*store.Command) error) *turnless {
	e := &turnless{refuse: refuse}
	s.DB.Wrap(func(inner store.Engine) store.Engine { e.Engine = inner; return e })
	return e
}

// send sends a POST to the API of a service.
func send(t *testing.T, s *coretest.Service, apiKey, path, body, idempotencyKey string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer " + apiKey}, "Content-Type": {"application/json"}}
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	s.API.ServeHTTP(w, r)
	return w
}

// wantCode checks the status and the code of a refusal.
func wantCode(t *testing.T, what string, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var got v1.ErrorBody
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != status || got.Error.Code != code {
		t.Errorf("%s: got %d %s, %v; want %d %s", what, w.Code, w.Body, err, status, code)
	}
}

func publishable(t *testing.T, s *coretest.Service) string {
	t.Helper()
	return s.MustKey(t, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Publishable})
}

const customers = "/v1/customers"

// TestStoredResponseWithoutATurn: a request whose turn is refused gets the response that is stored
// under its idempotency key. It waits for one turn only. Without a stored response it is refused.
func TestStoredResponseWithoutATurn(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		err    error
		status int
	}{
		"too_many_changes": {payment.ErrTooManyChanges, 429},
		"overloaded":       {store.ErrBusy, 503},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			first := send(t, s, s.Key, customers, "{}", "k")
			e := refuseTurns(s, func(*store.Command) error { return c.err })
			again := send(t, s, s.Key, customers, "{}", "k")
			replayed := again.Header().Get("Idempotent-Replayed") == "true"
			if first.Code != 201 || again.Code != 201 || again.Body.String() != first.Body.String() || !replayed {
				t.Errorf("got %d %s\nwant %d %s", again.Code, again.Body, first.Code, first.Body)
			}
			if want := []store.Caller{{Tenant: s.Tenant}}; !slices.Equal(e.refused, want) {
				t.Errorf("refused turns: got %v, want %v", e.refused, want)
			}
			refused := func(what, body, key string) {
				t.Helper()
				wantCode(t, what, send(t, s, s.Key, customers, body, key), c.status, code)
			}
			refused("another body", `{"name":"b"}`, "k")
			refused("a free key", "{}", "free")
			refused("without a key", "{}", "")
			e.unconfirmed = store.ErrUnavailable
			refused("a response that can be lost", "{}", "k")
			e.unconfirmed = nil
			s.MustExec(t, "UPDATE idempotency_keys SET expires_at = 1")
			refused("an expired key", "{}", "k")
			s.MustExec(t, "UPDATE idempotency_keys SET status = 0")
			refused("a request that runs", "{}", "k")
			if got := len(e.refused); got != 7 {
				t.Errorf("refused turns: got %d, want one for each of 7 requests", got)
			}
		})
	}
}

// TestStoredResponseAfterRevocationPostgreSQL: another core has revoked the API key. A request
// under it gets no stored response, although this core remembers the key.
func TestStoredResponseAfterRevocationPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	if first := send(t, s, s.Key, customers, "{}", "k"); first.Code != 201 {
		t.Fatalf("got %d %s", first.Code, first.Body)
	}
	refuseTurns(s, ofClients)
	s.MustExec(t, "UPDATE api_keys SET revoked_at = 1")
	wantCode(t, "a revoked key", send(t, s, s.Key, customers, "{}", "k"), 429, "too_many_changes")
}

// TestRefusedConfirmationIsCountedWithoutATurn: all turns of a merchant's commands are in use. A
// confirmation with a wrong source is still counted.
func TestRefusedConfirmationIsCountedWithoutATurn(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	payer := publishable(t, s)
	w := send(t, s, s.Key, "/v1/transactions", `{"amount":100,"currency":"usd","confirm":false}`, "")
	var waiting v1.Transaction
	if err := json.Unmarshal(w.Body.Bytes(), &waiting); err != nil || w.Code != 201 {
		t.Fatalf("got %d %s, %v", w.Code, w.Body, err)
	}
	refuseTurns(s, ofClients)
	unknown := id.Format(id.Token, 12345)
	body := fmt.Sprintf(`{"client_secret":%q,"payment_method":%q}`, waiting.ClientSecret.Reveal(), unknown)
	for _, key := range []string{"", "k"} {
		w := send(t, s, payer, "/v1/transactions/"+waiting.ID+"/confirm", body, key)
		wantCode(t, "a wrong source", w, 400, "unknown_payment_method")
	}
	if got := s.Number(t, "SELECT refused_confirmations FROM transactions"); got != 2 {
		t.Errorf("refused confirmations: got %d, want 2", got)
	}
}

// TestCodeKeyNeedsNoTurn: the first security code of an hour makes the key of the hour. Other
// tokens wait for the key, so its command does not wait for a client's turn.
func TestCodeKeyNeedsNoTurn(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	refuseTurns(s, func(c *store.Command) error {
		if c.Caller().Tenant == s.Tenant { // the command that writes the token
			return nil
		}
		return ofClients(c)
	})
	const body = `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030,"cvc":"123"}}`
	if w := send(t, s, s.Key, "/v1/tokens", body, ""); w.Code != 201 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM security_codes"); got != 1 {
		t.Errorf("security codes: got %d, want 1", got)
	}
}

// TestPayersTakeTurnsApart: a request with a publishable key takes the turn of a payer, not a turn
// of the merchant's secret keys.
func TestPayersTakeTurnsApart(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	payer := publishable(t, s)
	e := refuseTurns(s, ofClients)
	const body = `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	for _, key := range []string{payer, s.Key} {
		wantCode(t, "a token", send(t, s, key, "/v1/tokens", body, ""), 429, "too_many_changes")
	}
	if want := []store.Caller{{Tenant: s.Tenant, Payer: true}, {Tenant: s.Tenant}}; !slices.Equal(e.refused, want) {
		t.Errorf("refused turns: got %v, want %v", e.refused, want)
	}
}
