package simulator_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/shared/secret"
)

// debit returns a direct debit of 20.00.
func debit(number string) acquirer.Authorize {
	return acquirer.Authorize{
		Reference: "txn_1", Amount: 2000, Currency: "usd", Capture: true,
		Source: acquirer.Source{BankAccount: acquirer.BankAccount{
			Number: secret.New(number), RoutingNumber: "110000000", Type: "checking", Holder: "A. Payer",
		}},
	}
}

func TestAuthorize_bankAccount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, number string
		amount       int64
		want         string // decline code and response code
	}{
		{"in the catalogue", "000123456789", 2000, " 00"},
		{"not in the catalogue", "4711", 2000, " 00"},
		{"no money", "000111111116", 2000, "insufficient_funds 51"},
		{"declined", "000111111113", 2000, "generic_decline 05"},
		{"stopped", "000222222227", 2000, "do_not_honor 78"},
		{"at the limit", "4711", 500000, " 00"},
		{"over the limit", "4711", 500001, "limit_exceeded 61"},
		{"declined before the limit", "000111111116", 500001, "insufficient_funds 51"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := debit(c.number)
			r.Amount = c.amount
			a := mustAuthorize(t, mustOpen(t, simulator.Config{}), r)
			if got := a.DeclineCode + " " + a.ResponseCode; got != c.want || a.NetworkTransactionID != "" {
				t.Errorf("got %q and network transaction %q, want %q and none", got, a.NetworkTransactionID, c.want)
			}
		})
	}
	wrong := debit("4711")
	wrong.BankAccount.RoutingNumber = "110000001"
	if a := mustAuthorize(t, mustOpen(t, simulator.Config{}), wrong); a.Approved || a.ResponseCode != "14" {
		t.Errorf("a wrong routing number: got %+v", a)
	}
	text := regexp.MustCompile("(?m)^bank_account_limit: .*$").ReplaceAll(simulator.Embedded(), nil)
	r := debit("4711")
	r.Amount = 500001
	if a := mustAuthorize(t, mustOpen(t, simulator.Config{Catalogue: text}), r); !a.Approved {
		t.Errorf("without a limit: got %+v", a)
	}
}

func TestAuthorize_networkToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number      string
		month, year int
		want        string
	}{
		{"4242424242424242", 12, 2030, " 00"},
		{"4000000000009995", 12, 2030, "insufficient_funds 51"},
		{"4242424242424241", 12, 2030, "card_not_supported 14"},
		{"4242424242424242", 10, 2026, "expired_card 54"},
	} {
		token := acquirer.NetworkToken{Number: secret.New(c.number), ExpMonth: c.month, ExpYear: c.year, ECI: "05"}
		a := mustAuthorize(t, mustOpen(t, simulator.Config{}), acquirer.Authorize{
			Reference: "txn_1", Amount: 1999, Currency: "usd", Source: acquirer.Source{NetworkToken: token},
		})
		if got := a.DeclineCode + " " + a.ResponseCode; got != c.want {
			t.Errorf("%s: got %q, want %q", c.number, got, c.want)
		}
	}
}

func TestAuthorize_partially(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int64]int64{0: 0, 1: 1, 122: 122, 123: 123, 124: 123, 1999: 123} {
		whole := request(t, mustOpen(t, simulator.Config{}), "txn_1", "pm_card_visa")
		whole.Amount, whole.Billing.PostalCode = asked, "46225"
		if got := mustAuthorize(t, mustOpen(t, simulator.Config{}), whole); got.Approved != (asked <= 123) || got.Approved && got.Amount != asked {
			t.Errorf("%d, all or nothing: got %+v", asked, got)
		}
		journal := filepath.Join(t.TempDir(), "journal")
		s := mustOpen(t, simulator.Config{Journal: journal})
		r := request(t, s, "txn_1", "pm_card_visa")
		r.Amount, r.Billing.PostalCode, r.Partial = asked, "46228", true
		if got := mustAuthorize(t, s, r); !got.Approved || got.Amount != want {
			t.Errorf("%d: got %+v, want %d approved", asked, got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := mustOpen(t, simulator.Config{Journal: journal}).Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"})
		if err != nil || again.Amount != want || again.Balance != (acquirer.Balance{Given: true}) {
			t.Errorf("%d, asked after a restart: got %+v, %v, want %d", asked, again, err, want)
		}
	}
}

func TestAuthorize_approvedBefore(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	s := mustOpen(t, simulator.Config{Journal: journal})
	for reference, code := range map[string]string{"txn_1": "1", "txn_2": "A1B2C3"} {
		r := request(t, s, reference, "pm_card_lost")
		r.PriorCode, r.Capture, r.Card.CVC, r.Billing.PostalCode = code, true, secret.New("901"), "46282"
		got := mustAuthorize(t, s, r)
		if !got.Approved || got.Code != code || got.NetworkTransactionID != "" || got.Checks.CVC != "not_processed" || got.Checks.AddressLine != "not_provided" {
			t.Errorf("got %+v", got)
		}
		again, err := mustOpen(t, simulator.Config{Journal: journal}).Inquire(t.Context(), acquirer.Sent{Reference: reference})
		if err != nil || again != got {
			t.Errorf("after a restart: got %+v, %v, want %+v", again, err, got)
		}
	}
	wrong := request(t, s, "txn_3", "pm_card_visa")
	wrong.PriorCode, wrong.Card.Number = "1", secret.New("4242424242424241")
	if got := mustAuthorize(t, s, wrong); got.Approved || got.ResponseCode != "14" {
		t.Errorf("a wrong number: got %+v", got)
	}
}

func TestCatalogue_mistakesOfSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{"approve_amount", "approve_amount: 123", "approve_amount: -1", `postal_codes "46225"`},
		{"approve_amount and decline", "approve_amount: 123", `approve_amount: 1, decline_code: lost_card, response_code: "41"`, "approve_amount"},
		{"balance and decline", "balance: 123", `balance: 1, decline_code: lost_card, response_code: "41"`, "balance"},
		{"too little", `too_little: {decline_code: insufficient_funds`, `too_little: {decline_code: no_funds`, "declines: too_little"},
		{"account number", `"000123456789"`, `"12x4"`, "bank_accounts, entry 1: account_number"},
		{"account twice", `"000111111116"`, `"000123456789"`, "bank_accounts, entry 2: account_number"},
		{"outcome", `"000123456789", outcome: approve`, `"000123456789", outcome: maybe`, "bank_accounts, entry 1: outcome"},
		{"limit amount", "{amount: 500000", "{amount: 0", "bank_account_limit: amount"},
		{"limit decline", "{amount: 500000, decline_code: limit_exceeded, ", "{amount: 500000, ", "bank_account_limit: decline_code"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(string(simulator.Embedded()), c.old, c.new, 1)
			if text == string(simulator.Embedded()) {
				t.Fatalf("the catalogue has no %q", c.old)
			}
			if _, err := simulator.Open(simulator.Config{Catalogue: []byte(text)}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to name %q", err, c.want)
			}
		})
	}
}
