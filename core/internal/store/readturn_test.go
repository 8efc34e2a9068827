package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// heldRows is an engine whose reads of one row wait while hold returns a channel, until it closes.
type heldRows struct {
	store.Engine
	hold func(p store.Purpose, s *store.Statement, args []any) <-chan struct{}
}

// Row implements store.Engine.
func (h heldRows) Row(ctx context.Context, p store.Purpose, s *store.Statement, args ...any) store.Scanner {
	return heldRow{h.Engine.Row(ctx, p, s, args...), func() <-chan struct{} { return h.hold(p, s, args) }}
}

type heldRow struct {
	store.Scanner
	hold func() <-chan struct{}
}

// Scan implements store.Scanner.
func (h heldRow) Scan(dest ...any) error {
	if held := h.hold(); held != nil {
		<-held
	}
	return h.Scanner.Scan(dest...)
}

// heldReads are reads by id that wait until release is called.
type heldReads struct {
	*coretest.Service
	release func()
	ended   sync.WaitGroup

	mu      sync.Mutex
	started []string // statements of the reads that wait, in the order of their begin
}

// holdReads makes the reads of a purpose wait for which held returns true.
func holdReads(t *testing.T, p store.Purpose, held func(s *store.Statement, args []any) bool) *heldReads {
	t.Helper()
	h := &heldReads{Service: coretest.Open(t)}
	h.DB.WaitForTurns(time.Hour)
	released := make(chan struct{})
	h.release = sync.OnceFunc(func() { close(released) })
	h.DB.Wrap(func(e store.Engine) store.Engine {
		return heldRows{e, func(of store.Purpose, s *store.Statement, args []any) <-chan struct{} {
			if of != p || !held(s, args) {
				return nil
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.started = append(h.started, s.String())
			return released
		}}
	})
	t.Cleanup(func() { h.release(); h.ended.Wait() })
	return h
}

// names returns the statements of the reads that have begun.
func (h *heldReads) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.started)
}

// begin starts a number of reads.
func (h *heldReads) begin(t *testing.T, reads int, read func() error) {
	t.Helper()
	for range reads {
		h.ended.Go(func() {
			if err := found(read()); err != nil {
				t.Error(err)
			}
		})
	}
}

// tenantReads returns all reads by id of a tenant.
func tenantReads(ctx context.Context, db *store.DB, of payment.Tenant) map[string]func() error {
	return map[string]func() error{
		"transaction":  func() error { _, err := db.Transaction(ctx, of, 1); return err },
		"capture":      func() error { _, err := db.Capture(ctx, of, 1); return err },
		"refund":       func() error { _, err := db.Refund(ctx, of, 1); return err },
		"customer":     func() error { _, err := db.Customer(ctx, of, 1); return err },
		"method":       func() error { _, err := db.Method(ctx, of, 1); return err },
		"token":        func() error { _, err := db.Token(ctx, of, 1); return err },
		"event":        func() error { _, err := db.Event(ctx, of, 1); return err },
		"endpoint":     func() error { _, err := db.Endpoint(ctx, of, 1); return err },
		"test clock":   func() error { _, err := db.TestClock(ctx, of.Merchant); return err },
		"stored key":   func() error { _, err := db.IdempotencyKey(ctx, of, "k"); return err },
		"stored claim": func() error { _, err := db.StoredResponse(ctx, 0, of, "k"); return err },
		"API key": func() error {
			_, err := db.StoredResponse(ctx, 1, of, "k")
			if errors.Is(err, payment.ErrKeyEnded) {
				return nil
			}
			return err
		},
	}
}

// TestReadsByIDTakeTurns: the reads by id of a merchant never end. They have three quarters of the
// connections, and the next read is of another merchant.
func TestReadsByIDTakeTurns(t *testing.T) {
	t.Parallel()
	for name := range tenantReads(t.Context(), nil, payment.Tenant{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			busy, other := payment.Tenant{Merchant: 11}, payment.Tenant{Merchant: 12} // no other arguments
			h := holdReads(t, store.ByID, func(s *store.Statement, args []any) bool {
				return slices.Contains(args, any(busy.Merchant)) || s.String() == "selectKeyUse"
			})
			ctx := context.WithoutCancel(t.Context())
			const reads = 8
			h.begin(t, reads, tenantReads(ctx, h.DB, busy)[name])
			programtest.WaitFor(t, "the reads run or wait", func() bool {
				return len(h.names())+h.DB.WaitingReads(store.ByID) == reads
			})
			if got, want := len(h.names()), h.DB.ReadShare(); got != want {
				t.Errorf("reads at the same time: got %d, want %d", got, want)
			}
			soon, end := context.WithTimeout(ctx, time.Minute)
			defer end()
			if _, err := h.DB.Transaction(soon, other, 1); !errors.Is(err, payment.ErrNotFound) {
				t.Errorf("another merchant: got %v, want %v", err, payment.ErrNotFound)
			}
		})
	}
}

// TestReadsOfStepsGoFirst: many reads of a merchant wait for their turn. A read for a step that has
// begun, or for background work, has the merchant's next turn.
func TestReadsOfStepsGoFirst(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(context.Context) context.Context{
		"step": store.ForStep, "background": store.InBackground,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := payment.Tenant{Merchant: 1, Live: true}
			begun, first := make(chan struct{}), make(chan struct{})
			end := sync.OnceFunc(func() { close(first) })
			h := holdReads(t, store.ByID, func(s *store.Statement, _ []any) bool {
				if s.String() == "selectEvent" {
					close(begun)
					<-first
					return false
				}
				return true
			})
			t.Cleanup(end)
			ctx := context.WithoutCancel(t.Context())
			event := func() error { _, err := h.DB.Event(ctx, of, 1); return err }
			h.begin(t, 1, event)
			<-begun
			others := h.DB.ReadShare() - 1
			h.begin(t, others, func() error { _, err := h.DB.Capture(ctx, of, 1); return err })
			programtest.WaitFor(t, "the reads run", func() bool { return len(h.names()) == others })
			h.begin(t, 4, func() error { _, err := h.DB.Transaction(ctx, of, 1); return err })
			programtest.WaitFor(t, "the reads wait", func() bool { return h.DB.WaitingReads(store.ByID) == 4 })
			h.begin(t, 1, func() error { _, err := h.DB.Refund(mark(ctx), of, 1); return err })
			programtest.WaitFor(t, "the marked read runs or waits", func() bool {
				return len(h.names()) > others || h.DB.WaitingReads(store.ByID) == 5
			})
			end()
			programtest.WaitFor(t, "the next read runs", func() bool { return len(h.names()) > others })
			if got := h.names()[others]; got != "selectRefund" {
				t.Errorf("next read: got %s, want selectRefund", got)
			}
		})
	}
}

// getTransaction reads a transaction by the API of a service.
func getTransaction(t *testing.T, s *coretest.Service, transaction int64) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	path := "/v1/transactions/" + id.Format(id.Transaction, transaction)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header = http.Header{"Authorization": {"Bearer " + s.Key}}
	s.API.ServeHTTP(w, r)
	return w
}

// TestRefusedReads: too many reads of a merchant wait. One more is refused, but not a read for a
// step that has begun.
func TestRefusedReads(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.DB.WaitForTurns(time.Hour)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
	paid := s.Number(t, "SELECT id FROM transactions")
	s.DB.RefuseReads()
	w := getTransaction(t, s, paid)
	wantCode(t, "a read", w, 429, "rate_limited")
	if w.Header().Get("Retry-After") == "" {
		t.Error("the refusal has no Retry-After")
	}
	path := "/v1/transactions/" + id.Format(id.Transaction, paid) + "/captures"
	if w := send(t, s, s.Key, path, "", "k"); w.Code != 201 {
		t.Errorf("capture: got %d %s", w.Code, w.Body)
	}
}

// TestReadsOfRecovery: too many reads of a merchant wait. Recovery still reads the merchant's
// captures and refunds, and ends their reversals.
func TestReadsOfRecovery(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
	paid := s.Number(t, "SELECT id FROM transactions")
	if a, err := s.Engine.Capture(t.Context(), s.Request(""), paid, 60, true, nil); err != nil || a.Status != 201 {
		t.Fatalf("capture: %d, %v", a.Status, err)
	}
	if a, err := s.Engine.Refund(t.Context(), s.Request(""), paid, 0, 60, []byte("{}")); err != nil || a.Status != 201 {
		t.Fatalf("refund: %d, %v", a.Status, err)
	}
	steps := []payment.StepID{
		{Kind: payment.CaptureStep, Transaction: paid, ID: s.Number(t, "SELECT id FROM captures")},
		{Kind: payment.RefundStep, Transaction: paid, ID: s.Number(t, "SELECT id FROM refunds")},
	}
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		for _, step := range steps {
			r := &payment.Reversal{Step: step, Tenant: s.Tenant, Amount: 60, Currency: "usd", Since: tx.Now, DueAt: tx.Now}
			if err := tx.InsertReversal(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.DB.RefuseReads()
	s.Recover(t)
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
		t.Errorf("pending reversals: got %d, want none", got)
	}
}

// TestReadsOfAnOutage: no read ends. A read whose turn does not come names the store as the reason,
// and not the merchant.
func TestReadsOfAnOutage(t *testing.T) {
	t.Parallel()
	h := holdReads(t, store.ByID, func(*store.Statement, []any) bool { return true })
	share := h.DB.ReadShare()
	h.begin(t, share, func() error {
		_, err := h.DB.Transaction(context.WithoutCancel(t.Context()), h.Tenant, 1)
		return err
	})
	programtest.WaitFor(t, "the reads run", func() bool { return len(h.names()) == share })
	h.DB.WaitForTurns(time.Nanosecond)
	wantCode(t, "a read", getTransaction(t, h.Service, 1), 503, "store_unavailable")
}

// TestReadBounds: one of the two connections of authentication is for merchants of which no read
// runs. Live mode and operators have their turns before test mode and unknown keys.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	for connections, share := range map[int]int{1: 1, 2: 1, 4: 3, 16: 12} {
		if b := store.ReadBounds(connections); b.Slots != connections || b.Share != share {
			t.Errorf("%d connections: got %d slots, %d shared, want %d shared", connections, b.Slots, b.Share, share)
		}
	}
	later := store.ReadBounds(2).Later
	for c, want := range map[store.Caller]bool{
		{}: false, {Tenant: payment.Tenant{Merchant: 1, Live: true}}: false,
		{Tenant: payment.Tenant{Merchant: 1}}: true, store.UnknownKey: true,
	} {
		if got := later(c); got != want {
			t.Errorf("%+v: later: got %t, want %t", c, got, want)
		}
	}
}

// mustMint makes a secret test key of the service's tenant, and stores it if stored is set.
func mustMint(t *testing.T, s *coretest.Service, stored bool) string {
	t.Helper()
	m, err := auth.Mint(coretest.Roots(), rand.Reader, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
	if err != nil {
		t.Fatal(err)
	}
	m.Key.ID = s.IDs.Next()
	if stored {
		if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertKey(m.Key, m.Hash) }); err != nil {
			t.Fatal(err)
		}
	}
	return m.Secret.Reveal()
}

// TestUnknownKeysShareOneTurn: the reads of unknown API keys never end. They have one connection. A
// key that was used before is read on the other one. A new key has its turn among the unknown keys.
func TestUnknownKeysShareOneTurn(t *testing.T) {
	t.Parallel()
	var known [][]byte // hashes
	var holds atomic.Bool
	h := holdReads(t, store.Essential, func(_ *store.Statement, args []any) bool {
		hash := args[0].([]byte)
		if !holds.Load() {
			known = append(known, hash)
			return false
		}
		return !slices.ContainsFunc(known, func(k []byte) bool { return bytes.Equal(k, hash) })
	})
	a := auth.New(h.DB, h.Clock, coretest.Roots())
	ctx := context.WithoutCancel(t.Context())
	authenticate := func(ctx context.Context, key string, want error) func() error {
		return func() error {
			if _, err := a.Authenticate(ctx, key); !errors.Is(err, want) {
				return fmt.Errorf("got %w, want %w", err, want)
			}
			return nil
		}
	}
	soon, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	used, made := mustMint(t, h.Service, true), mustMint(t, h.Service, true)
	if err := authenticate(soon, used, nil)(); err != nil {
		t.Fatal(err)
	}
	holds.Store(true)
	const unknown = 8
	for range unknown {
		h.begin(t, 1, authenticate(ctx, mustMint(t, h.Service, false), auth.ErrInvalidKey))
	}
	h.begin(t, 1, authenticate(ctx, made, nil))
	programtest.WaitFor(t, "the reads run or wait", func() bool {
		return len(h.names())+h.DB.WaitingReads(store.Essential) == unknown+1
	})
	if got := len(h.names()); got != 1 {
		t.Errorf("reads of unknown keys at the same time: got %d, want 1", got)
	}
	for range 2 {
		h.Clock.Advance(time.Second) // past the cache
		if err := authenticate(soon, used, nil)(); err != nil {
			t.Error(err)
		}
		a.Forget(h.Tenant.Merchant)
		if err := authenticate(soon, used, nil)(); err != nil {
			t.Error(err)
		}
	}
}

// fromAddress returns the context of a request from a client address.
func fromAddress(t *testing.T, address string) (ctx context.Context) {
	t.Helper()
	r := httptest.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, "/", nil)
	r.RemoteAddr = address + ":1234"
	keep := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() })
	httpx.ClientAddress(secret.String{}, keep).ServeHTTP(httptest.NewRecorder(), r)
	return ctx
}

// TestNewKeyAmongUnknownKeys: as many reads of unknown API keys as may wait do so, from a few
// networks. A valid key from another network that was not read before waits for its turn, and an
// unknown key is refused.
func TestNewKeyAmongUnknownKeys(t *testing.T) {
	t.Parallel()
	h := holdReads(t, store.Essential, func(*store.Statement, []any) bool { return true })
	a := auth.New(h.DB, h.Clock, coretest.Roots())
	var refused atomic.Int64
	authenticate := func(address, key string) error {
		_, err := a.Authenticate(fromAddress(t, address), key)
		if errors.Is(err, payment.ErrTooManyReads) {
			refused.Add(1)
		}
		return err
	}
	const networks, each = 16, 40 // 512 of the 640 can wait
	for n := range networks * each {
		key := mustMint(t, h.Service, false)
		h.ended.Go(func() { _ = authenticate(fmt.Sprintf("203.0.113.%d", 1+n%networks), key) })
	}
	programtest.WaitFor(t, "the reads run, wait or are refused", func() bool {
		return int64(len(h.names())+h.DB.WaitingReads(store.Essential))+refused.Load() == networks*each
	})
	made, before := mustMint(t, h.Service, true), refused.Load()
	h.ended.Go(func() {
		if err := authenticate("198.51.100.1", made); err != nil {
			t.Errorf("a valid key: %v", err)
		}
	})
	programtest.WaitFor(t, "a read is refused", func() bool { return refused.Load() > before })
	h.release()
	h.ended.Wait()
}

// TestOwnKeysTakeTurns: the reads of a merchant's own keys never end. They have one of the two
// connections of authentication.
func TestOwnKeysTakeTurns(t *testing.T) {
	t.Parallel()
	const busy = 7 // an id
	h := holdReads(t, store.Essential, func(_ *store.Statement, args []any) bool { return args[0] == any(int64(busy)) })
	ctx := context.WithoutCancel(t.Context())
	const reads = 4
	h.begin(t, reads, func() error { _, err := h.DB.KeyByID(ctx, payment.Tenant{Merchant: 1}, busy); return err })
	programtest.WaitFor(t, "the reads run or wait", func() bool {
		return len(h.names())+h.DB.WaitingReads(store.Essential) == reads
	})
	if got := len(h.names()); got != 1 {
		t.Errorf("reads at the same time: got %d, want 1", got)
	}
	soon, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	_, merchant := h.DB.KeyByID(soon, payment.Tenant{Merchant: 2}, 1)
	_, hash := h.DB.KeyByHash(soon, nil, netip.Prefix{}, []byte("hash"))
	_, operator := h.DB.Operator(soon, 1)
	for _, err := range []error{merchant, hash, operator} {
		if !errors.Is(err, payment.ErrNotFound) {
			t.Errorf("got %v, want %v", err, payment.ErrNotFound)
		}
	}
}

// TestKeyReadDuringAChange: a key that is read while a key of its merchant changes is not cached,
// however many keys of other merchants change meanwhile. Those alone do not matter.
func TestKeyReadDuringAChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own    bool
		others int64
		reads  int // of two requests
	}{
		"own": {true, 0, 2}, "another merchant's": {false, 1, 1}, "own and many others": {true, 5000, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := holdReads(t, store.Essential, func(*store.Statement, []any) bool { return true })
			a := auth.New(h.DB, h.Clock, coretest.Roots())
			key := mustMint(t, h.Service, true)
			use := func() error { _, err := a.Authenticate(context.WithoutCancel(t.Context()), key); return err }
			h.begin(t, 1, use)
			programtest.WaitFor(t, "the key is read", func() bool { return len(h.names()) == 1 })
			if c.own {
				a.Forget(h.Tenant.Merchant)
			}
			for n := range c.others {
				a.Forget(h.Tenant.Merchant + 1 + n)
			}
			h.release()
			h.ended.Wait()
			if err := use(); err != nil {
				t.Error(err)
			}
			if got := len(h.names()); got != c.reads {
				t.Errorf("reads: got %d, want %d", got, c.reads)
			}
		})
	}
}
