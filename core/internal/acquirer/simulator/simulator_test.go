package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

var now = time.Date(2026, time.November, 21, 9, 30, 0, 123_456_789, time.UTC)

func mustOpen(tb testing.TB, cfg simulator.Config) *simulator.Simulator {
	tb.Helper()
	if cfg.Clock == nil {
		cfg.Clock = clock.NewFake(now)
	}
	s, err := simulator.Open(cfg)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}

// request returns an authorization of 19.99 on a fixture, by a payer who gave no address.
func request(tb testing.TB, s *simulator.Simulator, reference, paymentMethod string) acquirer.Authorize {
	tb.Helper()
	card, ok := s.Fixture(paymentMethod)
	if !ok {
		tb.Fatalf("no fixture %q", paymentMethod)
	}
	return acquirer.Authorize{Reference: reference, Amount: 1999, Currency: "usd", Source: acquirer.Source{Card: card}}
}

func mustAuthorize(tb testing.TB, s *simulator.Simulator, r acquirer.Authorize) acquirer.Response {
	tb.Helper()
	a, err := s.Authorize(tb.Context(), r)
	if err != nil {
		tb.Fatalf("authorize: %v", err)
	}
	return a
}

type verb func(context.Context, acquirer.Follow) (acquirer.Response, error)

func mustFollow(tb testing.TB, do verb, reference, authorization string, amount int64) acquirer.Response {
	tb.Helper()
	a, err := do(tb.Context(), acquirer.Follow{Reference: reference, Original: acquirer.Sent{Reference: authorization}, Amount: amount, Currency: "usd"})
	if err != nil {
		tb.Fatalf("follow: %v", err)
	}
	return a
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	t.Run("Approved", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		want := acquirer.Response{
			Approved: true, Code: "1FN7GO", NetworkTransactionID: "7UMSRRWZ7ZTZKFI2G56CJOO", ResponseCode: "00", Amount: 1999,
			ExpiresAt: now.Add(7 * 24 * time.Hour).Truncate(time.Millisecond),
			Checks:    acquirer.Checks{CVC: "not_provided", AddressLine: "not_provided", PostalCode: "not_provided"},
		}
		if got := mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa")); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("Captured immediately never lapses", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		r := request(t, s, "txn_1", "pm_card_visa")
		r.Capture = true
		if got := mustAuthorize(t, s, r); !got.Approved || !got.ExpiresAt.IsZero() {
			t.Errorf("got %+v, want an approval without expiry", got)
		}
	})
	t.Run("Declined", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		want := acquirer.Response{
			ResponseCode: "51", DeclineCode: "insufficient_funds",
			Checks: acquirer.Checks{CVC: "not_provided", AddressLine: "not_provided", PostalCode: "not_provided"},
		}
		if got := mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_insufficient_funds")); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("Verification of nothing", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		r := request(t, s, "txn_1", "pm_card_visa")
		r.Amount = 0
		if got := mustAuthorize(t, s, r); !got.Approved || got.Amount != 0 {
			t.Errorf("got %+v, want an approval of 0", got)
		}
	})
}

// TestAuthorize_catalogue takes every card that responds immediately.
func TestAuthorize_catalogue(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, simulator.Config{})
	for i, c := range s.Fixtures() {
		if c.Behaviour != "none" {
			continue
		}
		r := acquirer.Authorize{Reference: fmt.Sprint("txn_", i), Amount: 1999, Currency: "usd"}
		r.Card = acquirer.Card{Number: secret.New(c.Number), ExpMonth: 12, ExpYear: 2030}
		a := mustAuthorize(t, s, r)
		got := [...]any{a.Approved, a.DeclineCode, a.ResponseCode, a.Code != ""}
		if want := [...]any{c.Approved, c.DeclineCode, c.ResponseCode, c.Approved || c.DeclineCode == "incorrect_cvc"}; got != want {
			t.Errorf("%s %s: got %v, want %v", c.PaymentMethod, c.Number, got, want)
		}
	}
}

func TestAuthorize_rules(t *testing.T) {
	t.Parallel()
	const visa, lost, wrongCVC = "4242424242424242", "4000000000009987", "4000000000000127"
	for _, c := range []struct {
		name, number, cvc, line, postal string
		month, year                     int
		want                            string // decline code, response code, checks
	}{
		{name: "number not in the catalogue", number: "4000000000000218", want: " 00 not_provided not_provided not_provided"},
		{name: "wrong check digit", number: "4242424242424241", want: "card_not_supported 14 not_provided not_provided not_provided"},
		{name: "no number", want: "card_not_supported 14 not_provided not_provided not_provided"},
		{name: "this month", number: visa, month: 11, year: 2026, want: " 00 not_provided not_provided not_provided"},
		{name: "last month", number: visa, month: 10, year: 2026, want: "expired_card 54 not_provided not_provided not_provided"},
		{name: "no expiry", number: visa, want: " 00 not_provided not_provided not_provided"},
		{name: "cvc 900", number: visa, cvc: "900", want: " 00 match not_provided not_provided"},
		{name: "cvc 901", number: visa, cvc: "901", want: "incorrect_cvc N7 no_match not_provided not_provided"},
		{name: "cvc 902", number: visa, cvc: "902", want: "incorrect_cvc N7 not_processed not_provided not_provided"},
		{name: "cvc 903", number: visa, cvc: "903", want: "incorrect_cvc N7 unavailable not_provided not_provided"},
		{name: "cvc 904", number: visa, cvc: "904", want: " 00 not_processed not_provided not_provided"},
		{name: "another cvc", number: visa, cvc: "123", want: " 00 not_processed not_provided not_provided"},
		{name: "card with a wrong cvc", number: wrongCVC, cvc: "900", want: "incorrect_cvc N7 no_match not_provided not_provided"},
		{name: "address", number: visa, line: "1 Main", postal: "10001", want: " 00 not_provided match match"},
		{name: "postal code only", number: visa, postal: "10001", want: " 00 not_provided not_provided match"},
		{name: "line only", number: visa, line: "1 Main", want: " 00 not_provided match not_provided"},
		{name: "46282", number: visa, postal: "46282", want: "generic_decline 05 not_provided match match"},
		{name: "46201", number: visa, postal: "46201", want: " 00 not_provided match no_match"},
		{name: "46203", number: visa, postal: "46203", want: " 00 not_provided unavailable unavailable"},
		{name: "46205", number: visa, postal: "46205", want: " 00 not_provided no_match no_match"},
		{name: "46206", number: visa, postal: "46206", want: " 00 not_provided not_processed not_processed"},
		{name: "46208", number: visa, postal: "46208", want: " 00 not_provided not_processed not_processed"},
		{name: "46211", number: visa, postal: "46211", want: " 00 not_provided no_match match"},
		{name: "46214", number: visa, postal: "46214", want: " 00 not_provided match match"},
		{name: "46217", number: visa, postal: "46217", want: " 00 not_provided no_match match"},
		{name: "card before cvc", number: lost, cvc: "901", postal: "46282", want: "lost_card 41 no_match match match"},
		{name: "cvc before postal code", number: visa, cvc: "901", postal: "46282", want: "incorrect_cvc N7 no_match match match"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := mustOpen(t, simulator.Config{})
			card := acquirer.Card{Number: secret.New(c.number), CVC: secret.New(c.cvc), ExpMonth: c.month, ExpYear: c.year}
			a := mustAuthorize(t, s, acquirer.Authorize{
				Reference: "txn_1", Amount: 1999, Currency: "usd", Source: acquirer.Source{Card: card},
				Billing: acquirer.Billing{AddressLine: c.line, PostalCode: c.postal},
			})
			if got := fmt.Sprint(a.DeclineCode+" ", a.ResponseCode+" ", a.Checks.CVC+" ", a.Checks.AddressLine+" ", a.Checks.PostalCode); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, simulator.Config{})
	mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
	for _, c := range []struct {
		name      string
		do        verb
		reference string
		amount    int64
		decline   string
	}{
		{"capture", s.Capture, "cap_1", 1000, ""},
		{"capture refused", s.Capture, "cap_2", 141414, "processing_error"},
		{"refund", s.Refund, "re_1", 500, ""},
		{"refund refused", s.Refund, "re_2", 131313, "generic_decline"},
		{"refund of what a capture refuses", s.Refund, "re_3", 141414, ""},
		{"void refused", s.Void, "void_1", 151515, "processing_error"},
		{"capture after the refused void", s.Capture, "cap_3", 999, ""},
		{"void", s.Void, "void_2", 1999, ""},
		{"capture of what was voided", s.Capture, "cap_4", 999, "processing_error"},
		{"refund of what was captured before the void", s.Refund, "re_4", 500, ""},
	} {
		got := mustFollow(t, c.do, c.reference, "txn_1", c.amount)
		if got.Approved != (c.decline == "") || got.DeclineCode != c.decline {
			t.Errorf("%s: got %+v, want decline %q", c.name, got, c.decline)
		}
		if got.Approved && (got.Amount != c.amount || len(got.Code) != 6) {
			t.Errorf("%s: got %+v, want a code and amount %d", c.name, got, c.amount)
		}
		if (got.Checks != acquirer.Checks{}) || got.NetworkTransactionID != "" {
			t.Errorf("%s: got %+v, want no checks and no network transaction id", c.name, got)
		}
	}
	t.Run("Unknown authorization", func(t *testing.T) {
		t.Parallel()
		for i, do := range []verb{s.Capture, s.Refund} {
			if got := mustFollow(t, do, fmt.Sprint("late_", i), "txn_forgotten", 700); !got.Approved {
				t.Errorf("got %+v, want an approval", got)
			}
		}
	})
}

func TestVoid_beforeItsRequest(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, simulator.Config{})
	// Also an amount by which voids are refused: the reversal of an unseen request cannot fail.
	for i, amount := range []int64{1999, 151515} {
		reference := fmt.Sprint("txn_", i)
		if got := mustFollow(t, s.Void, fmt.Sprint("void_", i), reference, amount); !got.Approved {
			t.Fatalf("void: got %+v, want an approval", got)
		}
		if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: reference}); !errors.Is(err, acquirer.ErrNotFound) {
			t.Errorf("inquire: got %v, want %v", err, acquirer.ErrNotFound)
		}
		got := mustAuthorize(t, s, request(t, s, reference, "pm_card_visa"))
		if got.Approved || got.DeclineCode != "processing_error" || got.NetworkTransactionID != "" || got.Amount != 0 {
			t.Errorf("late: got %+v, want a decline that reached no network", got)
		}
	}
	mustFollow(t, s.Void, "void_capture", "cap_late", 1999)
	if got := mustFollow(t, s.Capture, "cap_late", "txn_other", 1999); got.Approved {
		t.Errorf("late capture: got %+v, want a decline", got)
	}
}

func TestRepeatedReference(t *testing.T) {
	t.Parallel()
	t.Run("Same response to any request", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		first := mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
		mustFollow(t, s.Void, "void_1", "txn_1", 1999)
		if got := mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_declined")); got != first {
			t.Errorf("got %+v, want %+v", got, first)
		}
		first = mustFollow(t, s.Refund, "re_1", "txn_1", 100)
		if got := mustFollow(t, s.Refund, "re_1", "txn_1", 131313); got != first {
			t.Errorf("got %+v, want %+v", got, first)
		}
	})
	t.Run("ErrOtherKind", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
		_, err := s.Void(t.Context(), acquirer.Follow{Reference: "txn_1", Original: acquirer.Sent{Reference: "txn_1"}, Amount: 1999})
		if !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("got %v, want %v", err, acquirer.ErrUnavailable)
		}
	})
	t.Run("Many concurrently", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, simulator.Config{})
		var approved [64]acquirer.Response
		var wg sync.WaitGroup
		for i := range approved {
			r := request(t, s, "txn_1", [...]string{"pm_card_visa", "pm_card_declined"}[i%2])
			wg.Go(func() {
				var err error
				if approved[i], err = s.Authorize(t.Context(), r); err != nil {
					t.Errorf("authorize: %v", err)
				}
			})
		}
		wg.Wait()
		for _, got := range approved {
			if got != approved[0] {
				t.Fatalf("got %+v, want %+v for all", got, approved[0])
			}
		}
	})
}

func TestReference_unfit(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, simulator.Config{})
	for _, reference := range []string{"", "two words", "line\nbreak", "é", strings.Repeat("x", 129)} {
		if _, err := s.Authorize(t.Context(), request(t, s, reference, "pm_card_visa")); !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("authorize %q: got %v, want %v", reference, err, acquirer.ErrUnavailable)
		}
		f := acquirer.Follow{Reference: "cap_1", Original: acquirer.Sent{Reference: reference}, Amount: 1}
		if _, err := s.Capture(t.Context(), f); !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("capture of %q: got %v, want %v", reference, err, acquirer.ErrUnavailable)
		}
	}
}

func TestFixture(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(now)
	s := mustOpen(t, simulator.Config{Clock: c})
	card, ok := s.Fixture(s.DefaultPaymentMethod())
	if !ok || card.Number.Reveal() != "4242424242424242" || card.ExpMonth != 12 || card.ExpYear != 2030 || !card.CVC.IsZero() {
		t.Errorf("got %v, %v, want the visa card until 12/2030 without cvc", card, ok)
	}
	c.Advance(10 * 365 * 24 * time.Hour)
	if card, _ = s.Fixture("pm_card_visa"); card.ExpYear != 2040 {
		t.Errorf("ten years later: got %d, want 2040", card.ExpYear)
	}
	for _, name := range []string{"", "card", "pm_card_none"} {
		if _, ok := s.Fixture(name); ok {
			t.Errorf("%q: got a card, want none", name)
		}
	}
}
