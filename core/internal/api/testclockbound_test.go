package api_test

import (
	"net/http"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestTheTestClockIsBounded: a test clock moves forward by a year at a time, up to 100 years. The
// next request is refused, and the clock stays.
func TestTheTestClockIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path, year = "/v1/test_helpers/clock/advance", `{"seconds":31622400}`
	var ahead int64
	for range 100 {
		ahead = MustDecode[v1.TestClock](t, b.post(t, path, year), http.StatusOK).AheadSeconds
	}
	wantRefusal(t, b.post(t, path, `{"seconds":1}`, keyed("beyond")),
		refusal{http.StatusBadRequest, v1.ErrorTypeInvalidRequestError, "invalid_value", "seconds"})
	if got := MustDecode[v1.TestClock](t, b.get(t, "/v1/test_helpers/clock"), http.StatusOK).AheadSeconds; got != ahead || got != 100*31622400 {
		t.Errorf("got %d s ahead, want %d", got, ahead)
	}
}
