package mlefilter_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/mle-filter/internal/requirement"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// announced is core's list with one requirement, an hour after birth.
const announced = `{"object":"list","has_more":false,"data":[{"object":"mle_requirement","id":"mlr_0000000000001",` +
	`"endpoints":["POST /v1/transactions"],"announced_at":"2025-11-01T00:00:00.000Z",` +
	`"effective_at":"2026-11-21T10:30:00.000Z"}]}`

// policies are the policies that do not change an announced requirement.
var policies = map[string]mlefilter.Policy{
	"no policy": {}, "off": {Routes: []policy.Route{{Path: "/v1/transactions", MLE: policy.Off}}},
}

// announcing opens a filter in front of a core with that requirement, and waits until it is read.
func announcing(t *testing.T, change func(*mlefilter.Config)) *filter {
	t.Helper()
	f := open(t, func(c *mlefilter.Config) {
		c.V1, c.Core = "", &core{required: announced}
		if change != nil {
			change(c)
		}
	})
	programtest.WaitFor(t, "the requirement is read", func() bool {
		return strings.Contains(f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "").body, "mlr_0000000000001")
	})
	return f
}

// TestAnnouncedRequirement checks that an announced requirement is published. It is enforced from
// its date on, even on a route that the configuration turns off.
func TestAnnouncedRequirement(t *testing.T) {
	t.Parallel()
	for name, p := range policies {
		f := announcing(t, func(c *mlefilter.Config) { c.Policy = p })
		var key v1.MLEKey
		got := f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "")
		if err := json.Unmarshal([]byte(got.body), &key); err != nil || len(*key.Requirements) != 1 ||
			!(*key.Requirements)[0].EffectiveAt.Equal(birth.Add(time.Hour)) {
			t.Errorf("%s: got %s, %v", name, got.body, err)
		}
		if got := f.send(t, f.Client(), "GET", requirement.Path, "", "Authorization", ""); got.body != announced {
			t.Errorf("%s: got %d %s, want core's list", name, got.status, got.body)
		}
		f.clock.Advance(time.Hour - time.Millisecond)
		if got := f.send(t, f.Client(), "POST", "/v1/transactions", sale); got.status != http.StatusCreated {
			t.Errorf("%s, before: got %d %s", name, got.status, got.body)
		}
		f.clock.Advance(time.Millisecond)
		if got := f.send(t, f.Client(), "POST", "/v1/transactions", sale); got.status != 400 ||
			!strings.Contains(got.body, `"code":"mle_required"`) {
			t.Errorf("%s, in the clear: got %d %s", name, got.status, got.body)
		}
		invalid := f.send(t, f.Client(), "POST", "/v1/transactions", sale, "Authorization", "Bearer sk_test_none")
		if invalid.status != 401 || !strings.Contains(invalid.body, `"code":"invalid_api_key"`) {
			t.Errorf("%s, in the clear with an invalid key: got %d %s", name, invalid.status, invalid.body)
		}
		client := f.client(t, mle.ECDHESA256KW, nil)
		if got := f.send(t, client, "POST", "/v1/transactions", sale); got.status != http.StatusCreated {
			t.Errorf("%s, encrypted: got %d %s", name, got.status, got.body)
		}
		for _, path := range []string{"/v1/refunds", "/v1/transactions/txn_1/void"} {
			if got := f.send(t, f.Client(), "POST", path, "{}"); got.status != http.StatusCreated {
				t.Errorf("%s, %s: got %d %s", name, path, got.status, got.body)
			}
		}
	}
}

// TestAnnouncedAndLegacy checks that only compat-proxy's requests are exempt, which the hop secret
// proves. That holds on a route that the configuration turns off, too.
func TestAnnouncedAndLegacy(t *testing.T) {
	t.Parallel()
	const hop = "hop-hop-hop"
	for name, p := range policies {
		f := announcing(t, func(c *mlefilter.Config) { c.Hop, c.Policy = secret.New(hop), p })
		f.clock.Advance(2 * time.Hour)
		for _, tt := range []struct {
			fields []string
			status int
		}{
			{[]string{httpx.HopField, hop, httpx.LegacyField, httpx.LegacyClear}, 201},
			{[]string{httpx.HopField, hop, httpx.LegacyField, httpx.LegacyEncrypted}, 201},
			{[]string{httpx.HopField, hop}, 400},
			{[]string{httpx.HopField, "another", httpx.LegacyField, httpx.LegacyClear}, 400},
			{[]string{httpx.LegacyField, httpx.LegacyEncrypted}, 400},
		} {
			if got := f.send(t, f.Client(), "POST", "/v1/transactions", sale, tt.fields...); got.status != tt.status {
				t.Errorf("%s, %v: got %d %s, want %d", name, tt.fields, got.status, got.body, tt.status)
			}
		}
	}
}

// TestStrictMerchantAndLegacy checks that a merchant's own setting holds for legacy requests in the
// clear, and that an encrypted one meets it.
func TestStrictMerchantAndLegacy(t *testing.T) {
	t.Parallel()
	const hop = "hop-hop-hop"
	f := open(t, func(c *mlefilter.Config) {
		c.Hop, c.FilterToken = secret.New(hop), secret.New("token")
		strict := policy.Merchant{MLE: policy.Required, Response: policy.Required}
		c.Policy.Merchants = map[string]policy.Merchant{"mer_01jd8m3k2q4r5": strict}
	})
	for value, status := range map[string]int{httpx.LegacyClear: 400, httpx.LegacyEncrypted: 201, "": 400} {
		got := f.send(t, f.Client(), "POST", "/v1/transactions", sale, httpx.HopField, hop, httpx.LegacyField, value)
		if got.status != status {
			t.Errorf("%q: got %d %s, want %d", value, got.status, got.body, status)
		}
	}
}

// TestStrictMerchantAndNoKey checks that a merchant's own setting leaves the endpoints without API
// keys to everyone, and that no endpoint with keys opens.
func TestStrictMerchantAndNoKey(t *testing.T) {
	t.Parallel()
	f := announcing(t, func(c *mlefilter.Config) {
		c.FilterToken = secret.New("token")
		strict := policy.Merchant{MLE: policy.Required, Response: policy.Required}
		c.Policy.Merchants = map[string]policy.Merchant{"mer_01jd8m3k2q4r5": strict}
	})
	const noKey = "Authorization"
	if got := f.send(t, f.Client(), "GET", "/v1/health", "", noKey, ""); got.status != 200 {
		t.Errorf("without a key: got %d %s, want core's 200", got.status, got.body)
	}
	for _, method := range []string{"GET", "POST"} {
		if got := f.send(t, f.Client(), method, "/v1/transactions", "", noKey, ""); got.status != 401 ||
			!strings.Contains(got.body, `"message":"No."`) {
			t.Errorf("%s without a key: got %d %s, want core's 401", method, got.status, got.body)
		}
	}
	if got := f.send(t, f.Client(), "GET", "/v1/transactions", ""); got.status != 400 {
		t.Errorf("with a key: got %d %s, want 400", got.status, got.body)
	}
	f.clock.Advance(time.Hour)
	if got := f.send(t, f.Client(), "POST", "/v1/transactions", sale, noKey, ""); got.status != 400 ||
		!strings.Contains(got.body, `"code":"mle_required"`) {
		t.Errorf("announced, without a key: got %d %s, want mle_required", got.status, got.body)
	}
}
