package card_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestBrandOf(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]card.Brand{
		"4242424242424242": card.Visa, "4": card.Visa,
		"5105105105105100": card.Mastercard, "5599999999999999": card.Mastercard, "2221000000000000": card.Mastercard,
		"2720990000000000": card.Mastercard,
		"2220990000000000": card.Unknown, "2721000000000000": card.Unknown, "5000000000000000": card.Unknown,
		"5600000000000000": card.Unknown,
		"340000000000000":  card.Amex, "370000000000000": card.Amex, "350000000000000": card.Unknown,
		"360000000000000": card.Diners, "380000000000000": card.Diners, "390000000000000": card.Diners,
		"300000000000000": card.Diners,
		"305999999999999": card.Diners, "306000000000000": card.Unknown,
		"3528000000000000": card.JCB, "3589000000000000": card.JCB, "3527000000000000": card.Unknown,
		"3590000000000000": card.Unknown,
		"3088000000000000": card.JCB, "3087000000000000": card.Unknown, "3089000000000000": card.Unknown,
		"6011000000000000": card.Discover, "6012000000000000": card.Unknown, "6440000000000000": card.Discover,
		"6430000000000000": card.Unknown,
		"6500000000000000": card.Discover, "6600000000000000": card.Unknown,
		"6200000000000000": card.UnionPay, "8100000000000000": card.UnionPay, "8200000000000000": card.Unknown,
		"501800000000": card.Maestro, "502000000000": card.Maestro, "503800000000": card.Maestro,
		"589300000000": card.Maestro,
		"630400000000": card.Maestro, "675900000000": card.Maestro, "676100000000": card.Maestro,
		"676300000000": card.Maestro,
		"501900000000": card.Unknown, "676000000000": card.Unknown, "676400000000": card.Unknown,
		"630500000000": card.Unknown,
		"":             card.Unknown, "x": card.Unknown, "3x": card.Unknown, "3": card.Unknown, "٤": card.Unknown,
	} {
		if got := card.BrandOf(secret.New(number)); got != want {
			t.Errorf("%q: got %s, want %s", number, got, want)
		}
	}
}

// TestRangesDoNotMeet walks every prefix of four digits and counts the prefixes of each brand. A
// slip in the table changes a count, and so does a range that lies in another one.
func TestRangesDoNotMeet(t *testing.T) {
	t.Parallel()
	got := map[card.Brand]int{}
	for n := range 10_000 {
		prefix := string([]byte{byte('0' + n/1000), byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)})
		got[card.BrandOf(secret.New(prefix))]++
	}
	for brand, want := range map[card.Brand]int{
		card.Visa: 1000, card.Mastercard: 500 + 500, card.Amex: 200, card.Discover: 1 + 60 + 100, card.Diners: 60 + 300,
		card.JCB:      1 + 62,
		card.UnionPay: 200, card.Maestro: 9, card.Unknown: 10_000 - 2_993,
	} {
		if got[brand] != want {
			t.Errorf("%s: got %d prefixes, want %d", brand, got[brand], want)
		}
	}
}

func TestFitsNumber(t *testing.T) {
	t.Parallel()
	for brand, want := range map[card.Brand][]int{
		card.Visa: {13, 16, 19}, card.Mastercard: {16}, card.Amex: {15}, card.Discover: {16, 17, 18, 19},
		card.Diners: {14, 15, 16, 17, 18, 19},
		card.JCB:    {16, 17, 18, 19}, card.UnionPay: {16, 17, 18, 19}, card.Maestro: {12, 13, 14, 15, 16, 17, 18, 19},
		card.Unknown: {12, 13, 14, 15, 16, 17, 18, 19}, "dollars": nil,
	} {
		fits := map[int]bool{}
		for _, n := range want {
			fits[n] = true
		}
		for n := range 25 {
			if got := brand.FitsNumber(secret.New(strings.Repeat("4", n))); got != fits[n] {
				t.Errorf("%s of %d digits: got %t, want %t", brand, n, got, fits[n])
			}
		}
	}
}

func TestFitsCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code              string
		amex, visa, other bool
	}{
		{"", false, false, false},
		{"12", false, false, false},
		{"123", false, true, true},
		{"1234", true, false, true},
		{"12345", false, false, false},
		{"12a", false, false, false},
		{"12 4", false, false, false},
		{"١٢٣", false, false, false},
	} {
		for brand, want := range map[card.Brand]bool{
			card.Amex: c.amex, card.Visa: c.visa, card.Maestro: c.other,
			card.Unknown: c.other,
		} {
			if got := brand.FitsCode(secret.New(c.code)); got != want {
				t.Errorf("%s, %q: got %t, want %t", brand, c.code, got, want)
			}
		}
	}
}

// TestBrandIsOfTheFirstDigits: the digits after the first four change nothing.
func TestBrandIsOfTheFirstDigits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := numbers().Draw(t, "number")
		rest := rapid.String().Draw(t, "rest")
		if got, want := card.BrandOf(secret.New(number[:4]+rest)), card.BrandOf(secret.New(number)); got != want {
			t.Fatalf("%s: got %s, want %s", number, got, want)
		}
	})
}
