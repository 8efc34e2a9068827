package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// onEachEngine runs a test on a store of each engine.
func onEachEngine(t *testing.T, test func(t *testing.T, s *coretest.Service)) {
	t.Helper()
	onEngines(t, map[string]func(testing.TB) *coretest.Service{
		"SQLite": coretest.Open, "PostgreSQL": coretest.OpenShared,
	}, test)
}

// onEachWay is onEachEngine, and also runs the test on PostgreSQL without batches.
func onEachWay(t *testing.T, test func(t *testing.T, s *coretest.Service)) {
	t.Helper()
	onEachEngine(t, test)
	onEngines(t, map[string]func(testing.TB) *coretest.Service{"alone, PostgreSQL": coretest.OpenAlone}, test)
}

func onEngines(
	t *testing.T, engines map[string]func(testing.TB) *coretest.Service, test func(t *testing.T, s *coretest.Service),
) {
	t.Helper()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Ids of stored payment sources and API keys.
const (
	ownCustomer = iota + 100
	otherCustomer
	deletedCustomer
	foreignCustomer
	ownMethod
	otherMethod
	detachedMethod
	foreignMethod
	freshToken
	usedToken
	expiredToken
	foreignToken
	goodKey
	revokedKey
	expiredKey
)

// foreign is a merchant with stored objects that others must not use.
const foreign = 1

// mustStock writes the stored payment sources and API keys.
func mustStock(t *testing.T, s *coretest.Service) {
	t.Helper()
	own, now := s.Tenant.Merchant, s.Clock.Now().UnixMilli()
	s.MustExec(t, "INSERT INTO merchants (id, name, created_at) VALUES (?, 'foreign', 0)", foreign)
	for id, c := range map[int64][2]int64{
		ownCustomer: {own, 0}, otherCustomer: {own, 0}, deletedCustomer: {own, 1}, foreignCustomer: {foreign, 0},
	} {
		s.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at, deleted_at)
			VALUES (?, ?, 0, '{}', 1, 0, 0, ?)`, id, c[0], c[1])
	}
	for id, m := range map[int64][3]int64{
		ownMethod: {own, ownCustomer, 0}, otherMethod: {own, otherCustomer, 0},
		detachedMethod: {own, ownCustomer, 1}, foreignMethod: {foreign, foreignCustomer, 0},
	} {
		number := []byte{1}
		if m[2] != 0 {
			number = nil
		}
		s.MustExec(t, `INSERT INTO payment_methods
			(id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at, detached_at)
			VALUES (?, ?, 0, ?, 'card', '', '{}', 0, ?, 0, ?)`, id, m[0], m[1], number, m[2])
	}
	for id, k := range map[int64][3]int64{
		freshToken: {own, 0, now + 1}, usedToken: {own, 9, now + 1}, expiredToken: {own, 0, now},
		foreignToken: {foreign, 0, now + 1},
	} {
		s.MustExec(t, `INSERT INTO tokens
			(id, merchant_id, live, kind, details, vault_key, secret_hash, cvc_given, used_by, used_at, created_at, expires_at)
			VALUES (?1, ?2, 0, 'card', '{}', 0, ?5, 0, ?3, ?3, 0, ?4)`, id, k[0], k[1], k[2], []byte{})
	}
	for id, k := range map[int64][2]int64{goodKey: {now + 1, 0}, revokedKey: {0, 1}, expiredKey: {now, 0}} {
		s.MustExec(t, `INSERT INTO api_keys
			(id, merchant_id, live, kind, hash, root_version, hint, scopes, created_at, expires_at, revoked_at)
			VALUES (?1, ?2, 0, 'secret', ?5, 1, '', '', 0, NULLIF(?3, 0), NULLIF(?4, 0))`, id, own, k[0], k[1], []byte{byte(id)})
	}
}

func newIntent(s *coretest.Service, key string) *store.Intent {
	now := s.Clock.Now()
	return &store.Intent{Key: key, Fingerprint: []byte("body"), Transaction: &payment.Transaction{
		ID: s.IDs.Next(), Tenant: s.Tenant, Status: payment.Processing, Amount: 100, Currency: "usd", PaymentMethod: "card",
		Details: []byte("{}"), CreatedAt: now, UpdatedAt: now,
	}}
}

// mustBegin begins a payment.
func mustBegin(t *testing.T, s *coretest.Service, i *store.Intent) *payment.Transaction {
	t.Helper()
	if c, err := s.DB.BeginPayment(t.Context(), i); err != nil || !c.Held || c.ID != i.Transaction.Claim {
		t.Fatalf("begin: got %+v, %v, transaction's claim %d", c, err, i.Transaction.Claim)
	}
	return i.Transaction
}

// prepareIntent changes an intent, and the store, before BeginPayment.
type prepareIntent func(t *testing.T, s *coretest.Service, i *store.Intent)

// beginCase is one intent and the result of BeginPayment.
type beginCase struct {
	name    string
	prepare prepareIntent
	want    store.Claim // without its id
	err     error
}

func of(source payment.StoredSource) prepareIntent {
	return func(_ *testing.T, _ *coretest.Service, i *store.Intent) { i.Source = source }
}

func under(key int64) prepareIntent {
	return func(_ *testing.T, _ *coretest.Service, i *store.Intent) { i.Transaction.Client.APIKey = key }
}

// afterRequest begins a payment under the key of the intent, and finishes it if finish is set. Then
// change changes the intent.
func afterRequest(finish bool, change func(s *coretest.Service, i *store.Intent)) prepareIntent {
	return func(t *testing.T, s *coretest.Service, i *store.Intent) {
		t.Helper()
		open := mustBegin(t, s, newIntent(s, i.Key))
		if finish {
			mustFinish(t, s, newOutcome(s, open, payment.Declined))
		}
		change(s, i)
	}
}

func beginCases() []beginCase {
	return slices.Concat(keyCases(), sourceCases(), apiKeyCases())
}

func keyCases() []beginCase {
	held := store.Claim{Held: true}
	replay := store.Claim{SameRequest: true, Status: 402, Body: []byte("{}")}
	same := func(*coretest.Service, *store.Intent) {}
	return []beginCase{
		{name: "fresh", want: held, prepare: of(payment.StoredSource{})},
		{name: "without a key", want: held, prepare: func(_ *testing.T, _ *coretest.Service, i *store.Intent) { i.Key = "" }},
		{name: "with terms", want: held, prepare: func(_ *testing.T, _ *coretest.Service, i *store.Intent) {
			i.Terms = payment.Terms{Customer: "cus_1", Reference: "r"}
		}},
		{name: "replayed key", want: replay, prepare: afterRequest(true, same)},
		{name: "key in progress", want: store.Claim{SameRequest: true}, prepare: afterRequest(false, same)},
		{name: "key with another body", prepare: afterRequest(false, func(_ *coretest.Service, i *store.Intent) {
			i.Fingerprint = []byte("another body")
		})},
		{
			name: "key with another fingerprint", want: store.Claim{SameRequest: true},
			prepare: afterRequest(false, func(_ *coretest.Service, i *store.Intent) {
				i.Fingerprint, i.OtherFingerprints = []byte("another"), [][]byte{[]byte("body")}
			}),
		},
		{name: "expired key", want: held, prepare: afterRequest(true, func(s *coretest.Service, i *store.Intent) {
			s.Clock.Advance(store.KeyLifetime)
			i.Fingerprint = []byte("another body")
		})},
		{
			name: "replayed key and a used token", want: replay,
			prepare: afterRequest(true, func(_ *coretest.Service, i *store.Intent) { i.Source.Token = usedToken }),
		},
		{name: "taken id", err: store.ErrDuplicate, prepare: func(t *testing.T, s *coretest.Service, i *store.Intent) {
			t.Helper()
			i.Transaction.ID = mustBegin(t, s, newIntent(s, "")).ID
		}},
	}
}

func sourceCases() []beginCase {
	held := store.Claim{Held: true}
	return []beginCase{
		{
			name: "customer and method", want: held,
			prepare: of(payment.StoredSource{Customer: ownCustomer, Method: ownMethod}),
		},
		{name: "token", want: held, prepare: of(payment.StoredSource{Token: freshToken})},
		{name: "used token", err: payment.ErrTokenUsed, prepare: of(payment.StoredSource{Token: usedToken})},
		{name: "expired token", err: payment.ErrTokenExpired, prepare: of(payment.StoredSource{Token: expiredToken})},
		{name: "foreign token", err: payment.ErrNoSource, prepare: of(payment.StoredSource{Token: foreignToken})},
		{name: "foreign method", err: payment.ErrNoSource, prepare: of(payment.StoredSource{Method: foreignMethod})},
		{name: "detached method", err: payment.ErrNoSource, prepare: of(payment.StoredSource{Method: detachedMethod})},
		{
			name: "another customer's method", err: payment.ErrOtherCustomer,
			prepare: of(payment.StoredSource{Customer: ownCustomer, Method: otherMethod}),
		},
		{
			name: "deleted customer", err: payment.ErrNoCustomer,
			prepare: of(payment.StoredSource{Customer: deletedCustomer, Token: freshToken}),
		},
		{name: "foreign customer", err: payment.ErrNoCustomer, prepare: of(payment.StoredSource{Customer: foreignCustomer})},
	}
}

func apiKeyCases() []beginCase {
	held := store.Claim{Held: true}
	return []beginCase{
		{name: "good API key", want: held, prepare: under(goodKey)},
		{name: "revoked API key", err: payment.ErrKeyEnded, prepare: under(revokedKey)},
		{name: "expired API key", err: payment.ErrKeyEnded, prepare: under(expiredKey)},
		{
			name: "disabled merchant", err: payment.ErrMerchantDisabled,
			prepare: func(t *testing.T, s *coretest.Service, i *store.Intent) {
				t.Helper()
				s.MustExec(t, "UPDATE merchants SET disabled_at = 1 WHERE id = ?", s.Tenant.Merchant)
				i.Transaction.Client.APIKey = goodKey
			},
		},
	}
}

// intentRows counts what intents write.
func intentRows(t *testing.T, s *coretest.Service) [4]int64 {
	t.Helper()
	return [4]int64{
		s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'"),
		s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"),
		s.Number(t, "SELECT COUNT(*) FROM transaction_terms"),
		s.Number(t, "SELECT COUNT(*) FROM tokens WHERE used_by > 9"),
	}
}

// TestBeginPayment begins one payment of each kind.
func TestBeginPayment(t *testing.T) {
	t.Parallel()
	for _, c := range beginCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			on := onEachEngine // a command returns each refusal, on every engine
			if c.want.Held {
				on = onEachWay
			}
			on(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				c.test(t, s)
			})
		})
	}
}

func (c beginCase) test(t *testing.T, s *coretest.Service) {
	t.Helper()
	mustStock(t, s)
	i := newIntent(s, "k")
	c.prepare(t, s, i)
	before := intentRows(t, s)
	got, err := s.DB.BeginPayment(t.Context(), i)
	id := got.ID
	got.ID = 0
	if fmt.Sprint(got) != fmt.Sprint(c.want) || !errors.Is(err, c.err) || (id != 0) != (err == nil && i.Key != "") {
		t.Fatalf("got %+v with id %d, %v, want %+v, %v", got, id, err, c.want, c.err)
	}
	want := before
	if got.Held {
		for n, added := range c.added(i) {
			want[n] += added
		}
		if n := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ? AND claim = ?", i.Transaction.ID, id); n != 1 {
			t.Errorf("got %d transactions with the claim, want 1", n)
		}
	}
	if after := intentRows(t, s); after != want {
		t.Errorf("rows: got %v, want %v", after, want)
	}
}

// added returns how many rows an intent adds: see intentRows.
func (c beginCase) added(i *store.Intent) [4]int64 {
	out := [4]int64{1, 0, 0, min(i.Source.Token, 1)}
	if i.Key != "" && c.name != "expired key" {
		out[1] = 1
	}
	if i.Terms != (payment.Terms{}) {
		out[2] = 2
	}
	return out
}

// TestBeginPaymentTwiceAtOnce begins two payments at the same time that exclude each other. One of
// them begins, and the other one gets the result of a later request.
func TestBeginPaymentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	token := payment.StoredSource{Token: freshToken}
	for name, c := range map[string]struct {
		keys   [2]string
		source payment.StoredSource
		err    error
	}{
		"one token": {[2]string{"a", "b"}, token, payment.ErrTokenUsed},
		"one key":   {[2]string{"k", "k"}, payment.StoredSource{}, nil},
		"both":      {[2]string{"k", "k"}, token, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachEngine(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				mustStock(t, s)
				intents := [2]*store.Intent{newIntent(s, c.keys[0]), newIntent(s, c.keys[1])}
				intents[0].Source, intents[1].Source = c.source, c.source
				first, second, errs := beginBoth(t, s, intents)
				if errs[0] != nil || !first.Held {
					t.Errorf("the first: got %+v, %v", first, errs[0])
				}
				inProgress := second.SameRequest && second.Status == 0 && second.ID == first.ID
				if second.Held || !errors.Is(errs[1], c.err) || inProgress != (c.err == nil) {
					t.Errorf("the second: got %+v, %v, want %v", second, errs[1], c.err)
				}
				if n := s.Number(t, "SELECT COUNT(*) FROM transactions"); n != 1 {
					t.Errorf("got %d transactions, want 1", n)
				}
			})
		})
	}
}

// beginBoth begins two payments at the same time and returns the results. The first result belongs
// to a payment that has begun.
func beginBoth(
	t *testing.T, s *coretest.Service, intents [2]*store.Intent,
) (first, second store.Claim, errs [2]error) {
	t.Helper()
	var claims [2]store.Claim
	var wg sync.WaitGroup
	for n, i := range intents {
		wg.Go(func() { claims[n], errs[n] = s.DB.BeginPayment(t.Context(), i) })
	}
	wg.Wait()
	if !claims[0].Held {
		return claims[1], claims[0], [2]error{errs[1], errs[0]}
	}
	return claims[0], claims[1], errs
}
