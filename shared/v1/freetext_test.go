package v1_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestCardNumberInTextStops: after its first number, no more is made of a text than of one without
// any.
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

// TestFreeTextIsLinear: twice the body allocates twice the memory, with any names around its texts.
func TestFreeTextIsLinear(t *testing.T) { //nolint:paralleltest // allocations of other tests would count
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, body := range map[string]func(n int) string{
		"long name": func(n int) string {
			return `{"` + long(n/2) + `":["` + long(12) + `"` + strings.Repeat(`,"xxxxxxxxxxxx"`, n/30) + `]}`
		},
		"long name over names": func(n int) string {
			return `{"` + long(n/2) + `":[{}` + strings.Repeat(`,{"xxxxxxxxxxxx":"xxxxxxxxxxxx"}`, n/64) + `]}`
		},
		"deep": func(n int) string {
			depth := n / 64
			return strings.Repeat(`{"xxxxxxxxxxxxxx":"xxxxxxxxxxxxxx","b":`, depth) + "1" + strings.Repeat("}", depth)
		},
	} {
		check := func(call func(body []byte)) {
			var cost [3]uint64
			for i, size := range []int{64 << 10, 128 << 10, 256 << 10} {
				text := []byte(body(size))
				cost[i] = allocated(func() { call(text) })
			}
			if cost[1] > 3*cost[0] || cost[2] > 3*cost[1] || cost[2] > 40*256<<10 {
				t.Errorf("%s: %d bytes for 64 kB, %d for 128 kB, %d for 256 kB", name, cost[0], cost[1], cost[2])
			}
		}
		check(func(body []byte) {
			if at, found := v1.CardNumberInText(body); found {
				t.Errorf("%s: found a card number at %.40q", name, at)
			}
		})
		check(func(body []byte) {
			if clean, err := v1.MaskCardNumbers(body, secret.New("5555555555554444")); err != nil || len(clean) != len(body) {
				t.Errorf("%s: got %d bytes, %v", name, len(clean), err)
			}
		})
		check(func(body []byte) { // one number at the end makes it write the body anew
			text := slices.Concat([]byte("["), body, []byte(`,"4242424242424242"]`))
			if clean, err := v1.MaskCardNumbers(text); err != nil || !bytes.Contains(clean, []byte("XXXXXXXXXXXX4242")) {
				t.Errorf("%s: got %d bytes, %v", name, len(clean), err)
			}
		})
	}
}

// TestMaskedNamesStayApart: any number of names that are equal after masking get different keys.
// Neither the memory nor the body grows with the square of their number.
func TestMaskedNamesStayApart(t *testing.T) { //nolint:paralleltest // allocations of other tests would count
	mask := func(n int) uint64 {
		text := []byte(`{"metadata":{` + strings.Join(namesOfOneEnd(n), ",") + "}}")
		return allocated(func() {
			clean, err := v1.MaskCardNumbers(text)
			if err != nil || len(clean) > len(text)+6*n {
				t.Fatalf("%d names: got %d bytes of %d, %v", n, len(clean), len(text), err)
			}
			var got struct {
				Metadata map[string]string `json:"metadata"`
			}
			if err := json.Unmarshal(clean, &got); err != nil || len(got.Metadata) != n {
				t.Errorf("%d names: got %d, %v", n, len(got.Metadata), err)
			}
			if at, found := v1.CardNumberInText(clean); found {
				t.Errorf("found a card number at %q", at)
			}
		})
	}
	if short, long := mask(500), mask(2000); long > 6*short {
		t.Errorf("%d bytes for 500 names, and %d for 2000", short, long)
	}
}

// namesOfOneEnd returns n members whose names are card numbers that end alike.
func namesOfOneEnd(n int) (out []string) {
	for i := 0; len(out) < n; i++ {
		if number := fmt.Sprintf("4%011d4242", i); card.Valid(secret.New(number)) {
			out = append(out, `"`+number+`":"x"`)
		}
	}
	return out
}
