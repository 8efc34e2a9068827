package ratelimit_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/ratelimit"
)

// declined returns how many of n payments, each from the address that from returns, are declined
// before a limit refuses them. Each payment ends before the next one.
func declined(d *ratelimit.Declines, n int, address func(i int) string, now time.Time) (count int) {
	for i := range n {
		if v, end := d.Hold(from(address(i)), now); v.Allowed {
			end(now, true)
			count++
		}
	}
	return count
}

// wantAllowed checks that a payment from an address is allowed, and lets it be approved.
func wantAllowed(t *testing.T, d *ratelimit.Declines, address string, now time.Time) {
	t.Helper()
	v, end := d.Hold(from(address), now)
	if !v.Allowed {
		t.Errorf("%s: got %+v", address, v)
		return
	}
	end(now, false)
}

// TestDeclines: each address and each network has a limit. Beyond those and the key's, each IPv4
// address and each IPv6 network of 48 bits can still have a few declines.
func TestDeclines(t *testing.T) {
	t.Parallel()
	const n = 4000
	for name, c := range map[string]struct {
		address func(i int) string
		want    int
	}{
		"one address":         {func(int) string { return "203.0.113.7" }, 4},
		"one /64":             {func(i int) string { return fmt.Sprintf("2001:db8::%x", i) }, 4},
		"/64 of one /48":      {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 40 + 2},
		"/48 of one /32":      {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i%200) }, 100 + 2*200},
		"100 of one /24":      {func(i int) string { return fmt.Sprintf("203.0.113.%d", i%100) }, 40 + 2*100},
		"100 /24 of one /16":  {func(i int) string { return fmt.Sprintf("203.0.%d.1", i%100) }, 100 + 2*100},
		"addresses of no one": {func(int) string { return "" }, 100},
	} {
		address := c.address
		d := ratelimit.NewDeclines(50, 2)
		got := 0
		if address(0) == "" { // behind a proxy without the hop secret
			for range n {
				if v, end := d.Hold(ratelimit.Client{Key: 1, Group: shop}, birth); v.Allowed {
					end(birth, true)
					got++
				}
			}
		} else {
			got = declined(d, n, address, birth)
		}
		if got != c.want {
			t.Errorf("%s: got %d declines, want %d", name, got, c.want)
		}
	}
}

// TestDeclinesOfOthers: four addresses do not keep the rest of a network of 16 bits from paying.
// Nor do addresses that use up the limit of a network or the key.
func TestDeclinesOfOthers(t *testing.T) {
	t.Parallel()
	d := ratelimit.NewDeclines(500, 10)
	if got := declined(d, 80, func(i int) string { return fmt.Sprintf("100.64.%d.1", i%4) }, birth); got != 80 {
		t.Fatalf("got %d declines, want 80", got)
	}
	wantAllowed(t, d, "100.64.77.5", birth)
	declined(d, 1000, func(i int) string { return fmt.Sprintf("100.64.1.%d", 1+i%20) }, birth)
	if v, _ := d.Hold(from("100.64.1.2"), birth); v.Allowed {
		t.Errorf("an address of many declines: got %+v", v)
	}
	wantAllowed(t, d, "100.64.1.77", birth)
	declined(d, 5000, func(i int) string { return fmt.Sprintf("10.%d.0.1", i%100) }, birth)
	honest := "198.51.100.7"
	for range 100 { // approvals use up nothing
		wantAllowed(t, d, honest, birth)
	}
	_, first := d.Hold(from(honest), birth)
	_, second := d.Hold(from(honest), birth)
	if v, _ := d.Hold(from(honest), birth); v.Allowed || !v.Held {
		t.Errorf("while two have no outcome: got %+v", v)
	}
	first(birth, false)
	second(birth, false)
	if got := declined(d, 10, func(int) string { return honest }, birth); got != 2 {
		t.Errorf("beyond the key's limit: got %d declines, want 2", got)
	}
	v, _ := d.Hold(from(honest), birth)
	if v.Allowed || v.Held || v.Field() != `"key";r=0;t=7200` || v.Policy != `"key";q=1000;w=7200` || v.RetryAfter != 8 {
		t.Errorf("of the key: got %+v", v)
	}
	wantAllowed(t, d, honest, birth.Add(8*time.Second))
}

// TestDeclinesAtOnce: payments without an outcome hold their tokens, so concurrent ones do not
// exceed a limit. An approval gives its token back.
func TestDeclinesAtOnce(t *testing.T) {
	t.Parallel()
	d := ratelimit.NewDeclines(500, 10)
	c := from("203.0.113.7")
	var ends []func(time.Time, bool)
	for range 20 {
		v, end := d.Hold(c, birth)
		if !v.Allowed {
			t.Fatalf("payment %d: got %+v", len(ends), v)
		}
		ends = append(ends, end)
	}
	held, _ := d.Hold(c, birth)
	if held.Allowed || !held.Held || held.RetryAfter != 1 || held.Of != "address" {
		t.Errorf("while 20 have no outcome: got %+v", held)
	}
	wantAllowed(t, d, "203.0.113.8", birth)
	for i, end := range ends {
		end(birth, i < 19)
	}
	_, end := d.Hold(c, birth)
	end(birth, true)
	v, _ := d.Hold(c, birth)
	if v.Allowed || v.Held || v.Policy != `"address";q=20;w=7200` || v.RetryAfter != 360 {
		t.Errorf("after 20 declines: got %+v", v)
	}
	wantAllowed(t, d, "203.0.113.7", birth.Add(2*time.Hour))
}

// TestDeclinesWithoutLimits: 0 sets no limit.
func TestDeclinesWithoutLimits(t *testing.T) {
	t.Parallel()
	d := ratelimit.NewDeclines(0, 0)
	c := ratelimit.Client{Key: 1, Payer: netip.MustParseAddr("203.0.113.7")}
	for range 100 {
		v, end := d.Hold(c, birth)
		if !v.Allowed {
			t.Fatalf("got %+v", v)
		}
		end(birth, true)
	}
}
