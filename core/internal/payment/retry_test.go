package payment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestRetryRules: the networks' limits hold at their boundaries, in number and in time.
func TestRetryRules(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	const day = 24 * time.Hour
	// attempts returns n attempts of an age.
	attempts := func(n int, age time.Duration) []payment.CardAttempt {
		return slices.Repeat([]payment.CardAttempt{{At: now.Add(-age)}}, n)
	}
	never := func(age time.Duration) []payment.CardAttempt {
		return []payment.CardAttempt{{At: now.Add(-age), Never: true}}
	}
	for _, c := range []struct {
		name, brand string
		made        []payment.CardAttempt
		want        bool
	}{
		{"none", "visa", nil, true},
		{"19", "visa", attempts(19, time.Hour), true},
		{"20", "visa", attempts(20, time.Hour), false},
		{"21", "visa", attempts(21, time.Hour), false},
		{"20, just within 30 days", "visa", attempts(20, 30*day-1), false},
		{"20, 30 days ago", "visa", attempts(20, 30*day), true},
		{"one of 20 has ended", "visa", append(attempts(19, 0), attempts(1, 30*day)...), true},
		{"20 in the future", "visa", attempts(20, -time.Hour), false},
		{"never", "visa", never(30*day - 1), false},
		{"never, 30 days ago", "visa", never(30 * day), true},
		{"9", "mastercard", attempts(9, time.Hour), true},
		{"10", "mastercard", attempts(10, time.Hour), false},
		{"10, just within a day", "mastercard", attempts(10, day-1), false},
		{"10, a day ago", "mastercard", attempts(10, day), true},
		{"34", "mastercard", attempts(34, 2*day), true},
		{"35", "mastercard", attempts(35, 2*day), false},
		{"35, 30 days ago", "mastercard", attempts(35, 30*day), true},
		{"never", "mastercard", never(2 * day), false},
	} {
		rule, known := payment.RetryRuleOf(c.brand)
		if got := rule.Allows(c.made, now); !known || got != c.want {
			t.Errorf("%s, %s: got %t, %t, want %t", c.brand, c.name, got, known, c.want)
		}
	}
	if _, known := payment.RetryRuleOf("amex"); known {
		t.Error("amex: got a rule, want none")
	}
}

// TestRetryForbidden: only the codes and advices of the networks' lists end all attempts.
func TestRetryForbidden(t *testing.T) {
	t.Parallel()
	never := map[string][]string{
		"visa": {
			"04 ", "07 ", "12 ", "14 ", "15 ", "41 ", "43 ", "46 ", "57 ", "R0 ", "R1 ", "R3 ", " 1", "05 1", "41 2",
		},
		"mastercard": {" 03", " 21", "51 03"},
	}
	later := map[string][]string{
		"visa":       {" ", "05 ", "51 2", "N7 3", "91 ", " 03", " 01"},
		"mastercard": {" ", "41 ", "04 ", "51 02", " 01", " 1", " 24"},
	}
	for _, rule := range payment.RetryRules() {
		for want, texts := range map[bool][]string{true: never[rule.Brand], false: later[rule.Brand]} {
			for _, text := range texts {
				code, advice, _ := strings.Cut(text, " ")
				if got := rule.Forbids(code, advice); got != want {
					t.Errorf("%s, code %q, advice %q: got %t, want %t", rule.Brand, code, advice, got, want)
				}
			}
		}
		if rule.Source == "" || len(rule.Limits) == 0 {
			t.Errorf("%s: want limits and their source", rule.Brand)
		}
	}
}
