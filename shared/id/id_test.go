package id_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
)

func TestFormatAndParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		prefix  id.Prefix
		n       int64
		text    string
		decimal string
	}{
		{id.Transaction, 1, "txn_0000000000001", "1"},
		{id.Refund, 31, "re_000000000000z", "31"},
		{id.Customer, 32, "cus_0000000000010", "32"},
		{id.Event, 1 << 60, "evt_1000000000000", "1152921504606846976"},
		{id.Request, math.MaxInt64, "req_7zzzzzzzzzzzz", "9223372036854775807"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			if got := id.Format(tt.prefix, tt.n); got != tt.text {
				t.Errorf("format: got %q, want %q", got, tt.text)
			}
			if got, err := id.Parse(tt.prefix, tt.text); err != nil || got != tt.n {
				t.Errorf("parse: got %d, %v, want %d", got, err, tt.n)
			}
			if got, err := id.Decimal(tt.prefix, tt.decimal); err != nil || got != tt.text {
				t.Errorf("decimal: got %q, %v, want %q", got, err, tt.text)
			}
			if got, err := id.ToDecimal(tt.prefix, tt.text); err != nil || got != tt.decimal {
				t.Errorf("to decimal: got %q, %v, want %q", got, err, tt.decimal)
			}
		})
	}
}

func TestFormatThenParseEveryLetter(t *testing.T) {
	t.Parallel()
	for n := int64(1); n < 32; n++ {
		for shift := 0; shift < 60; shift += 5 {
			if got, err := id.Parse(id.Capture, id.Format(id.Capture, n<<shift)); err != nil || got != n<<shift {
				t.Fatalf("got %d, %v, want %d", got, err, n<<shift)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"Empty":           "",
		"OtherPrefix":     "cap_0000000000001",
		"PrefixOnly":      "txn_",
		"NoUnderscore":    "txn-0000000000001",
		"Short":           "txn_000000000001",
		"Long":            "txn_00000000000001",
		"UpperCase":       "txn_000000000000A",
		"UpperCasePrefix": "TXN_0000000000001",
		"LetterI":         "txn_000000000000i",
		"LetterL":         "txn_000000000000l",
		"LetterO":         "txn_000000000000o",
		"LetterU":         "txn_000000000000u",
		"Zero":            "txn_0000000000000",
		"SixtyFourBits":   "txn_8000000000000",
		"Space":           "txn_000000000000 ",
		"Backtick":        "txn_000000000000`",
		"Brace":           "txn_000000000000{",
		"NotASCII":        "txn_00000000000é",
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := id.Parse(id.Transaction, in); !errors.Is(err, id.ErrMalformed) || got != 0 {
				t.Errorf("got %d, %v, want 0, %v", got, err, id.ErrMalformed)
			}
			if got, err := id.ToDecimal(id.Transaction, in); !errors.Is(err, id.ErrMalformed) || got != "" {
				t.Errorf("to decimal: got %q, %v, want %v", got, err, id.ErrMalformed)
			}
		})
	}
}

func TestFormatOfNonPositiveIsRefusedByParse(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, -1, math.MinInt64} {
		if _, err := id.Parse(id.Token, id.Format(id.Token, n)); !errors.Is(err, id.ErrMalformed) {
			t.Errorf("%d: got %v, want %v", n, err, id.ErrMalformed)
		}
	}
}

func TestDecimalRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "0", "01", "-1", "+1", "1.0", "1e3", "1_0", " 1", "1 ", "0x1", "9223372036854775808", strings.Repeat("9", 400),
		"١",
	} {
		if got, err := id.Decimal(id.Transaction, in); !errors.Is(err, id.ErrMalformed) || got != "" {
			t.Errorf("%q: got %q, %v, want %v", in, got, err, id.ErrMalformed)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("txn_0000000000001")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := id.Parse(id.Transaction, s)
		if err != nil {
			if !errors.Is(err, id.ErrMalformed) {
				t.Fatalf("got %v, want %v", err, id.ErrMalformed)
			}
			return
		}
		if got := id.Format(id.Transaction, n); n <= 0 || got != s {
			t.Fatalf("%d formats as %q, want %q", n, got, s)
		}
		decimal, err := id.ToDecimal(id.Transaction, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := id.Decimal(id.Transaction, decimal); err != nil || got != s {
			t.Fatalf("from decimal %s: got %q, %v, want %q", decimal, got, err, s)
		}
	})
}
