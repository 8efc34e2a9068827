package executor_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// TestDeduplication_showsTheStoredMethod: the executor reads the earlier payment if the command
// names a stored payment method, because only that payment has the charged source. Otherwise it
// reads nothing.
func TestDeduplication_showsTheStoredMethod(t *testing.T) {
	t.Parallel()
	stored := func(c *command.Authorize) {
		c.Body.Card, c.Body.PaymentMethod, c.Body.Customer = nil, "pm_1", new("cus_1")
	}
	for name, tt := range map[string]struct {
		change func(*command.Authorize)
		other  bool
		reads  int
		want   bool
	}{
		"another body":         {stored, true, 1, true},
		"the same body":        {stored, false, 0, true},
		"a card given in full": {func(*command.Authorize) {}, true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			if got, want := b.execute(t.Context(), 0, sale(120, tt.change)), command.Done; got != want {
				t.Fatalf("first: got %s, want %s", got, want)
			}
			again := sale(120, tt.change, func(c *command.Authorize) {
				if tt.other {
					c.Body.Description = new("another text")
				}
			})
			r := b.proxies[1].Execute(t.Context(), key, again)
			if r.Outcome != command.Repeated || (r.Transaction != nil) != tt.want || b.v1.reads != tt.reads {
				t.Errorf("got %s with %+v after %d reads, want %d", r.Outcome, r.Transaction, b.v1.reads, tt.reads)
			}
		})
	}
}

// A duplicate of a refund has the payment, even if it is found before the payment was read.
func TestDeduplication_refundAcrossSpans(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, midnight.Add(-time.Second))
	refund := command.Refund{
		Target: number, Amount: "1",
		Deduplication: command.Deduplication{Window: 120, Same: []string{"shop"}},
	}
	if got, want := b.execute(t.Context(), 0, refund), command.Done; got != want {
		t.Fatalf("first: got %s, want %s", got, want)
	}
	b.clock.Advance(2 * time.Second)
	r := b.proxies[1].Execute(t.Context(), key, refund)
	if r.Outcome != command.Repeated || r.Transaction == nil {
		t.Errorf("second: got %s of %+v, want it repeated, with the payment", r.Outcome, r.Transaction)
	}
}
