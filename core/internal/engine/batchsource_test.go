package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Ids of stored payment sources in this test. Sources with an odd id cannot be used.
const (
	goodCustomer = 100 + 2*iota
	goodMethod
	goodToken
	goodKey
)

// mustStock writes stored payment sources of each kind: one that can be used, and several that
// cannot.
func mustStock(t *testing.T, s *coretest.Service) {
	t.Helper()
	own, now := s.Tenant.Merchant, s.Clock.Now().UnixMilli()
	s.MustExec(t, "INSERT INTO merchants (id, name, disabled_at, created_at) VALUES (1, 'other', 0, 0), (3, 'disabled', 1, 0)")
	const customer = "INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at, deleted_at) VALUES (?, ?, ?, '{}', 1, 0, 0, ?)"
	for _, c := range [][4]int64{{goodCustomer, own, 0, 0}, {201, own, 0, 1}, {203, 1, 0, 0}, {205, own, 1, 0}} {
		s.MustExec(t, customer, c[0], c[1], c[2], c[3])
	}
	const method = `INSERT INTO payment_methods (id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at, detached_at)
		VALUES (?, ?, ?, ?, 'card', '', '{}', 0, ?6, 0, ?5)`
	for _, m := range [][5]int64{{goodMethod, own, 0, goodCustomer, 0}, {301, own, 0, goodCustomer, 1}, {303, 1, 0, 203, 0}, {305, own, 1, 205, 0}} {
		s.MustExec(t, method, m[0], m[1], m[2], m[3], m[4], map[bool][]byte{true: {1}}[m[4] == 0])
	}
	const token = `INSERT INTO tokens (id, merchant_id, live, kind, details, vault_key, secret_hash, cvc_given, created_at, expires_at) VALUES (?, ?, ?, 'card', '{}', 0, ?, 0, 0, ?)`
	for _, k := range [][4]int64{{goodToken, own, 0, now + 1}, {401, own, 0, now + 1}, {403, own, 0, now}, {405, 1, 0, now + 1}, {407, own, 1, now + 1}} {
		s.MustExec(t, token, k[0], k[1], k[2], []byte{}, k[3])
	}
	const key = `INSERT INTO api_keys (id, merchant_id, live, kind, hash, root_version, hint, scopes, created_at, expires_at, revoked_at)
		VALUES (?1, ?2, 0, 'secret', ?5, 1, '', '', 0, NULLIF(?3, 0), NULLIF(?4, 0))`
	for _, k := range [][4]int64{{goodKey, own, now + 1, 0}, {501, own, 0, 1}, {503, own, now, 0}, {505, 3, 0, 0}} {
		s.MustExec(t, key, k[0], k[1], k[2], k[3], []byte{byte(k[0] >> 8), byte(k[0])})
	}
}

// TestBatchChecksPaymentSourcesPostgreSQL begins payments in one batch. Payments whose customer,
// payment method, token or API key cannot be used are left out and get the reason. The others are
// written.
func TestBatchChecksPaymentSourcesPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	mustStock(t, s)
	cases := []struct {
		source payment.StoredSource
		key    int64
		want   error
	}{
		{payment.StoredSource{Customer: goodCustomer, Method: goodMethod}, 0, nil},
		{payment.StoredSource{Customer: goodCustomer, Token: goodToken}, goodKey, nil},
		{payment.StoredSource{Method: goodMethod}, goodKey, nil},
		{payment.StoredSource{Customer: 201}, 0, payment.ErrNoCustomer},
		{payment.StoredSource{Customer: 203}, 0, payment.ErrNoCustomer},
		{payment.StoredSource{Customer: 205}, 0, payment.ErrNoCustomer},
		{payment.StoredSource{Customer: goodCustomer + 1}, 0, payment.ErrNoCustomer},
		{payment.StoredSource{Method: 301}, 0, payment.ErrNoSource},
		{payment.StoredSource{Method: 303}, 0, payment.ErrNoSource},
		{payment.StoredSource{Method: 305}, 0, payment.ErrNoSource},
		{payment.StoredSource{Customer: goodCustomer, Method: goodMethod + 1}, 0, payment.ErrNoSource},
		{payment.StoredSource{Customer: 110, Method: goodMethod}, 0, payment.ErrOtherCustomer},
		{payment.StoredSource{Token: 401}, 0, payment.ErrTokenUsed},
		{payment.StoredSource{Token: 403}, 0, payment.ErrTokenExpired},
		{payment.StoredSource{Token: 405}, 0, payment.ErrNoSource},
		{payment.StoredSource{Token: 407}, 0, payment.ErrNoSource},
		{payment.StoredSource{}, 501, payment.ErrKeyEnded},
		{payment.StoredSource{}, 503, payment.ErrKeyEnded},
		{payment.StoredSource{}, 505, payment.ErrMerchantDisabled},
	}
	s.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
		VALUES (110, ?, 0, '{}', 1, 0, 0)`, s.Tenant.Merchant)
	all, results := beginBatch(t, s, func() []*store.Intent {
		s.MustExec(t, "UPDATE tokens SET used_by = 0, used_at = 0")
		s.MustExec(t, "UPDATE tokens SET used_by = 1, used_at = 1 WHERE id = 401")
		all := make([]*store.Intent, len(cases))
		for n, c := range cases {
			all[n] = newIntent(s, "")
			all[n].Source, all[n].Transaction.Client.APIKey = c.source, c.key
		}
		return all
	})
	for n, i := range all {
		c := cases[n]
		if wantIntent(t, s, fmt.Sprint(c), i, results[n], c.want == nil); !errors.Is(results[n].err, c.want) {
			t.Errorf("%v: got %v", c, results[n].err)
		}
	}
	if got := s.Number(t, "SELECT used_by FROM tokens WHERE id = ?", goodToken); got != all[1].Transaction.ID {
		t.Errorf("the token is used by %d", got)
	}
}
