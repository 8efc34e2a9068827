package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestWorkOfCallers: payers take turns apart from the merchant's secret keys, and live mode from
// test mode. All commands of a caller wait in one queue.
func TestWorkOfCallers(t *testing.T) {
	t.Parallel()
	for _, want := range []store.Caller{
		{}, {Tenant: payment.Tenant{Merchant: 1}}, {Tenant: payment.Tenant{Merchant: 1, Live: true}, Payer: true},
	} {
		c := want
		c.Ends = true
		if w := c.Work(); w.Caller != want || !w.Ends || want.Work().Ends {
			t.Errorf("got %+v, want work of %+v that ends a step", w, want)
		}
	}
}

// TestListBounds: a merchant has one slot in each mode, and slow lists have half of them together.
// Lists of live mode, and of operators, have their turns before lists of test mode.
func TestListBounds(t *testing.T) {
	t.Parallel()
	b := store.ListBounds(4)
	if b.Slots != 4 || b.Share != 1 || b.Slow != 2 {
		t.Errorf("got %d slots, %d shared and %d slow, want 4, 1 and 2", b.Slots, b.Share, b.Slow)
	}
	for tenant, want := range map[payment.Tenant]bool{{}: false, {Merchant: 1, Live: true}: false, {Merchant: 1}: true} {
		if got := b.Later(tenant); got != want {
			t.Errorf("%+v: later: got %t, want %t", tenant, got, want)
		}
	}
}

// TestSlowListsOfAMinuteAgo: a kind of lists that was slow is quick again after a minute.
func TestSlowListsOfAMinuteAgo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := store.FindSlow()
		time.Sleep(time.Minute - time.Nanosecond)
		if !slow() {
			t.Error("quick before the time")
		}
		time.Sleep(time.Nanosecond)
		if slow() {
			t.Error("slow after the time")
		}
	})
}
