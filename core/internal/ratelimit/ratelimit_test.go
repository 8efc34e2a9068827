package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/ratelimit"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

func TestTake(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(2)
	if got, want := l.Policy(), `"key";q=4;w=2`; got != want {
		t.Errorf("policy: got %s, want %s", got, want)
	}
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
		got := l.Take(1, birth.Add(c.after))
		if got != c.want || got.Field() != c.field {
			t.Errorf("after %s: got %+v %s, want %+v", c.after, got, got.Field(), c.want)
		}
	}
	if got := l.Take(2, birth); !got.Allowed || got.Remaining != 3 {
		t.Errorf("another key: got %+v", got)
	}
}

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(1)
	for key := range int64(ratelimit.MaxBuckets) {
		l.Take(key, birth)
	}
	// All are full again: one that is in use stays, the others go.
	now := birth.Add(time.Hour)
	l.Take(5, now)
	l.Take(5, now)
	l.Take(-1, now)
	if got, want := l.Len(), 2; got != want {
		t.Errorf("after an hour: got %d buckets, want %d", got, want)
	}
	if got := l.Take(5, now); got.Allowed {
		t.Error("the bucket in use was emptied and filled again")
	}
	for key := range int64(3 * ratelimit.MaxBuckets) {
		if l.Take(key, now); l.Len() > ratelimit.MaxBuckets {
			t.Fatalf("got %d buckets", l.Len())
		}
	}
}

func TestTakeAtOnce(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(50)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if l.Take(1, birth).Allowed {
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
	l := ratelimit.New(500)
	for b.Loop() {
		_ = l.Take(1, birth).Field()
	}
}
