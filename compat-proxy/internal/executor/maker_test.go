package executor_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// TestCreateCustomerWithOtherCardsAfterADeath: an incomplete customer with a card blocks requests
// with other cards, until it counts as abandoned.
func TestCreateCustomerWithOtherCardsAfterADeath(t *testing.T) {
	t.Parallel()
	const attached = 4 // list, two tokens, create, then this
	for at := range 7 {
		for _, after := range []bool{false, true} {
			if at == 6 && after {
				continue // the customer is complete then
			}
			b := setupCustomers(t)
			b.make(t, &failing{left: at, after: after}, ana(visa, mastercard))
			if at > attached || at == attached && after {
				if r := b.whole(t, ana(mastercard)); r.Outcome != command.Unavailable {
					t.Errorf("call %d, after v1 %t: immediately: got %+v, want unavailable", at, after, r)
				}
				b.v1.clock.Advance(4 * time.Minute)
			}
			if r := b.whole(t, ana(mastercard)); r.Outcome != command.Done {
				t.Errorf("call %d, after v1 %t: got %+v, want done", at, after, r)
			}
			b.mustKeep(t, mastercard)
		}
	}
}

// An incomplete customer with attached cards does not become the customer of a request without
// cards.
func TestCreateCustomerWithoutCardsAfterADeath(t *testing.T) {
	t.Parallel()
	// The proxy dies at the first attachment, then at the second.
	for at, want := range map[int]command.Outcome{4: command.Done, 5: command.Unavailable} {
		b := setupCustomers(t)
		b.make(t, &failing{left: at}, ana(visa, mastercard))
		if r := b.whole(t, ana()); r.Outcome != want {
			t.Errorf("call %d: immediately: got %+v, want %s", at, r, want)
		}
		b.v1.clock.Advance(4 * time.Minute)
		if r := b.whole(t, ana()); r.Outcome != command.Done && want != command.Done {
			t.Errorf("call %d: later: got %+v, want done", at, r)
		}
		b.mustKeep(t)
	}
}

func TestCreateCustomerADayAfterADeath(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.make(t, &failing{left: 4}, ana(visa))
	b.v1.forget()
	if r := b.whole(t, ana(visa)); r.Outcome != command.Done {
		t.Errorf("got %+v, want done", r)
	}
	b.mustKeep(t, visa)
}

// A token of an earlier attempt may have expired.
func TestCreateCustomerAnHourAfterADeath(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.make(t, &failing{left: 3}, ana(visa)) // a token and a customer exist
	b.v1.mu.Lock()
	for name := range b.v1.tokens {
		b.v1.tokens[name] = ""
	}
	b.v1.mu.Unlock()
	if r := b.whole(t, ana(visa)); r.Outcome != command.Done {
		t.Errorf("got %+v, want done", r)
	}
	b.mustKeep(t, visa)
}
