package v1_test

import (
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestWithField: a message that is about a field names it once, and a message for the payer does
// not.
func TestWithField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, param, message, want string }{
		{"missing_field", "amount", "This field is required.", "amount: This field is required."},
		{"invalid_value", "limit", "limit: want 1 to 100.", "limit: want 1 to 100."},
		{"invalid_value", "", "The value is not allowed.", "The value is not allowed."},
		{"expired_card", "card.exp_year", "The card has expired.", "The card has expired."},
	} {
		if got := v1.WithField(tt.code, tt.param, tt.message); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.code, tt.param, got, tt.want)
		}
	}
}
