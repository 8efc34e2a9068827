package card_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/card"
)

func TestBrand(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"4242424242424242": "visa", "4": "visa", "5105105105105100": "mastercard", "5599999999999999": "mastercard", "5000000000000000": "unknown",
		"5600000000000000": "unknown", "2220990000000000": "unknown", "2221000000000000": "mastercard", "2720990000000000": "mastercard",
		"2721000000000000": "unknown", "340000000000000": "amex", "370000000000000": "amex", "350000000000000": "unknown", "360000000000000": "diners",
		"380000000000000": "diners", "390000000000000": "diners", "300000000000000": "diners", "305999999999999": "diners", "306000000000000": "unknown",
		"3528000000000000": "jcb", "3589000000000000": "jcb", "3527000000000000": "unknown", "3590000000000000": "unknown", "3088000000000000": "jcb",
		"6011000000000000": "discover", "6012000000000000": "unknown", "6440000000000000": "discover", "6430000000000000": "unknown",
		"6500000000000000": "discover", "6200000000000000": "unionpay", "8100000000000000": "unionpay", "": "unknown", "x": "unknown", "3x": "unknown",
	} {
		if got := card.Brand(number); got != want {
			t.Errorf("%q: got %s, want %s", number, got, want)
		}
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"4242424242424242": true, "378282246310005": true, "30569309025904": true, "4222222222222": true, "000000000000": true,
		"0000000000000000000": true, "00000000000": false, "00000000000000000000": false, "4242424242424241": false, "4242424242424224": false,
		"424242424242424x": false, "-242424242424242": false, "4242 4242 4242 4242": false, "": false, "４２４２４２": false,
		strings.Repeat("0", 16) + "\n": false,
	} {
		if got := card.Valid(number); got != want {
			t.Errorf("%q: got %t, want %t", number, got, want)
		}
	}
}

// TestValidFindsEveryWrongDigit: a check digit that lets one wrong digit through is no check digit.
func TestValidFindsEveryWrongDigit(t *testing.T) {
	t.Parallel()
	const number = "4539578763621486"
	for i := range number {
		for d := byte('0'); d <= '9'; d++ {
			changed := []byte(number)
			changed[i] = d
			if got, want := card.Valid(string(changed)), d == number[i]; got != want {
				t.Errorf("%s: got %t, want %t", changed, got, want)
			}
		}
	}
}
