package ratelimit_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/ratelimit"
)

// shop stands for the publishable keys of a merchant.
var shop = ratelimit.Group{Merchant: 1, Public: true}

// from returns a payer of the shop at an address.
func from(address string) ratelimit.Client {
	return ratelimit.Client{Key: 1, Group: shop, Payer: netip.MustParseAddr(address)}
}

// allowed sends n concurrent requests, each from the address that from returns. It returns how many
// were allowed.
func allowed(l *ratelimit.Limiter, n int, address func(i int) string) (count int) {
	for i := range n {
		if l.Take(from(address(i)), birth).Allowed {
			count++
		}
	}
	return count
}

// TestTakeOfPayers: each network of a payer has a budget, and requests beyond it leave the key's
// budget to other payers.
func TestTakeOfPayers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address func(i int) string
		want    int
	}{
		"one address":      {func(int) string { return "203.0.113.7" }, 4},
		"one /64":          {func(i int) string { return fmt.Sprintf("2001:db8::%x", i) }, 4},
		"/64 of one /48":   {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 8},
		"/48 of one /32":   {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, 16},
		"/24":              {func(i int) string { return fmt.Sprintf("203.0.113.%d", i) }, 8},
		"/24 of one /16":   {func(i int) string { return fmt.Sprintf("203.0.%d.1", i) }, 16},
		"/16 and no limit": {func(i int) string { return fmt.Sprintf("203.%d.0.1", i) }, 40},
	} {
		l := ratelimit.New(ratelimit.Rates{Key: 20, Payer: 2}, time.Second)
		if got := allowed(l, 200, c.address); got != c.want {
			t.Errorf("%s: got %d requests, want %d", name, got, c.want)
		}
		rest := 40 - c.want
		if got := allowed(l, rest+1, func(i int) string { return fmt.Sprintf("10.%d.0.1", i) }); got != rest {
			t.Errorf("%s: got %d requests of other payers, want %d", name, got, rest)
		}
	}
}

// TestVerdictOfPayers: the verdict names the network that refused a request, else the key.
func TestVerdictOfPayers(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 20, Payer: 1}, time.Second)
	for _, c := range []struct{ address, policy, field string }{
		{"2001:db8::1", `"key";q=40;w=2`, `"key";r=39;t=1`},
		{"2001:db8::2", `"key";q=40;w=2`, `"key";r=38;t=1`},
		{"2001:db8::3", `"address";q=2;w=2`, `"address";r=0;t=2`},
		{"2001:db8:0:1::3", `"key";q=40;w=2`, `"key";r=37;t=1`},
		{"2001:db8:0:2::3", `"key";q=40;w=2`, `"key";r=36;t=1`},
		{"2001:db8:0:3::3", `"network";q=4;w=2`, `"network";r=0;t=2`},
	} {
		if got := l.Take(from(c.address), birth); got.Policy != c.policy || got.Field() != c.field {
			t.Errorf("%s: got %s of %s, want %s of %s", c.address, got.Field(), got.Policy, c.field, c.policy)
		}
	}
	if got := l.Take(from("2001:db8::1"), birth.Add(time.Second)); got.Field() != `"key";r=39;t=1` {
		t.Errorf("a second later: got %s", got.Field())
	}
	alone := ratelimit.New(ratelimit.Rates{Payer: 1}, time.Second)
	if got := alone.Take(from("2001:db8::1"), birth); got.Field() != `"address";r=1;t=1` {
		t.Errorf("without other limits: got %+v", got)
	}
	if got := alone.Take(ratelimit.Client{Key: 1}, birth); !got.Allowed || got.Policy != "" {
		t.Errorf("without a payer: got %+v", got)
	}
}

// TestPayersShareNoBudget: all keys of a merchant share one budget for a payer. Other merchants,
// the other mode and requests without a payer have separate budgets.
func TestPayersShareNoBudget(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 20, Merchant: 20, Payer: 1}, time.Second)
	payer := from("203.0.113.7")
	for range 2 {
		l.Take(payer, birth)
	}
	other := payer
	other.Key = 2
	if got := l.Take(other, birth); got.Allowed || got.Of != "address" {
		t.Errorf("another key of the merchant: got %+v", got)
	}
	for _, c := range []ratelimit.Client{
		{Key: 3, Group: ratelimit.Group{Merchant: 2, Public: true}, Payer: payer.Payer},
		{Key: 4, Group: ratelimit.Group{Merchant: 1, Public: true, Live: true}, Payer: payer.Payer},
		{Key: 1, Group: shop},
		{Key: 5, Group: ratelimit.Group{Merchant: 1}},
	} {
		if got := l.Take(c, birth); !got.Allowed {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
}

// TestTakeForbidden: requests for which a key lacks the right do not count towards the key's
// budget.
func TestTakeForbidden(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 2, Payer: 1}, time.Second)
	for i, want := range []string{`"address";r=1;t=1`, `"address";r=0;t=2`, `"address";r=0;t=2`} {
		if got := l.TakeForbidden(from("203.0.113.7"), birth); got.Field() != want || got.Allowed != (i < 2) {
			t.Errorf("request %d: got %+v", i, got)
		}
	}
	if got := l.Take(from("10.0.0.1"), birth); got.Field() != `"key";r=3;t=1` {
		t.Errorf("another payer: got %+v", got)
	}
	if got := l.TakeForbidden(ratelimit.Client{Key: 1, Group: shop}, birth); got.Field() != `"key";r=2;t=1` {
		t.Errorf("without a payer: got %+v", got)
	}
}

// TestManyAddressesAreOneNetwork: a client with more addresses than there are buckets gets the
// share of its network, and the memory is bounded.
func TestManyAddressesAreOneNetwork(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 1000, Payer: 1}, time.Second)
	const flood = 5 * ratelimit.MaxBuckets
	if got, want := allowed(l, flood, func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }), 4; got != want {
		t.Errorf("of one /48: got %d requests, want %d", got, want)
	}
	if got, want := allowed(l, flood, func(i int) string { return fmt.Sprintf("2001:db9:%x::1", i) }), 8; got != want {
		t.Errorf("of one /32: got %d requests, want %d", got, want)
	}
	if got := l.LenOfPayers(); got > ratelimit.MaxBuckets {
		t.Errorf("got %d buckets", got)
	}
}

// TestUsedBucketsStay: if all buckets are in use, the emptiest ones stay.
func TestUsedBucketsStay(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 2}, time.Second)
	for range 4 {
		l.Take(key(-1), birth)
	}
	for n := range int64(20 * ratelimit.MaxBuckets) {
		if l.Take(key(n), birth); l.Len() > ratelimit.MaxBuckets {
			t.Fatalf("got %d buckets", l.Len())
		}
	}
	if got := l.Take(key(-1), birth); got.Allowed {
		t.Errorf("the empty bucket was filled again: got %+v", got)
	}
}

func BenchmarkTakeOfPayer(b *testing.B) {
	l := ratelimit.New(ratelimit.Rates{Key: 500, Merchant: 2000, Payer: 50}, time.Second)
	payer := from("2001:db8::1")
	for b.Loop() {
		_ = l.Take(payer, birth).Field()
	}
}
