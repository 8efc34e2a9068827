package providerb_test

import (
	"math/rand/v2"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// planted loses requests and responses at random: of payments, and of their undoing. Each payment
// must end, and v1 must have taken money for exactly the payments that were approved.
func planted(t *testing.T, s *standalone) {
	t.Helper()
	wire := newLosing(t, s)
	a := s.timed(t, wire.URL)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	fault := func() {
		n := draw.IntN(3)
		wire.request.Store(n == 1)
		wire.response.Store(n == 2)
	}
	outcomes := map[string]int{}
	for range 80 {
		r := payment(1+draw.Int64N(9000), draw.IntN(2) == 0)
		sent := a.sentOf(t, &r)
		fault()
		got, err := a.Authorize(t.Context(), r)
		outcome := result(got, err)
		sent.Tag = minute.of(sent.Tag)
		for i := 0; outcome == "unknown"; i++ {
			if fault(); i > 5 { // the faults end, and a day passes
				sent.Tag = day.of(sent.Tag)
				a.pass(day.by)
			}
			got, err = a.Inquire(t.Context(), sent)
			outcome = result(got, err)
			if i > 50 || outcome == "unavailable" || outcome == "declined" {
				t.Fatalf("inquiry %d: got %+v and %v", i, got, err)
			}
		}
		wire.request.Store(false)
		wire.response.Store(false)
		outcomes[outcome]++
		a.check(t, outcome, &r)
	}
	for _, outcome := range []string{"approved", "released", "not_found"} {
		if outcomes[outcome] == 0 {
			t.Errorf("outcomes %v: want some %s", outcomes, outcome)
		}
	}
}

// check compares v1 with the outcome of a payment.
func (a *account) check(t *testing.T, outcome string, r *acquirer.Authorize) {
	t.Helper()
	found := a.find(t, r.Reference)
	switch {
	case outcome == "not_found" && len(found) == 0:
	case outcome == "released" && len(found) == 1 && found[0].Status == v1.TransactionStatusVoided:
	case outcome == "approved" && len(found) == 1 && found[0].AmountAuthorized == r.Amount &&
		(found[0].AmountCaptured == r.Amount) == r.Capture:
	default:
		t.Errorf("%s of %d: v1 has %+v", outcome, r.Amount, found)
	}
}
