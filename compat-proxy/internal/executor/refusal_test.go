package executor_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// refusing returns the named command with a Refusal of its kind instead of the payment.
func refusing(c command.Named) command.Named {
	c.Command = command.Refusal{Of: c.Kind()}
	return c
}

// final returns a payment in a request that is named by its evidence.
func final() command.Named {
	c := named(100)
	c.Final = true
	return c
}

// The bytes of a refused request have no effect at any proxy, even after an hour and many repeats.
func TestRefusalIsFinal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]command.Named{"by evidence": final(), "by the client": sending(100, "e")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			for i := range 3 {
				if r := b.result(t, i%2, refusing(c)); r.Outcome != command.Refused || r.Code != command.CodeNotPermitted {
					t.Fatalf("refusal %d: got %s %s, want %s", i, r.Outcome, r.Code, command.CodeNotPermitted)
				}
			}
			for i := range 4 {
				r := b.result(t, i%2, c)
				taken := r.Code == v1.CodeKeyReused || r.Code == command.CodeNameSpent
				if r.Outcome != command.Refused || !taken {
					t.Errorf("the same bytes: got %s %s, want a refusal", r.Outcome, r.Code)
				}
				b.clock.Advance(25 * time.Minute)
			}
			if got := b.v1.paid(); got != 0 {
				t.Errorf("got %d payments, want none", got)
			}
		})
	}
}

// A retry that is signed again is executed once under the name of a refused request. The refused
// bytes get their response again.
func TestRefusalLeavesTheClientsName(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.result(t, 0, refusing(sending(100, "e")))
	for i := range 3 {
		if r := b.result(t, i%2, sending(100, "f")); r.Outcome != command.Done || r.Fresh != (i == 0) {
			t.Errorf("retry %d: got %s, fresh %t", i, r.Outcome, r.Fresh)
		}
	}
	if r := b.result(t, 1, sending(100, "e")); r.Fresh || b.v1.paid() != 1 {
		t.Errorf("the refused bytes: got %s, fresh %t and %d payments, want one", r.Outcome, r.Fresh, b.v1.paid())
	}
}

// A refusal of bytes that were executed before, as after the loss of a scope, does not change their
// response.
func TestRefusalAfterTheEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]command.Named{"by evidence": final(), "by the client": sending(100, "e")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			made := b.result(t, 0, c)
			if r := b.result(t, 1, refusing(c)); r.Outcome != command.Refused || r.Code != command.CodeNotPermitted {
				t.Errorf("got %s %s, want %s", r.Outcome, r.Code, command.CodeNotPermitted)
			}
			r := b.result(t, 1, c)
			if r.Outcome != command.Done || r.Fresh || r.Transaction.ID != made.Transaction.ID || b.v1.paid() != 1 {
				t.Errorf("got %s, fresh %t and %d payments, want the first", r.Outcome, r.Fresh, b.v1.paid())
			}
		})
	}
}

// TestRefusalAfterAnother: v1 refused other bytes under the same name, and then the caller refuses
// these. A retry of these bytes is refused too, by the name's next key.
func TestRefusalAfterAnother(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.response = http.StatusConflict
	b.result(t, 0, sending(200, "e"))
	b.v1.response = http.StatusCreated
	if r := b.result(t, 1, refusing(sending(200, "f"))); r.Code != command.CodeNotPermitted {
		t.Errorf("got %s %s, want %s", r.Outcome, r.Code, command.CodeNotPermitted)
	}
	before := b.v1.paid()
	if r := b.result(t, 0, sending(200, "f")); r.Outcome != command.Refused || b.v1.paid() != before {
		t.Errorf("the same bytes: got %s and %d payments, want a refusal", r.Outcome, b.v1.paid()-before)
	}
	if r := b.result(t, 1, sending(200, "g")); r.Outcome != command.Done || !r.Fresh {
		t.Errorf("signed again: got %s, fresh %t, want a payment", r.Outcome, r.Fresh)
	}
}

// A refusal costs one reservation at v1, two under a client's name, and none without a name.
func TestReservationsOfARefusal(t *testing.T) {
	t.Parallel()
	for want, c := range []command.Command{
		command.Refusal{Of: command.PaymentAuthorize}, refusing(final()), refusing(sending(100, "e")),
	} {
		b := setupWindow(t, noon)
		if r := b.result(t, 0, c); r.Outcome != command.Refused || r.Code != command.CodeNotPermitted {
			t.Errorf("got %s %s, want %s", r.Outcome, r.Code, command.CodeNotPermitted)
		}
		if got := len(b.v1.keys); got != want {
			t.Errorf("got %d reservations, want %d: %q", got, want, b.v1.keys)
		}
	}
}

// A refusal that v1 did not store is returned as another result, because the client may send the
// same bytes again.
func TestRefusalThatIsNotStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]command.Named{"by evidence": final(), "by the client": sending(100, "e")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			b.v1.lostRequests = 100
			if r := b.result(t, 0, refusing(c)); r.Outcome != command.Unavailable {
				t.Errorf("got %s %s, want %s", r.Outcome, r.Code, command.Unavailable)
			}
			b.v1.hear()
			if r := b.result(t, 1, c); r.Outcome != command.Done || b.v1.paid() != 1 {
				t.Errorf("got %s and %d payments, want one", r.Outcome, b.v1.paid())
			}
		})
	}
}
