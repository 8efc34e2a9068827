package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// lockKeys blocks the first statement of each batch of intents.
const lockKeys = "LOCK TABLE idempotency_keys IN EXCLUSIVE MODE"

// begun is the result of BeginPayment.
type begun struct {
	store.Claim
	err error
}

// beginBatch begins payments in one batch, and returns their results in order. It retries with new
// payments until all are in one batch.
func beginBatch(
	t *testing.T, s *coretest.Service, prepare func() []*store.Intent,
) (all []*store.Intent, results []begun) {
	t.Helper()
	return writeBatch(t, s, lockKeys, beginFirst(t, s), prepare, func(i *store.Intent) begun {
		c, err := s.DB.BeginPayment(t.Context(), i)
		return begun{c, err}
	})
}

// beginFirst begins the payment that holds a batch up. It ignores a timeout.
func beginFirst(t *testing.T, s *coretest.Service) func() {
	t.Helper()
	return func() { _, _ = s.DB.BeginPayment(t.Context(), newIntent(s, "first"+s.Request("").ID)) }
}

// writeBatch writes records as one batch and returns the results in order. A lock holds up the
// first record until all others wait in the queue.
func writeBatch[Q, R any](
	t *testing.T, s *coretest.Service, lock string, first func(), prepare func() []Q, write func(Q) R,
) (all []Q, results []R) {
	t.Helper()
	var mu sync.Mutex
	batches := map[int]int{} // by size
	s.DB.Observe(func(b store.Batch) {
		mu.Lock()
		defer mu.Unlock()
		batches[b.Commands]++
	}, nil)
	for batches[len(all)] != 1 || all == nil {
		all = prepare()
		results = make([]R, len(all))
		clear(batches)
		holdBatch(t, s, lock, first, func(wg *sync.WaitGroup) {
			for n, q := range all {
				wg.Go(func() { results[n] = write(q) })
			}
		}, len(all)+1)
	}
	return all, results
}

// holdBatch holds up a first batch by a lock until the given number of callers waits for the store.
// Then it waits for all of them.
func holdBatch(t *testing.T, s *coretest.Service, lock string, first func(), start func(*sync.WaitGroup), callers int) {
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

func newIntent(s *coretest.Service, key string) *store.Intent {
	now := s.Clock.Now()
	return &store.Intent{Key: key, Fingerprint: []byte(key), Transaction: &payment.Transaction{
		ID: s.IDs.Next(), Tenant: s.Tenant, Status: payment.Processing, Amount: 100, Currency: "usd", PaymentMethod: "card",
		Details: []byte("{}"), CreatedAt: now, UpdatedAt: now,
	}}
}

// wantIntent checks that all rows of an intent exist, or none.
func wantIntent(t *testing.T, s *coretest.Service, what string, i *store.Intent, got begun, want bool) {
	t.Helper()
	rows := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ? AND claim = ?", i.Transaction.ID, got.ID)
	keys := s.Number(t, `SELECT COUNT(*) FROM idempotency_keys WHERE id = ? AND key = ? AND status = 0 AND fingerprint = ?`,
		got.ID, i.Key, i.Fingerprint)
	terms := s.Number(t, "SELECT COUNT(*) FROM transaction_terms WHERE transaction_id = ?", i.Transaction.ID)
	all := [3]int64{}
	if want {
		all = [3]int64{1, 0, 0}
		if i.Key != "" {
			all[1] = 1
		}
		if i.Terms != (payment.Terms{}) {
			all[2] = 2
		}
	}
	if !got.Held && got.ID != 0 { // the key is another request's
		keys = 0
	}
	if held := got.Held && got.err == nil; held != want || [3]int64{rows, keys, terms} != all {
		t.Errorf("%s: got %+v and rows %v, want %t and %v", what, got, [3]int64{rows, keys, terms}, want, all)
	}
}

// TestBatchOfIntentsPostgreSQL begins payments in one batch. Intents whose key is taken, or whose
// payment source or API key does not exist, leave no row and get the reason. Of two intents with
// one key, one is written, and the other gets the claim of the first.
func TestBatchOfIntentsPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	if _, err := s.Pay(t.Context(), s.Request("taken"), 100, true); err != nil {
		t.Fatal(err)
	}
	all, results := beginBatch(t, s, func() []*store.Intent {
		run := s.Request("").ID
		all := []*store.Intent{
			newIntent(s, run+"a"), newIntent(s, ""), newIntent(s, run+"b"), newIntent(s, ""), newIntent(s, run+"twice"),
			newIntent(s, run+"twice"), newIntent(s, "taken"), newIntent(s, run+"c"), newIntent(s, run+"d"),
			newIntent(s, run+"e"), newIntent(s, run+"f"),
		}
		all[2].Terms = payment.Terms{Customer: "cus_1", Reference: "r"}
		all[7].Source.Customer, all[8].Source.Method, all[9].Source.Token = 1, 1, 1
		all[10].Transaction.Client.APIKey = 1
		return all
	})
	for n, i := range all[:4] {
		wantIntent(t, s, fmt.Sprint(n), i, results[n], true)
	}
	first, second := 4, 5
	if !results[first].Held {
		first, second = second, first
	}
	wantIntent(t, s, "the first with its key", all[first], results[first], true)
	wantIntent(t, s, "the second with its key", all[second], results[second], false)
	if c := results[second]; c.err != nil || !c.SameRequest || c.Status != 0 || c.ID != results[first].ID {
		t.Errorf("the second with its key: got %+v, want the claim of the first, %d", c, results[first].ID)
	}
	wantIntent(t, s, "a taken key", all[6], results[6], false)
	if c := results[6]; c.err != nil || c.SameRequest || c.ID == 0 {
		t.Errorf("a taken key: got %+v, want the claim of another request", c)
	}
	reasons := []error{payment.ErrNoCustomer, payment.ErrNoSource, payment.ErrNoSource, payment.ErrKeyEnded}
	for n, want := range reasons {
		n += 7
		if wantIntent(t, s, fmt.Sprint(n), all[n], results[n], false); !errors.Is(results[n].err, want) {
			t.Errorf("intent %d: got %v, want %v", n, results[n].err, want)
		}
	}
}

// TestBatchWithOneTokenTwicePostgreSQL begins three payments in one batch, two of them with one
// token. One of the two uses the token up, and the other gets the refusal of a used token.
func TestBatchWithOneTokenTwicePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	token := s.IDs.Next()
	mustInsertToken(t, s, token)
	all, results := beginBatch(t, s, func() []*store.Intent {
		s.MustExec(t, "UPDATE tokens SET used_by = 0, used_at = 0")
		run := s.Request("").ID
		all := []*store.Intent{newIntent(s, run+"a"), newIntent(s, run+"b"), newIntent(s, run+"c")}
		all[0].Source.Token, all[2].Source.Token = token, token
		return all
	})
	first, second := 0, 2
	if !results[first].Held {
		first, second = second, first
	}
	wantIntent(t, s, "the first", all[first], results[first], true)
	wantIntent(t, s, "without a token", all[1], results[1], true)
	wantIntent(t, s, "the second", all[second], results[second], false)
	if err := results[second].err; !errors.Is(err, payment.ErrTokenUsed) {
		t.Errorf("the second: got %v, want %v", err, payment.ErrTokenUsed)
	}
	if got := s.Number(t, "SELECT used_by FROM tokens WHERE id = ?", token); got != all[first].Transaction.ID {
		t.Errorf("the token is used by %d, want %d", got, all[first].Transaction.ID)
	}
}

// TestTokenOfABatchThatIsNotWrittenPostgreSQL begins two payments with one token in one batch. The
// first one's key is taken, so the second one uses the token.
func TestTokenOfABatchThatIsNotWrittenPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	if _, err := s.Pay(t.Context(), s.Request("taken"), 100, true); err != nil {
		t.Fatal(err)
	}
	token := s.IDs.Next()
	mustInsertToken(t, s, token)
	all, results := beginBatch(t, s, func() []*store.Intent {
		s.MustExec(t, "UPDATE tokens SET used_by = 0, used_at = 0")
		all := []*store.Intent{newIntent(s, "taken"), newIntent(s, s.Request("").ID)}
		all[0].Source.Token, all[1].Source.Token = token, token
		return all
	})
	wantIntent(t, s, "the first", all[0], results[0], false)
	wantIntent(t, s, "the second", all[1], results[1], true)
	if got := s.Number(t, "SELECT used_by FROM tokens WHERE id = ?", token); got != all[1].Transaction.ID {
		t.Errorf("the token is used by %d, want %d", got, all[1].Transaction.ID)
	}
}

// sharedStores returns the ways in which a payment can be written on PostgreSQL.
func sharedStores() map[string]func(testing.TB) *coretest.Service {
	return map[string]func(testing.TB) *coretest.Service{
		"batch, PostgreSQL": coretest.OpenShared, "alone, PostgreSQL": coretest.OpenAlone,
	}
}

// duringTransaction runs write while a transaction has run statements, and commits the transaction
// once write waits for it. It fails if write does not wait.
func duringTransaction(t *testing.T, s *coretest.Service, statements []string, write func()) {
	t.Helper()
	tx, err := s.Inspect.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); write() }()
	for waiting := 0; waiting == 0; runtime.Gosched() {
		select {
		case <-done:
			t.Fatal("it did not wait for the transaction")
		default:
		}
		err := tx.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	<-done
}

// TestBeginDuringAnotherRequestPostgreSQL begins a payment while another process has claimed its
// key, or used its token, and has not yet committed. The payment waits, and gets the result of a
// later request.
func TestBeginDuringAnotherRequestPostgreSQL(t *testing.T) {
	t.Parallel()
	const token = 5
	for name, open := range sharedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			mustInsertToken(t, s, token)
			i := newIntent(s, "key")
			var got begun
			begin := func() { got.Claim, got.err = s.DB.BeginPayment(t.Context(), i) }
			duringTransaction(t, s, []string{fmt.Sprintf(`INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at)
				VALUES (%d, 0, 'key', 'key', 0, 0)`, s.Tenant.Merchant)}, begin)
			if got.err != nil || got.Held || !got.SameRequest || got.Status != 0 {
				t.Errorf("the key: got %+v, want the other request in progress", got)
			}
			i = newIntent(s, "another key")
			i.Source.Token = token
			duringTransaction(t, s, []string{fmt.Sprint("UPDATE tokens SET used_by = 9, used_at = 1 WHERE id = ", token)}, begin)
			if !errors.Is(got.err, payment.ErrTokenUsed) {
				t.Errorf("the token: got %+v, want %v", got, payment.ErrTokenUsed)
			}
			if n := s.Number(t, "SELECT COUNT(*) FROM transactions"); n != 0 {
				t.Errorf("got %d transactions, want 0", n)
			}
		})
	}
}

func mustInsertToken(t *testing.T, s *coretest.Service, token int64) {
	t.Helper()
	s.MustExec(t, `INSERT INTO tokens (id, merchant_id, live, kind, details, vault_key, secret_hash, cvc_given, created_at, expires_at)
		VALUES (?, ?, 0, 'card', '{}', 0, ?, 0, 0, ?)`,
		token, s.Tenant.Merchant, []byte{}, s.Clock.Now().UnixMilli()+1)
}

// TestManyBatchesPostgreSQL begins more payments than a batch holds, while a lock holds up the
// batches so that others begin before they end. Each payment gets a result.
func TestManyBatchesPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	begin := func(wg *sync.WaitGroup, held bool) {
		for range 300 {
			wg.Go(func() {
				c, err := s.DB.BeginPayment(t.Context(), newIntent(s, ""))
				if timeout := held && errors.Is(err, store.ErrUnavailable); !timeout && (err != nil || !c.Held) {
					t.Errorf("got %+v, %v", c, err)
				}
			})
		}
	}
	for range 5 {
		holdBatch(t, s, lockKeys, beginFirst(t, s), func(wg *sync.WaitGroup) { begin(wg, true) }, 301)
		var wg sync.WaitGroup
		begin(&wg, false)
		wg.Wait()
	}
	if got := s.DB.Waiting(); got != 0 {
		t.Errorf("%d still wait", got)
	}
}

// TestClientsGoneFromABatchPostgreSQL ends the requests of clients while their payments wait for a
// batch. Each payment is made once, and a retry gets its response.
func TestClientsGoneFromABatchPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	ctx, gone := context.WithCancel(t.Context())
	defer gone()
	const clients = 8
	first, over := beginFirst(t, s), atomic.Bool{}
	holdBatch(t, s, lockKeys, func() { first(); over.Store(true) }, func(wg *sync.WaitGroup) {
		for n := range clients {
			wg.Go(func() { _, _ = s.Pay(ctx, s.Request(fmt.Sprint("gone ", n)), 100, true) }) // no client reads the response
		}
		for s.DB.Waiting() <= clients && (!over.Load() || s.DB.Waiting() < clients) { // the first may time out
			runtime.Gosched()
		}
		gone()
	}, 1)
	for n := range clients {
		a, err := s.Pay(t.Context(), s.Request(fmt.Sprint("gone ", n)), 100, true)
		if err != nil || a.Status != 201 || !a.Replayed {
			t.Errorf("%d: got %d, replayed %t, %v", n, a.Status, a.Replayed, err)
		}
	}
	if got := s.Acquirer.Moved(coretest.Authorize); got != 100*clients {
		t.Errorf("moved: got %d, want %d", got, 100*clients)
	}
}
