package providerb_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// TestRefundUnderAWrongClock: the provider does not have a lost refund yet, and its payment shows
// none. A clock that is a day off for a moment does not end the refund. It ends once the time has
// passed.
func TestRefundUnderAWrongClock(t *testing.T) {
	t.Parallel()
	const refunds = "/pts/v2/payments/1/refunds"
	for name, c := range map[string]struct {
		before, after time.Duration // how far the clock is ahead at the request, and at the inquiry
		sent          bool          // by this process
		want          []string      // outcomes of attempts each hour, the last one after the whole time
	}{
		"ahead at the inquiry":                    {0, 25 * time.Hour, true, []string{"unknown", "unknown", "not_found"}},
		"behind at the request":                   {-25 * time.Hour, 0, true, []string{"unknown", "unknown", "not_found"}},
		"ahead at the inquiry of another process": {0, 25 * time.Hour, false, []string{"unknown", "unknown", "not_found"}},
		"behind at the request of another one":    {-25 * time.Hour, 0, false, []string{"unknown", "unknown", "not_found"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			s.respond(script{
				refunds: "", "/pts/v2/voids": noMatch,
				pathLook: `200 {"id":"1","status":"PENDING",` +
					`"orderInformation":{"amountDetails":{"refundBalance":"10.00","currency":"USD"}}}`,
			})
			s.clock.Step(c.before)
			r := acquirer.Follow{
				Reference: "refund", Amount: 300, Currency: "usd",
				Original: acquirer.Sent{Kind: acquirer.Sale, ID: "1", Amount: 1000, Currency: "usd"},
			}
			r.Tag, _ = s.Prepare(t.Context())
			if c.sent {
				if got, err := s.Refund(t.Context(), r); result(got, err) != "unknown" {
					t.Fatalf("the refund: got %+v and %v, want its response lost", got, err)
				}
			}
			r.Again = true
			s.clock.Advance(time.Minute)
			s.clock.Step(c.after - c.before)
			for i, want := range c.want {
				if got, err := s.Refund(t.Context(), r); result(got, err) != want {
					t.Errorf("attempt %d: got %+v and %v, want %s", i, got, err, want)
				}
				if s.clock.Advance(time.Hour); i == len(c.want)-2 {
					s.clock.Advance(24 * time.Hour)
				}
			}
		})
	}
}

// TestMissingBeyondTheConnector: a restart or a change of the account opens another connector. It
// continues the time for which an operation has been missing.
func TestMissingBeyondTheConnector(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	s.respond(script{byReversal: noMatch})
	about := acquirer.Sent{
		Kind: acquirer.Authorization, Reference: "lost", Amount: 300, Currency: "usd",
		Tag: s.clock.Now().Format(time.RFC3339),
	}
	s.clock.Advance(time.Minute)
	for hours, want := range []string{"unknown", "unknown", "not_found"} {
		s.reopen(t)
		if got, err := s.Inquire(t.Context(), about); result(got, err) != want {
			t.Errorf("after %d times 12 hours: got %+v and %v, want %s", hours, got, err, want)
		}
		s.clock.Advance(12 * time.Hour)
	}
}

// TestFoundIsNeverMissing: the provider has had an operation that it cannot undo. It forgets the
// operation, or did not have it at first. The operation had an effect, so it stays unknown.
func TestFoundIsNeverMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  acquirer.Kind
		found script
	}{
		"sale":                   {acquirer.Sale, script{byReversal: settled, byVoid: notVoidable}},
		"sale without a void":    {acquirer.Sale, script{byReversal: eitherWay, byVoid: notVoidable}},
		"capture":                {acquirer.Capture, script{byVoid: notVoidable}},
		"refund":                 {acquirer.Refund, script{byVoid: notVoidable}},
		"refund without payment": {acquirer.UnlinkedRefund, script{byVoid: notVoidable}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			about := acquirer.Sent{
				Kind: c.kind, Reference: "lost", Amount: 300, Currency: "usd", Tag: s.clock.Now().Format(time.RFC3339),
			}
			gone := script{byReversal: noMatch, byVoid: noMatch}
			s.clock.Advance(time.Minute)
			for i, r := range []script{gone, c.found, gone, gone, gone} {
				s.respond(r)
				got, err := s.Inquire(t.Context(), about)
				if result(got, err) != "unknown" || i > 1 && !errors.Is(err, acquirer.ErrUndecided) {
					t.Errorf("look %d: got %+v and %v, want it unknown, and undecided at the end", i, got, err)
				}
				s.reopen(t)
				s.clock.Advance(20 * time.Hour)
			}
		})
	}
}

// TestRefusedAuthorizationEnds: the provider refuses to release an authorization, for example
// because it approved a part. Without its id it cannot be captured, so it lapses and moves no
// money. It ends when the provider has not found it for a day.
func TestRefusedAuthorizationEnds(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{refusal("EXCEEDS_AUTH_AMOUNT"), settled, eitherWay} {
		s := newScripted(t)
		about := acquirer.Sent{
			Kind: acquirer.Authorization, Reference: "lost", Amount: 300, Currency: "usd",
			Tag: s.clock.Now().Format(time.RFC3339),
		}
		s.clock.Advance(time.Minute)
		for i, response := range []string{refused, noMatch, noMatch} {
			s.respond(script{byReversal: response})
			got, err := s.Inquire(t.Context(), about)
			if want := []string{"unknown", "unknown", "not_found"}[i]; result(got, err) != want {
				t.Errorf("%s, look %d: got %+v and %v, want %s", refused, i, got, err, want)
			}
			s.clock.Advance(24 * time.Hour)
		}
	}
}

// TestFirstLookAfterTheProviderForgot: core was away, or an old backup was restored. The provider
// may have had the operation and forgotten it, so that it does not find it proves nothing.
func TestFirstLookAfterTheProviderForgot(t *testing.T) {
	t.Parallel()
	for _, kind := range []acquirer.Kind{
		acquirer.Sale, acquirer.Authorization, acquirer.Capture, acquirer.Refund, acquirer.UnlinkedRefund,
	} {
		for days, want := range map[time.Duration]string{29: "not_found", 31: "unknown"} {
			s := newScripted(t)
			s.respond(script{byReversal: noMatch, byVoid: noMatch})
			about := acquirer.Sent{
				Kind: kind, Reference: "lost", Amount: 300, Currency: "usd", Tag: s.clock.Now().Format(time.RFC3339),
			}
			s.clock.Advance(days * 24 * time.Hour)
			var got acquirer.Response
			var err error
			for range 3 {
				got, err = s.Inquire(t.Context(), about)
				s.clock.Advance(24 * time.Hour)
			}
			if result(got, err) != want || want == "unknown" && !errors.Is(err, acquirer.ErrUndecided) {
				t.Errorf("%s after %d days: got %+v and %v, want %s", kind, days, got, err, want)
			}
		}
	}
}

// TestRefusalThatFindsNothing: a refusal that is about the request or the account does not end the
// time for which an operation has been missing.
func TestRefusalThatFindsNothing(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"NOT_SUPPORTED", "MISSING_FIELD", "INVALID_MERCHANT_CONFIGURATION", "PROCESSOR_UNAVAILABLE", "DUPLICATE_REQUEST",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			about := acquirer.Sent{
				Kind: acquirer.Capture, Reference: "lost", Amount: 300, Currency: "usd",
				Tag: s.clock.Now().Format(time.RFC3339),
			}
			s.clock.Advance(time.Minute)
			last := ""
			for _, response := range []string{noMatch, refusal(reason), noMatch} {
				s.respond(script{byVoid: response})
				last = result(s.Inquire(t.Context(), about))
				s.clock.Advance(20 * time.Hour)
			}
			if last != "not_found" {
				t.Errorf("got %s, want that it is not found", last)
			}
		})
	}
}
