package keyapi_test

import "testing"

// TestRevokedAPIKey checks that an API key that core has ended immediately loses access, even if
// the filter has just seen it valid.
func TestRevokedAPIKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reads := []string{"/v1/mle/keys/current", "/v1/mle/keys", "/v1/mle/response_keys"}
	for _, path := range reads {
		if got := b.do(t, "sk", "GET", path, ""); got.status != 200 {
			t.Fatalf("%s: got %d %s", path, got.status, got.body)
		}
	}
	b.ended.Store("Bearer sk", true)
	for _, path := range reads {
		wantRefusal(t, b.do(t, "sk", "GET", path, ""), 401, "invalid_api_key", "")
	}
	wantRefusal(t, b.do(t, "sk", "POST", rotate, "{}"), 401, "invalid_api_key", "")
}
