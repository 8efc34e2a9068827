package engine_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// The numbers of what payments draw on in this test. What is odd is bad.
const (
	goodCustomer = 100 + 2*iota
	goodMethod
	goodToken
	goodKey
)

// mustStock writes of each thing that payments draw on one that is good, and several that are not, numbered odd.
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

// TestGroupLooksAtWhatPaymentsDrawOnPostgreSQL: a payment is left out of its group whose customer, payment method, token or API key is deleted, detached,
// used, revoked, over, of another tenant, or not of the customer it names; and no other one is.
func TestGroupLooksAtWhatPaymentsDrawOnPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	mustStock(t, s)
	asked := [][4]int64{ // customer, method, token, key
		{goodCustomer, goodMethod, 0, 0},
		{goodCustomer, 0, goodToken, goodKey},
		{0, goodMethod, 0, goodKey},
		{201},
		{203},
		{205},
		{goodCustomer + 1},
		{0, 301},
		{0, 303},
		{0, 305},
		{goodCustomer, goodMethod + 1},
		{110, goodMethod},
		{0, 0, 401},
		{0, 0, 403},
		{0, 0, 405},
		{0, 0, 407},
		{0, 0, 0, 501},
		{0, 0, 0, 503},
		{0, 0, 0, 505},
	}
	s.MustExec(t, "INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at) VALUES (110, ?, 0, '{}', 1, 0, 0)", s.Tenant.Merchant)
	all, done := opened(t, s, func() []*store.Opening {
		s.MustExec(t, "UPDATE tokens SET used_by = 1, used_at = 1 WHERE id = 401")
		all := make([]*store.Opening, len(asked))
		for i, a := range asked {
			all[i] = opening(s, "")
			all[i].Customer, all[i].Method, all[i].Token, all[i].Transaction.Client.APIKey = a[0], a[1], a[2], a[3]
		}
		return all
	})
	for i, o := range all {
		if want := i < 3; done[i] != want || s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ?", o.Transaction.ID) != map[bool]int64{true: 1}[want] {
			t.Errorf("%v: got %t, want %t", asked[i], done[i], want)
		}
	}
	if got := s.Number(t, "SELECT used_by FROM tokens WHERE id = ?", goodToken); got != all[1].Transaction.ID {
		t.Errorf("the token is used by %d", got)
	}
}
