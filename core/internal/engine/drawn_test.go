package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	pan = "4242424242424242"
	cvc = "900"
)

// MustToken stores a card for one use, with its security code or without, and returns the token's
// value.
func MustToken(t *testing.T, s *coretest.Service, code string) string {
	t.Helper()
	a, err := s.Engine.CreateToken(t.Context(), s.Request(""), payment.KindCard, []byte("{}"),
		vault.Secrets{Number: secret.New(pan), CVC: secret.New(code)})
	if err != nil || a.Status != 201 {
		t.Fatalf("token: %d, %v", a.Status, err)
	}
	value, err := valueOf(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// valueOf reads a token's value from the response to its creation.
func valueOf(body []byte) (string, error) {
	var made struct {
		Value string         `json:"value"`
		Rest  map[string]any `json:",embed"`
	}
	err := json.Unmarshal(body, &made)
	return made.Value, err
}

// payBy pays 100 by a stored payment method.
func payBy(ctx context.Context, s *coretest.Service, key, method string) (engine.Result, error) {
	found, err := s.Engine.Stored(ctx, s.Tenant, method)
	if err != nil {
		return engine.Result{}, err
	}
	return payWith(ctx, s, key, method, found)
}

func payWith(ctx context.Context, s *coretest.Service, key, method string, found engine.Stored) (engine.Result, error) {
	return s.Engine.Authorize(ctx, s.Request(key), engine.Payment{
		Amount: 100, Currency: "usd", AutoCapture: true, PaymentMethod: idOf(method), Drawn: found.Drawn, Details: []byte("{}"),
		Source: acquirer.Source{Card: acquirer.Card{Number: found.Secrets.Number, CVC: found.Secrets.CVC, ExpMonth: 12, ExpYear: 2030}},
	})
}

// idOf returns the payment source as a payment shows it: a token by its id.
func idOf(method string) string {
	if n, ok := payment.TokenOfValue(method); ok {
		return id.Format(id.Token, n)
	}
	return method
}

// seen records the cards that reach an acquirer.
type seen struct {
	*coretest.Acquirer
	cards   []acquirer.Card
	partial []bool
}

func (s *seen) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	s.cards, s.partial = append(s.cards, r.Card), append(s.partial, r.Partial)
	return s.Acquirer.Authorize(ctx, r)
}

// watch puts a recorder between the engine and its acquirer.
func watch(t *testing.T, s *coretest.Service) *seen {
	t.Helper()
	w := &seen{Acquirer: s.Acquirer}
	c := s.Engine.Config
	c.Test = w
	s.Engine = engine.New(c)
	return w
}

func TestTokenComesBackWhole(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	w := watch(t, s)
	token := MustToken(t, s, cvc)
	wiped := func() {
		if got := s.Number(t, "SELECT COUNT(*) FROM tokens WHERE used_by <> 0 AND id NOT IN (SELECT token_id FROM security_codes)"); got != 1 {
			t.Error("the security code is in the store during the acquirer's request")
		}
	}
	s.Acquirer.Before = func(context.Context, coretest.Call) error {
		wiped()
		return acquirer.ErrUnavailable
	}
	for range 2 {
		if _, err := payBy(t.Context(), s, "k", token); !errors.Is(err, engine.ErrAcquirerUnavailable) {
			t.Fatalf("got %v, want %v", err, engine.ErrAcquirerUnavailable)
		}
	}
	heal(s)
	if a, err := payBy(t.Context(), s, "k", token); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if len(w.cards) != 3 {
		t.Fatalf("the acquirer saw %d cards, want 3", len(w.cards))
	}
	for i, c := range w.cards {
		if c.Number.Reveal() != pan || c.CVC.Reveal() != cvc {
			t.Errorf("attempt %d: number right: %t, code right: %t", i, c.Number.Reveal() == pan, c.CVC.Reveal() == cvc)
		}
	}
	if _, err := payBy(t.Context(), s, "l", token); !errors.Is(err, payment.ErrTokenUsed) {
		t.Errorf("got %v, want %v", err, payment.ErrTokenUsed)
	}
	wantSettledBooks(t, s)
}

// TestTokenOfADeadPayment: after the process died, the security code is lost. A token that had a
// code stays used: a payment without the code is another payment than the requested one. A token
// without a code can be used again.
func TestTokenOfADeadPayment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code string
		want error
	}{{cvc, payment.ErrTokenUsed}, {"", nil}} {
		first := coretest.Open(t)
		token := MustToken(t, first, c.code)
		var dir string
		lose(first, coretest.Authorize, false, func() { dir = first.Snapshot(t) })
		if a, err := payBy(t.Context(), first, "k", token); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v, want 504", a.Status, err)
		}
		s := first.Revive(t, dir)
		if got := s.Recover(t); got != 0 {
			t.Fatalf("%d stay open", got)
		}
		if got := s.Number(t, "SELECT COUNT(*) FROM transactions"); got != 0 {
			t.Errorf("got %d transactions, want none", got)
		}
		if _, err := payBy(t.Context(), s, "k", token); !errors.Is(err, c.want) {
			t.Errorf("code %t: got %v, want %v", c.code != "", err, c.want)
		}
		if got, want := s.Acquirer.Moved(coretest.Authorize) == 100, c.want == nil; got != want {
			t.Errorf("code %t: moved %t, want %t", c.code != "", got, want)
		}
	}
}

// TestTokenOfALostPayment: the payment may have had its effect, so its token stays used for every
// result of recovery.
func TestTokenOfALostPayment(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		s := coretest.Open(t)
		token := MustToken(t, s, "")
		lose(s, coretest.Authorize, after, nil)
		if a, err := payBy(t.Context(), s, "", token); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v, want 504", a.Status, err)
		}
		heal(s)
		if got := s.Recover(t); got != 0 {
			t.Fatalf("%d stay open", got)
		}
		if _, err := payBy(t.Context(), s, "", token); !errors.Is(err, payment.ErrTokenUsed) {
			t.Errorf("after %t: got %v, want %v", after, err, payment.ErrTokenUsed)
		}
	}
}

// TestTokenReadWhileUsed: a token was read while another payment had used it and its security code
// was wiped. A later payment must not use the result of that read.
func TestTokenReadWhileUsed(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	token := MustToken(t, s, cvc)
	var during engine.Stored
	s.Acquirer.Before = func(ctx context.Context, _ coretest.Call) (err error) {
		if during, err = s.Engine.Stored(ctx, s.Tenant, token); err != nil {
			t.Error(err)
		}
		return acquirer.ErrUnavailable
	}
	if _, err := payBy(t.Context(), s, "", token); !errors.Is(err, engine.ErrAcquirerUnavailable) {
		t.Fatalf("got %v", err)
	}
	heal(s)
	if _, err := payWith(t.Context(), s, "", token, during); !errors.Is(err, payment.ErrTokenUsed) {
		t.Errorf("got %v, want %v", err, payment.ErrTokenUsed)
	}
	if a, err := payBy(t.Context(), s, "", token); err != nil || a.Status != 201 {
		t.Errorf("looked at again: got %d, %v", a.Status, err)
	}
}

// TestRotationMeanwhile: if its key was retired meanwhile, a service seals again, even in the
// middle of a payment that is rolled back.
func TestRotationMeanwhile(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	admin := s.MustVault(t)
	token := MustToken(t, s, cvc)
	old := admin.Primary()
	rotate := func() {
		r := vault.Rotation{
			Vault: admin, Store: s.DB, Drop: true, Progress: func(int, int) {},
			Complain: func(object string, err error) { t.Errorf("%s: %v", object, err) },
		}
		if err := r.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}
	s.Acquirer.Before = func(context.Context, coretest.Call) error { rotate(); return acquirer.ErrUnavailable }
	if _, err := payBy(t.Context(), s, "", token); !errors.Is(err, engine.ErrAcquirerUnavailable) {
		t.Fatalf("got %v", err)
	}
	heal(s)
	if admin.Primary() == old {
		t.Fatal("nothing was rotated")
	}
	if got, want := s.Number(t, "SELECT MIN(vault_key) FROM tokens"), int64(admin.Primary()); got != want {
		t.Errorf("sealed by %d, want %d", got, want)
	}
	w := watch(t, s)
	if a, err := payBy(t.Context(), s, "", token); err != nil || a.Status != 201 || w.cards[0].CVC.Reveal() != cvc {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	rotate()
	fresh := MustToken(t, s, cvc)
	if got := s.Number(t, "SELECT COUNT(*) FROM tokens WHERE vault_key <> ? AND number IS NOT NULL", admin.Primary()); got != 0 {
		t.Errorf("%d are sealed by an old key", got)
	}
	if a, err := payBy(t.Context(), s, "", fresh); err != nil || a.Status != 201 {
		t.Errorf("got %d, %v", a.Status, err)
	}
}

func TestSweepTokens(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const many = 1100 // more than two batches
	MustToken(t, s, "")
	MustToken(t, s, cvc)
	s.MustExec(t, `INSERT INTO tokens (id, merchant_id, live, kind, details, vault_key, number, secret_hash, cvc_given, created_at,
			expires_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT i + 10000 * cvc_given, merchant_id, live, kind, details, vault_key, number, secret_hash, cvc_given, created_at,
			expires_at FROM tokens, n`, many/2-1)
	s.MustExec(t, `INSERT INTO security_codes (token_id, key_id, sealed)
		SELECT t.id, c.key_id, c.sealed FROM tokens t, security_codes c WHERE t.cvc_given = 1 AND t.id <> c.token_id`)
	used := MustToken(t, s, cvc)
	if a, err := payBy(t.Context(), s, "", used); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	sealed := func(when string, numbers, codes, rows int64) {
		t.Helper()
		if err := s.Engine.SweepTokens(t.Context()); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]int64{"tokens WHERE number IS NOT NULL": numbers, "security_codes": codes, "tokens": rows} {
			if got := s.Number(t, "SELECT COUNT(*) FROM "+query); got != want {
				t.Errorf("%s: %s: got %d, want %d", when, query, got, want)
			}
		}
	}
	s.Clock.Advance(payment.TokenLifetime - time.Millisecond)
	sealed("a moment before", many+1, many/2, many+1)
	fresh := MustToken(t, s, cvc)
	s.Clock.Advance(time.Millisecond)
	sealed("expired", 1, 1, many+2)
	if _, err := payBy(t.Context(), s, "", used); !errors.Is(err, payment.ErrTokenUsed) {
		t.Errorf("got %v, want %v", err, payment.ErrTokenUsed)
	}
	if a, err := payBy(t.Context(), s, "", fresh); err != nil || a.Status != 201 {
		t.Errorf("a living token: got %d, %v", a.Status, err)
	}
	s.Clock.Advance(store.KeyLifetime - time.Millisecond)
	sealed("almost a day later", 0, 0, many+2)
	s.Clock.Advance(time.Millisecond)
	sealed("a day later", 0, 0, 1) // the one that was made later
}
