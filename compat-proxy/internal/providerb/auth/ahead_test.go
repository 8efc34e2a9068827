package auth_test

import (
	"testing"
	"time"
)

// A token of the future is not taken, beyond what clocks may differ. One whose times are written out may be in local time.
func TestTokenOfTheFuture(t *testing.T) {
	t.Parallel()
	late, soon := now.Add(5*time.Minute+time.Second).Unix(), now.Add(5*time.Minute).Unix()
	v := setup(t, age)
	for _, tt := range []struct {
		claim string
		value any
		taken bool
	}{
		{"nbf", soon, true},
		{"nbf", late, false},
		{"nbf", now.Add(6 * time.Minute).Format(time.RFC3339), true},
		{"iat", soon, true},
		{"iat", late, false},
		{"iat", now.Add(time.Hour).Unix(), false},
		{"iat", now.Add(6 * time.Minute).Format(time.RFC3339), true},
	} {
		j := tokenVector()
		j.claims = set(j.claims, tt.claim, tt.value)
		if tt.taken {
			accepted(t, v, j.signed(t), "demo_merchant_1")
		} else {
			refused(t, v, j.signed(t))
		}
	}
}
