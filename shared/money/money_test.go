package money_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/money"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		minor    int64
		exponent int
		want     string
	}{
		{1250, 2, "12.50"},
		{5, 3, "0.005"},
		{1500, 0, "1500"},
		{0, 0, "0"},
		{0, 2, "0.00"},
		{7, 2, "0.07"},
		{100, 2, "1.00"},
		{-5, 2, "-0.05"},
		{-1500, 0, "-1500"},
		{12345, 4, "1.2345"},
		{money.Max, 2, "9999999999.99"},
		{math.MaxInt64, 2, "92233720368547758.07"},
		{math.MinInt64, 3, "-9223372036854775.808"},
	}
	for _, tt := range tests {
		if got := money.Format(tt.minor, tt.exponent); got != tt.want {
			t.Errorf("%d, %d: got %q, want %q", tt.minor, tt.exponent, got, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in       string
		exponent int
		want     int64
	}{
		{"12.50", 2, 1250},
		{"12.5", 2, 1250},
		{"12", 2, 1200},
		{"+12", 2, 1200},
		{"-0.05", 2, -5},
		{"-0", 2, 0},
		{"0.005", 3, 5},
		{"1500", 0, 1500},
		{"1500.00", 0, 1500},
		{"12.5000000000000000000000000", 2, 1250},
		{"000000000000000000000000000012.50", 2, 1250},
		{"1.2345", 4, 12345},
		{"9999999999.99", 2, money.Max},
		{"-999999999999", 0, -money.Max},
	}
	for _, tt := range tests {
		if got, err := money.Parse(tt.in, tt.exponent); err != nil || got != tt.want {
			t.Errorf("%q, %d: got %d, %v, want %d", tt.in, tt.exponent, got, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in       string
		exponent int
		want     error
	}{
		{"", 2, money.ErrSyntax},
		{"+", 2, money.ErrSyntax},
		{"-", 2, money.ErrSyntax},
		{"+-1", 2, money.ErrSyntax},
		{".5", 2, money.ErrSyntax},
		{"5.", 2, money.ErrSyntax},
		{".", 2, money.ErrSyntax},
		{"1.2.3", 2, money.ErrSyntax},
		{"1,50", 2, money.ErrSyntax},
		{"1e3", 2, money.ErrSyntax},
		{"0x10", 2, money.ErrSyntax},
		{"1_000", 2, money.ErrSyntax},
		{" 1", 2, money.ErrSyntax},
		{"1\n", 2, money.ErrSyntax},
		{"NaN", 2, money.ErrSyntax},
		{"Inf", 2, money.ErrSyntax},
		{"١", 2, money.ErrSyntax},
		{"1.-5", 2, money.ErrSyntax},
		{"1.005", 2, money.ErrPrecision},
		{"1.5", 0, money.ErrPrecision},
		{"0.00001", 4, money.ErrPrecision},
		{"10000000000.00", 2, money.ErrRange},
		{"1000000000000", 0, money.ErrRange},
		{"-1000000000000", 0, money.ErrRange},
		{strings.Repeat("9", 1000), 2, money.ErrRange},
	}
	for _, tt := range tests {
		got, err := money.Parse(tt.in, tt.exponent)
		if !errors.Is(err, tt.want) || got != 0 {
			t.Errorf("%q, %d: got %d, %v, want %v", tt.in, tt.exponent, got, err, tt.want)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{"jpy": 0, "usd": 2, "eur": 2, "kwd": 3, "clf": 4, "uyw": 4, "xcg": 2} {
		if got, ok := money.Lookup(code); !ok || got != (money.Currency{Code: code, Exponent: want}) {
			t.Errorf("%s: got %+v, %t, want exponent %d", code, got, ok, want)
		}
	}
	for _, code := range []string{"", "USD", "us", "usdd", "xxx", "xts", "xau", "hrk", "ang", "dem", "bgn"} {
		if got, ok := money.Lookup(code); ok {
			t.Errorf("%q: got %+v, want none", code, got)
		}
	}
}

// TestLookupCount walks every three-letter code, so that a slip in the table shows.
func TestLookupCount(t *testing.T) {
	t.Parallel()
	count := map[int]int{}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for i := range letters {
		for j := range letters {
			for k := range letters {
				if c, ok := money.Lookup(string([]byte{letters[i], letters[j], letters[k]})); ok {
					count[c.Exponent]++
				}
			}
		}
	}
	for exponent, want := range map[int]int{0: 17, 2: 139, 3: 7, 4: 2} {
		if got := count[exponent]; got != want {
			t.Errorf("currencies with exponent %d: got %d, want %d", exponent, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("12.50", 2)
	f.Fuzz(func(t *testing.T, s string, exponent int) {
		exponent = min(max(exponent, 0), 4)
		n, err := money.Parse(s, exponent)
		if err != nil {
			if !errors.Is(err, money.ErrSyntax) && !errors.Is(err, money.ErrPrecision) && !errors.Is(err, money.ErrRange) {
				t.Fatalf("got %v, want one of the three", err)
			}
			return
		}
		if n > money.Max || n < -money.Max {
			t.Fatalf("%q: got %d, out of range", s, n)
		}
		text := money.Format(n, exponent)
		if got, err := money.Parse(text, exponent); err != nil || got != n {
			t.Fatalf("%q, as %q: got %d, %v, want %d", s, text, got, err, n)
		}
		if got, want := canonical(s, exponent), text; got != want {
			t.Fatalf("%q: got %q, want %q", s, got, want)
		}
	})
}

// canonical rewrites a valid amount by text alone, as an oracle that shares no arithmetic with
// Parse.
func canonical(s string, exponent int) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign = "-"
	}
	whole, decimals, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	decimals = (decimals + "0000")[:exponent]
	if strings.Trim(whole+decimals, "0") == "" {
		sign = ""
	}
	if exponent == 0 {
		return sign + whole
	}
	return sign + whole + "." + decimals
}
