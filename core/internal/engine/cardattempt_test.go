package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/secret"
)

// details returns the details of a payment by a card of a network.
func details(brand string) []byte {
	return fmt.Appendf(nil, `{"card":{"brand":%q,"last4":"4242","fingerprint":"aa11"}}`, brand)
}

// payByCard makes a payment by a card of a network, and returns the HTTP status and the decline
// code.
func payByCard(t *testing.T, s *coretest.Service, key, brand string, amount int64) (int, string) {
	t.Helper()
	a, err := s.Engine.Authorize(t.Context(), s.Request(key), engine.Payment{
		Amount: amount, Currency: "usd", AutoCapture: amount > 0, PaymentMethod: "card", Details: details(brand),
		Source: cardSource(),
	})
	if err != nil {
		return 0, err.Error()
	}
	code := lastDecline(t, s)
	if !strings.Contains(string(a.Body), code) {
		t.Errorf("the response %s has no decline code %q", a.Body, code)
	}
	return a.Status, code
}

func cardSource() acquirer.Source {
	return acquirer.Source{Card: acquirer.Card{Number: secret.New("4242424242424242"), ExpMonth: 12, ExpYear: 2030}}
}

// lastDecline returns the decline code of the newest transaction.
func lastDecline(t *testing.T, s *coretest.Service) string {
	t.Helper()
	results := s.Texts(t, "SELECT result FROM transactions ORDER BY id DESC LIMIT 1")
	_, after, _ := strings.Cut(results[0], `"decline_code":"`)
	code, _, _ := strings.Cut(after, `"`)
	return code
}

// declining makes the acquirer decline as a network does.
func declining(s *coretest.Service, code, advice string) {
	s.Acquirer.Decide = func(coretest.Call) string { return "do_not_honor" }
	s.Acquirer.Network = acquirer.NetworkDecline{Given: true, Code: code, Advice: advice}
}

// TestRetryLimit: a payment beyond the limit of the network is declined without a request to the
// acquirer, also when it is repeated. An approval ends the count.
func TestRetryLimit(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	declining(s, "51", "02")
	for n := range 10 {
		if status, code := payByCard(t, s, "", "mastercard", 100); status != 402 || code != "do_not_honor" {
			t.Fatalf("attempt %d: got %d %s", n+1, status, code)
		}
	}
	heal(s)
	for range 2 {
		if status, code := payByCard(t, s, "k", "mastercard", 50); status != 402 || code != "retry_not_allowed" {
			t.Errorf("got %d %s, want a decline", status, code)
		}
	}
	if n := len(s.Acquirer.Payments()); n != 10 {
		t.Errorf("the acquirer got %d payments, want 10", n)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.declined'"); n != 11 {
		t.Errorf("got %d events, want 11", n)
	}
	s.MustExec(t, "DELETE FROM card_attempts WHERE transaction_id = (SELECT MAX(transaction_id) FROM card_attempts)")
	if status, code := payByCard(t, s, "", "mastercard", 0); status != 201 {
		t.Fatalf("verification: got %d %s", status, code)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 9 {
		t.Errorf("got %d attempts after a verification, want 9", n)
	}
	if status, code := payByCard(t, s, "", "mastercard", 100); status != 201 {
		t.Fatalf("got %d %s", status, code)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 0 {
		t.Errorf("got %d attempts after an approval, want none", n)
	}
}

// TestRetryForbidden: a decline that ends all attempts does so immediately, for payments and
// confirmations. Other networks and test mode have no limits.
func TestRetryForbidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		brand, code, advice string
		want                string // decline code of the next payment
	}{
		{"visa", "46", "", "retry_not_allowed"},
		{"visa", "", "1", "retry_not_allowed"},
		{"visa", "51", "", ""},
		{"mastercard", "51", "03", "retry_not_allowed"},
		{"mastercard", "46", "", ""},
		{"amex", "46", "03", ""},
	} {
		t.Run(c.brand+c.code+c.advice, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			declining(s, c.code, c.advice)
			payByCard(t, s, "", c.brand, 100)
			heal(s)
			if _, code := payByCard(t, s, "", c.brand, 100); code != c.want {
				t.Errorf("got %q, want %q", code, c.want)
			}
		})
	}
}

// TestRetryOfAnUnknownPayment: recovery counts a decline that it finds. A request that was never
// sent does not count.
func TestRetryOfAnUnknownPayment(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	declining(s, "43", "")
	s.Acquirer.After = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
	if status, _ := payByCard(t, s, "", "visa", 100); status != 504 {
		t.Fatalf("got %d, want 504", status)
	}
	s.Acquirer.After = nil
	s.Recover(t)
	if _, code := payByCard(t, s, "", "visa", 100); code != "retry_not_allowed" {
		t.Errorf("got %q, want retry_not_allowed", code)
	}
	s.MustExec(t, "UPDATE card_attempts SET never = 0")
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	if status, code := payByCard(t, s, "", "visa", 100); status != 0 || !strings.Contains(code, "unavailable") {
		t.Errorf("got %d %s, want an error", status, code)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 1 {
		t.Errorf("got %d attempts, want 1", n)
	}
}

// TestRetryOfAConfirmation: confirmations count like payments. One that is not sent is declined.
func TestRetryOfAConfirmation(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	confirm := func() int {
		waiting := MustTransaction(t, s)
		a, err := s.Engine.Confirm(t.Context(), s.Request(""), waiting, engine.Payment{
			PaymentMethod: "card", Details: details("visa"),
			Source: cardSource(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return a.Status
	}
	declining(s, "51", "")
	confirm()
	declining(s, "43", "")
	confirm()
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 2 {
		t.Errorf("got %d attempts, want 2", n)
	}
	heal(s)
	if status := confirm(); status != 402 || lastDecline(t, s) != "retry_not_allowed" {
		t.Errorf("got %d %s", status, lastDecline(t, s))
	}
	if n := len(s.Acquirer.Payments()); n != 2 {
		t.Errorf("the acquirer got %d payments, want 2", n)
	}
}

// payAgain makes a payment by payByCard's card, and returns the HTTP status.
func payAgain(t *testing.T, s *coretest.Service) int {
	t.Helper()
	status, _ := payByCard(t, s, "k", "visa", 100)
	return status
}

// confirmAgain is payAgain by a confirmation.
func confirmAgain(t *testing.T, s *coretest.Service) int {
	t.Helper()
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	id := s.Number(t, "SELECT id FROM transactions WHERE status = 'requires_confirmation'")
	waiting, err := s.Engine.Store.Transaction(t.Context(), s.Tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Engine.Confirm(t.Context(), s.Request("k"), waiting, engine.Payment{
		PaymentMethod: "card", Details: details("visa"), Source: cardSource(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a.Status
}

// TestRefusedRetryNeedsNoAccount: the process ended before it wrote the decline of a payment that
// was never sent. Recovery declines it without a request to an account.
func TestRefusedRetryNeedsNoAccount(t *testing.T) {
	t.Parallel()
	for name, pay := range map[string]func(*testing.T, *coretest.Service) int{"payment": payAgain, "confirmation": confirmAgain} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			declining(s, "43", "")
			payByCard(t, s, "", "visa", 100)
			heal(s)
			s.MustExec(t, "DELETE FROM events")
			end := s.MustRefuse(t, "INSERT", "events", "TRUE")
			if status := pay(t, s); status != 504 {
				t.Fatalf("got %d, want 504", status)
			}
			end()
			s.Accounts.Enable()
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				t.Errorf("the acquirer got %+v", c)
				return acquirer.ErrUnknown
			}
			if open := s.Recover(t); open != 0 || lastDecline(t, s) != "retry_not_allowed" {
				t.Errorf("%d stay open, the last decline is %q", open, lastDecline(t, s))
			}
			if n := s.Number(t, "SELECT COUNT(*) FROM reversals"); n != 0 {
				t.Errorf("got %d pending reversals", n)
			}
		})
	}
}

// TestNoRetryLimitInTestMode: test mode counts nothing, and reads no count.
func TestNoRetryLimitInTestMode(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.MustExec(t, `INSERT INTO card_attempts (merchant_id, fingerprint, transaction_id, attempt, account, at, never)
		VALUES (?, 'aa11', 1, 0, 1, ?, 1)`, s.Tenant.Merchant, s.Clock.Now().UnixMilli())
	declining(s, "43", "03")
	for range 3 {
		if _, code := payByCard(t, s, "", "visa", 100); code != "do_not_honor" {
			t.Errorf("got %q, want do_not_honor", code)
		}
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 1 {
		t.Errorf("got %d attempts, want 1", n)
	}
}
