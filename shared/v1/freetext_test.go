package v1_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestCardNumberInTextStops: after its first number, no more is made of a text than of one without any.
func TestCardNumberInTextStops(t *testing.T) { //nolint:paralleltest // allocations of other tests would count
	search := func(text string, want bool) uint64 {
		body := []byte(`{"description":"` + text + `"}`)
		return allocated(func() {
			if at, found := v1.CardNumberInText(body); found != want || found && at != "/description" {
				t.Errorf("found %t at %q", found, at)
			}
		})
	}
	const numbers, more = 4000, 8 << 10
	none := search(strings.Repeat("4242424242424241,", numbers), false)
	if full := search(strings.Repeat("4242424242424242,", numbers), true); full > none+more {
		t.Errorf("%d bytes for a text of %d numbers, and %d for one of none", full, numbers, none)
	}
}

// TestMaskCardNumbersIsLinear: the memory for a text full of numbers grows with its length and not
// faster.
func TestMaskCardNumbersIsLinear(t *testing.T) { //nolint:paralleltest // allocations of other tests would count
	mask := func(numbers int) uint64 {
		body := []byte(`{"description":"` + strings.Repeat("4242424242424242,x5555555555554444 ", numbers) + `"}`)
		return allocated(func() {
			clean, err := v1.MaskCardNumbers(body, secret.New("5555555555554444"))
			if err != nil || strings.Count(string(clean), "XXXXXXXXXXXX4242,xXXXXXXXXXXXX4444 ") != numbers {
				t.Errorf("got %s, %v", clean, err)
			}
		})
	}
	if short, long := mask(1000), mask(4000); long > 5*short {
		t.Errorf("%d bytes for 1000 numbers, and %d for 4000", short, long)
	}
}

// allocated returns how many bytes a function allocates. Its first call fills pools.
func allocated(do func()) uint64 {
	do()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
