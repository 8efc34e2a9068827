package chars_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "Café 9": "Café 9", "a\nb\tc\x00d\u0085e": "a b c d e"} {
		if got := chars.Printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"0": true, "0123456789": true, "": false, "1 2": false, "-1": false, "/": false,
		":": false, "１": false,
	} {
		if got := chars.Digits(in); got != want {
			t.Errorf("%q: got %v, want %v", in, got, want)
		}
	}
}
