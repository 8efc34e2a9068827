package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// opened says what became of openings that were written as one group.
func opened(t *testing.T, s *coretest.Service, prepare func() []*store.Opening) (all []*store.Opening, done []bool) {
	t.Helper()
	return written(t, s, "LOCK TABLE idempotency_keys IN EXCLUSIVE MODE", firstOpening(t, s), func() []*store.Opening {
		s.MustExec(t, "DELETE FROM transactions WHERE status = 'processing'") // of those that were not in one group
		s.MustExec(t, "UPDATE tokens SET used_by = 0, used_at = 0")
		return prepare()
	}, s.DB.OpenPayment)
}

func firstOpening(t *testing.T, s *coretest.Service) func() {
	t.Helper()
	return func() {
		_, _ = s.DB.OpenPayment(t.Context(), opening(s, "first"+s.Request("").ID)) // it may give up to wait
	}
}

// written says what became of all of a kind, once they were written as one group: they are prepared anew until they are. A lock holds the first back.
func written[Q any](
	t *testing.T, s *coretest.Service, lock string, first func(), prepare func() []Q, ask func(context.Context, Q) (bool, error),
) (all []Q, done []bool) {
	t.Helper()
	var mu sync.Mutex
	groups := map[int]int{}
	s.DB.Observe(func(g store.Batch) {
		mu.Lock()
		defer mu.Unlock()
		groups[g.Commands]++
	}, nil)
	for groups[len(all)] != 1 || all == nil {
		all = prepare()
		done = make([]bool, len(all))
		clear(groups)
		holdGroup(t, s, lock, first, func(wg *sync.WaitGroup) {
			for i, q := range all {
				wg.Go(func() {
					var err error
					if done[i], err = ask(t.Context(), q); err != nil {
						t.Errorf("%d: %v", i, err)
					}
				})
			}
		}, len(all)+1)
	}
	return all, done
}

// holdGroup has a first group wait for a lock until so many callers are there, and waits for all of them.
func holdGroup(t *testing.T, s *coretest.Service, lock string, first func(), start func(*sync.WaitGroup), callers int) {
	t.Helper()
	tx, err := s.Inspect.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(first)
	for s.DB.Waiting() < 1 {
		runtime.Gosched()
	}
	start(&wg)
	for s.DB.Waiting() < callers && s.DB.Waiting() > 0 {
		runtime.Gosched()
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func opening(s *coretest.Service, key string) *store.Opening {
	now := s.Clock.Now()
	return &store.Opening{Key: key, Fingerprint: []byte(key), Transaction: &payment.Transaction{
		ID: s.IDs.Next(), Tenant: s.Tenant, Status: payment.Processing, Amount: 100, Currency: "usd", PaymentMethod: "card", Details: []byte("{}"),
		CreatedAt: now, UpdatedAt: now,
	}}
}

// TestGroupLeavesOutPostgreSQL: of payments that are written as one group those are left out, and leave nothing, whose key is taken or whose customer,
// payment method or API key is not there; of two with one key one is. The others are written, each under a claim of its own.
func TestGroupLeavesOutPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	if _, err := s.Pay(t.Context(), s.Request("taken"), 100, true); err != nil {
		t.Fatal(err)
	}
	all, done := opened(t, s, func() []*store.Opening {
		run := s.Request("").ID
		all := []*store.Opening{
			opening(s, run+"a"), opening(s, ""), opening(s, run+"b"), opening(s, ""), opening(s, run+"twice"), opening(s, run+"twice"),
			opening(s, "taken"), opening(s, run+"c"), opening(s, run+"d"), opening(s, run+"e"), opening(s, run+"f"),
		}
		all[2].Terms = payment.Terms{Customer: "cus_1", Reference: "r"}
		all[7].Customer, all[8].Method, all[9].Token, all[10].Transaction.Client.APIKey = 1, 1, 1, 1
		return all
	})
	claims := map[int64]bool{}
	for i, o := range all {
		want := i < 4
		if i == 4 || i == 5 {
			want = done[9-i] != done[i] && done[i]
		}
		if done[i] != want || done[4] == done[5] {
			t.Errorf("opening %d: got %t, want %t", i, done[i], want)
		}
		rows := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ? AND claim = ?", o.Transaction.ID, o.Transaction.Claim)
		if rows != map[bool]int64{true: 1}[done[i]] {
			t.Errorf("opening %d: %d rows", i, rows)
		}
		if claims[o.Transaction.Claim] || done[i] && (o.Transaction.Claim == 0) != (o.Key == "") {
			t.Errorf("opening %d has claim %d", i, o.Transaction.Claim)
		}
		claims[o.Transaction.Claim] = o.Transaction.Claim != 0
		if held := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys WHERE key = ? AND status = 0 AND fingerprint = ?", o.Key, o.Fingerprint); done[i] && o.Key != "" && held != 1 ||
			i > 6 && held != 0 {
			t.Errorf("opening %d: its key is held %d times", i, held)
		}
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM transaction_terms WHERE transaction_id = ?", all[2].Transaction.ID); got != 2 {
		t.Errorf("got %d terms, want 2", got)
	}
}

// TestGroupWithOneTokenTwicePostgreSQL: nobody knows which of two payments is to have a token, so nothing of their group is done, and each is left to its
// own command.
func TestGroupWithOneTokenTwicePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	token := s.IDs.Next()
	s.MustExec(t, `INSERT INTO tokens (id, merchant_id, live, kind, details, vault_key, secret_hash, cvc_given, created_at, expires_at) VALUES (?, ?, 0, 'card', '{}', 0, ?, 0, 0, ?)`,
		token, s.Tenant.Merchant, []byte{}, s.Clock.Now().UnixMilli()+1)
	all, done := opened(t, s, func() []*store.Opening {
		run := s.Request("").ID
		all := []*store.Opening{opening(s, run+"a"), opening(s, run+"b"), opening(s, run+"c")}
		all[0].Token, all[2].Token = token, token
		return all
	})
	for i, o := range all {
		rows := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ?", o.Transaction.ID) + s.Number(t, "SELECT COUNT(*) FROM idempotency_keys WHERE key = ?", o.Key)
		if done[i] || rows != 0 {
			t.Errorf("opening %d: got %t with %d rows", i, done[i], rows)
		}
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM tokens WHERE used_by <> 0"); got != 0 {
		t.Error("the token is used")
	}
}

// TestManyGroupsPostgreSQL: when more wait than a group has, and groups are held up so that others begin beside them, nobody is forgotten, and the lead is
// always taken again.
func TestManyGroupsPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	open := func(wg *sync.WaitGroup, want bool) {
		for range 300 {
			wg.Go(func() {
				if done, err := s.DB.OpenPayment(t.Context(), opening(s, "")); err != nil || want && !done {
					t.Errorf("got %t, %v", done, err)
				}
			})
		}
	}
	for range 5 {
		holdGroup(t, s, "LOCK TABLE idempotency_keys IN EXCLUSIVE MODE", firstOpening(t, s), func(wg *sync.WaitGroup) { open(wg, false) }, 301) // they may give up to wait
		var wg sync.WaitGroup
		open(&wg, true)
		wg.Wait()
	}
	if got := s.DB.Waiting(); got != 0 {
		t.Errorf("%d still wait", got)
	}
}

// TestClientsGoneFromAGroupPostgreSQL: who goes away while his payment waits to be written with others has paid all the same, once, and hears of it when he
// asks again.
func TestClientsGoneFromAGroupPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	ctx, gone := context.WithCancel(t.Context())
	defer gone()
	const clients = 8
	first, over := firstOpening(t, s), atomic.Bool{}
	holdGroup(t, s, "LOCK TABLE idempotency_keys IN EXCLUSIVE MODE", func() { first(); over.Store(true) }, func(wg *sync.WaitGroup) {
		for i := range clients {
			wg.Go(func() { _, _ = s.Pay(ctx, s.Request(fmt.Sprint("gone ", i)), 100, true) }) // nobody hears the answer
		}
		for s.DB.Waiting() <= clients && (!over.Load() || s.DB.Waiting() < clients) { // the first may have given up to wait
			runtime.Gosched()
		}
		gone()
	}, 1)
	for i := range clients {
		if a, err := s.Pay(t.Context(), s.Request(fmt.Sprint("gone ", i)), 100, true); err != nil || a.Status != 201 || !a.Replayed {
			t.Errorf("%d: got %d, replayed %t, %v", i, a.Status, a.Replayed, err)
		}
	}
	if got := s.Acquirer.Moved(coretest.Authorize); got != 100*clients {
		t.Errorf("moved: got %d, want %d", got, 100*clients)
	}
}
