package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/ratelimit"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

// key returns a client with this key, which is the only one of its merchant.
func key(n int64) ratelimit.Client {
	return ratelimit.Client{Key: n, Group: ratelimit.Group{Merchant: n}}
}

func TestTake(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 2}, time.Second)
	for _, c := range []struct {
		after time.Duration
		want  ratelimit.Verdict
		field string
	}{
		{0, ratelimit.Verdict{Allowed: true, Remaining: 3, Reset: 1}, `"key";r=3;t=1`},
		{0, ratelimit.Verdict{Allowed: true, Remaining: 2, Reset: 1}, `"key";r=2;t=1`},
		{0, ratelimit.Verdict{Allowed: true, Remaining: 1, Reset: 2}, `"key";r=1;t=2`},
		{0, ratelimit.Verdict{Allowed: true, Remaining: 0, Reset: 2}, `"key";r=0;t=2`},
		{0, ratelimit.Verdict{Reset: 2, RetryAfter: 1}, `"key";r=0;t=2`},
		{499 * time.Millisecond, ratelimit.Verdict{Reset: 2, RetryAfter: 1}, `"key";r=0;t=2`},
		{500 * time.Millisecond, ratelimit.Verdict{Allowed: true, Remaining: 0, Reset: 2}, `"key";r=0;t=2`},
		{400 * time.Millisecond, ratelimit.Verdict{Reset: 2, RetryAfter: 1}, `"key";r=0;t=2`}, // the clock stepped back
		{time.Hour, ratelimit.Verdict{Allowed: true, Remaining: 3, Reset: 1}, `"key";r=3;t=1`},
	} {
		c.want.Policy, c.want.Of = `"key";q=4;w=2`, "key"
		got := l.Take(key(1), birth.Add(c.after))
		if got != c.want || got.Field() != c.field {
			t.Errorf("after %s: got %+v %s, want %+v", c.after, got, got.Field(), c.want)
		}
	}
	if got := l.Take(key(2), birth); !got.Allowed || got.Remaining != 3 {
		t.Errorf("another key: got %+v", got)
	}
}

// TestTakeOfMerchant: the keys of a merchant share an exact budget in addition to their own
// budgets. Other merchants, the other mode and public keys have separate ones.
func TestTakeOfMerchant(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 2, Merchant: 3}, time.Second)
	take := func(key, merchant int64, live, public bool) ratelimit.Verdict {
		group := ratelimit.Group{Merchant: merchant, Live: live, Public: public}
		return l.Take(ratelimit.Client{Key: key, Group: group}, birth)
	}
	for i := range int64(6) {
		if v := take(i/2, 1, false, false); !v.Allowed || v.Of != "key" || v.Policy != `"key";q=4;w=2` {
			t.Errorf("request %d: got %+v", i, v)
		}
	}
	v := take(9, 1, false, false)
	if v.Allowed || v.Field() != `"merchant";r=0;t=2` || v.Policy != `"merchant";q=6;w=2` || v.RetryAfter != 1 {
		t.Errorf("one more: got %+v", v)
	}
	for _, other := range []ratelimit.Verdict{
		take(10, 2, false, false), take(11, 1, true, false), take(12, 1, false, true),
	} {
		if !other.Allowed {
			t.Errorf("another group: got %+v", other)
		}
	}
}

// TestTakeOfKeyOverItsRate: requests over a key's own rate do not count towards the merchant's.
func TestTakeOfKeyOverItsRate(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 1, Merchant: 2}, time.Second)
	group := ratelimit.Group{Merchant: 1}
	for range 10 {
		l.Take(ratelimit.Client{Key: 1, Group: group}, birth)
	}
	for range 2 {
		if v := l.Take(ratelimit.Client{Key: 2, Group: group}, birth); !v.Allowed {
			t.Errorf("got %+v", v)
		}
	}
}

// TestTakeWithoutALimitOfKeys: the merchant's limit holds alone.
func TestTakeWithoutALimitOfKeys(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Merchant: 1}, time.Second)
	if v := l.Take(key(1), birth); !v.Allowed || v.Field() != `"merchant";r=1;t=1` {
		t.Errorf("got %+v", v)
	}
}

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 1}, time.Second)
	for n := range int64(ratelimit.MaxBuckets) {
		l.Take(key(n), birth)
	}
	// All buckets are full again. A bucket in use stays, the others are removed.
	now := birth.Add(time.Hour)
	l.Take(key(5), now)
	l.Take(key(5), now)
	l.Take(key(-1), now)
	if got, want := l.Len(), 2; got != want {
		t.Errorf("after an hour: got %d buckets, want %d", got, want)
	}
	if got := l.Take(key(5), now); got.Allowed {
		t.Error("the bucket in use was emptied and filled again")
	}
	for n := range int64(3 * ratelimit.MaxBuckets) {
		if l.Take(key(n), now); l.Len() > ratelimit.MaxBuckets {
			t.Fatalf("got %d buckets", l.Len())
		}
	}
}

func TestTakeAtOnce(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rates{Key: 50}, time.Second)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if l.Take(key(1), birth).Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got, want := allowed.Load(), int64(100); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

func BenchmarkTake(b *testing.B) {
	l := ratelimit.New(ratelimit.Rates{Key: 500}, time.Second)
	for b.Loop() {
		_ = l.Take(key(1), birth).Field()
	}
}
