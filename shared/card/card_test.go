package card_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"4242424242424242": true, "378282246310005": true, "30569309025904": true, "4222222222222": true,
		"000000000000":        true,
		"0000000000000000000": true, "00000000000": false, "00000000000000000000": false, "4242424242424241": false,
		"4242424242424224": false,
		"424242424242424x": false, "-242424242424242": false, "4242 4242 4242 4242": false, "": false, "４２４２４２": false,
		strings.Repeat("0", 16) + "\n": false,
	} {
		if got := card.Valid(secret.New(number)); got != want {
			t.Errorf("%q: got %t, want %t", number, got, want)
		}
	}
}

// numbers draws texts of digits that end in their check digit.
func numbers() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		body := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), card.MinDigits-1, card.MaxDigits-1, -1).Draw(t, "body")
		return body + string(rune('0'+checkDigit(body)))
	})
}

// checkDigit is the textbook's way, by the sum of the digits of the products, as an oracle that
// shares no code with the package.
func checkDigit(body string) int {
	sum := 0
	for i, r := range body {
		weight := 1 + (len(body)-i)%2
		for _, d := range fmt.Sprint(int(r-'0') * weight) {
			sum += int(d - '0')
		}
	}
	return (10 - sum%10) % 10
}

// TestValidFindsEveryWrongDigit: the check digit finds every single wrong digit.
func TestValidFindsEveryWrongDigit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := numbers().Draw(t, "number")
		i := rapid.IntRange(0, len(number)-1).Draw(t, "place")
		for d := byte('0'); d <= '9'; d++ {
			changed := []byte(number)
			changed[i] = d
			if got, want := card.Valid(secret.New(string(changed))), d == number[i]; got != want {
				t.Fatalf("%s: got %t, want %t", changed, got, want)
			}
		}
	})
}

// TestValidFindsSwaps: every swap of two neighbouring digits is found, except of 09 and 90, which
// Luhn's formula cannot distinguish.
func TestValidFindsSwaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := []byte(numbers().Draw(t, "number"))
		i := rapid.IntRange(0, len(number)-2).Draw(t, "place")
		a, b := number[i], number[i+1]
		number[i], number[i+1] = b, a
		want := a == b || a+b == '0'+'9' && (a == '0' || a == '9')
		if got := card.Valid(secret.New(string(number))); got != want {
			t.Fatalf("%s: got %t, want %t", number, got, want)
		}
	})
}

// TestValidBoundsTheLength: a right check digit does not make a number of a text that is too short
// or too long.
func TestValidBoundsTheLength(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		body := strings.Repeat("7", n)
		number := secret.New(body + string(rune('0'+checkDigit(body))))
		if got, want := card.Valid(number), n+1 >= card.MinDigits && n+1 <= card.MaxDigits; got != want {
			t.Errorf("%d digits: got %t, want %t", n+1, got, want)
		}
	}
}
