package core_test

import (
	"bytes"
	"database/sql"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// inbox is a receiver of webhooks that takes none before it is opened.
type inbox struct {
	*httptest.Server
	open  atomic.Bool
	mu    sync.Mutex
	taken map[string]int // guarded by mu: by webhook-id, how often it was taken
}

func openInbox(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{taken: map[string]int{}}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !in.open.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.taken[r.Header.Get("Webhook-Id")]++
	}))
	t.Cleanup(in.Close)
	return in
}

func (in *inbox) counts() map[string]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return maps.Clone(in.taken)
}

// business is what a merchant has at a moment, by the paths that show it.
type business struct {
	b          *bundle
	shown      map[string]string // path → body
	authorized string            // a payment that waits for its capture
	stored     string            // a payment method of a customer
	waiting    v1.Transaction    // a payment that waits for its confirmation
	keyed      answer            // what a create under the key "once" was answered
}

// openBusiness makes something of every kind by the API.
func (b *bundle) openBusiness(t *testing.T) *business {
	t.Helper()
	s := &business{b: b, shown: map[string]string{}}
	s.keyed = b.post(t, "/v1/transactions", create(4321, `,"reference":"größer"`), keyed("once"))
	customer := b.MustCustomer(t, `{"email":"payer@example.com","reference":"c-1"}`)
	method := MustDecode[v1.PaymentMethod](t, b.post(t, "/v1/customers/"+customer.ID+"/payment_methods", `{"token":"`+b.MustToken(t, visa).ID+`"}`), 201)
	s.stored = method.ID
	s.authorized = b.MustCreate(t, 900, manual+`,"customer":"`+customer.ID+`"`).ID
	part := b.MustCreate(t, 700, manual).ID
	MustDecode[v1.Capture](t, b.capture(t, part, `{"amount":300,"final":false}`), 201)
	refunded := b.MustCreate(t, 600, "").ID
	MustDecode[v1.Refund](t, b.refund(t, refunded, `,"amount":50`), 201)
	voided := b.MustCreate(t, 500, manual).ID
	MustDecode[v1.Transaction](t, b.void(t, voided), 200)
	s.waiting = MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(800, `,"confirm":false`)), 201)
	b.settle(t, refunded)
	b.post(t, "/v1/test_helpers/clock/advance", `{"seconds":60}`)
	for _, id := range []string{s.authorized, part, refunded, voided, s.waiting.ID} {
		s.shown["/v1/transactions/"+id] = ""
	}
	s.shown["/v1/customers/"+customer.ID], s.shown["/v1/customers/"+customer.ID+"/payment_methods"] = "", ""
	s.shown["/v1/refunds"], s.shown["/v1/transactions?limit=100"], s.shown["/v1/idempotency_keys/once"] = "", "", ""
	s.shown["/v1/transactions?reference=gr%C3%B6%C3%9Fer"], s.shown["/v1/customers?email=payer@example.com"] = "", ""
	return s
}

// look notes what v1 shows of it now.
func (s *business) look(t *testing.T) {
	t.Helper()
	for path := range s.shown {
		a := s.b.get(t, path)
		if a.status != 200 {
			t.Errorf("%s: got %d %s", path, a.status, a.body)
		}
		s.shown[path] = string(a.body)
	}
}

// wantUnchanged holds what v1 shows to what it showed, and goes on with what was open.
func (s *business) wantUnchanged(t *testing.T) {
	t.Helper()
	for path, want := range s.shown {
		if a := s.b.get(t, path); a.status != 200 || string(a.body) != want {
			t.Errorf("%s: got %d %s, want %s", path, a.status, a.body, want)
		}
	}
	again := s.b.post(t, "/v1/transactions", create(4321, `,"reference":"größer"`), keyed("once"))
	if again.header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(again.body, s.keyed.body) {
		t.Errorf("replayed: got %d %s, want %s", again.status, again.body, s.keyed.body)
	}
	MustDecode[v1.Capture](t, s.b.capture(t, s.authorized, ""), 201) // the simulator remembers it
	MustDecode[v1.Transaction](t, s.b.pay(t, s.stored, ""), 201)     // the vault opens the card
	confirmed := s.b.post(t, "/v1/transactions/"+s.waiting.ID+"/confirm", `{"client_secret":"`+s.waiting.ClientSecret.Reveal()+`"}`)
	MustDecode[v1.Transaction](t, confirmed, 200)
}

// migration moves to an empty database.
func migration(t *testing.T) (core.Migration, secret.String, *bytes.Buffer) {
	t.Helper()
	var told bytes.Buffer
	url := secret.New(pgtest.Schema(t) + "&patience=30s")
	return core.Migration{To: postgres.MoveTarget(url), Progress: &told}, url, &told
}

// folder is the bundle's configuration with the key that a database needs; the folder's own keyset is encrypted by what derives from its secret.
func (b *bundle) folder() core.Config {
	return core.Config{Data: b.dir, Clock: b.clock, VaultKEK: testKEK()}
}

// MustMoveTo has the bundle's service, which is stopped, go on with what the folder was moved to.
func (b *bundle) MustMoveTo(t *testing.T, url secret.String) {
	t.Helper()
	var err error
	if b.moved, err = postgres.Database(url); err != nil {
		t.Fatal(err)
	}
	if b.inspect, err = sql.Open("pgx", strings.TrimSuffix(url.Reveal(), "&patience=30s")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.inspect.Close() }) // it wrote nothing
	b.start(t)
}

// TestMoveBesideTheServiceSQLite moves a store that takes payments all the while, and goes on with it on PostgreSQL: nothing that was answered is
// lost or other than it was, and each event is delivered, once.
func TestMoveBesideTheServiceSQLite(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, private: true})
	in := openInbox(t)
	hook := b.MustHook(t, in.URL)
	s := b.openBusiness(t)
	b.MustRotate(t, false)
	till := b.openTill(t, 2)
	for range cap(till.warm) {
		<-till.warm
	}
	m, url, told := migration(t)
	for range 2 {
		if err := core.CopyData(t.Context(), b.folder(), m); err != nil {
			t.Fatalf("%v\n%s", err, told)
		}
	}
	if _, err := core.FinishData(t.Context(), b.folder(), m); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("finished beside the service: %v", err)
	}
	till.stop.Store(true)
	till.wg.Wait()
	s.look(t)
	events := b.number(t, "SELECT COUNT(*) FROM events")
	deliveries := b.number(t, "SELECT COUNT(*) FROM webhook_deliveries")
	b.stop(t)

	moved, err := core.FinishData(t.Context(), b.folder(), m)
	if err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	i := slices.IndexFunc(moved.Tables, func(m core.MovedTable) bool { return m.Name == "events" })
	if i < 0 || moved.Tables[i].Rows != events || moved.Tables[i].Hash == "0" {
		t.Errorf("moved %+v, want %d events", moved.Tables, events)
	}
	for name, open := range map[string]func() error{
		"serve": func() error { _, err := core.Open(t.Context(), core.Config{Data: b.dir}); return err },
		"admin": func() error { _, err := core.OpenAdmin(t.Context(), core.Config{Data: b.dir}); return err },
	} {
		if err := open(); !errors.Is(err, store.ErrMoved) || !strings.Contains(err.Error(), "core migrate-data --undo") {
			t.Errorf("%s of the old store: got %v", name, err)
		}
	}

	in.open.Store(true)
	b.clock.Advance(13 * time.Hour) // to the next attempt of each delivery, at the latest, but not to the next day
	b.MustMoveTo(t, url)
	s.wantUnchanged(t)
	for _, id := range till.answered() {
		b.wantTransaction(t, id, v1.TransactionStatusAuthorized, amounts{100, 0, 0, 100, 0})
	}
	if a := b.post(t, "/v1/transactions", create(100, manual), keyed("w0-0")); a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("not replayed: %d %s", a.status, a.body)
	}
	b.wantDelivered(t, in, hook.ID, int(deliveries))
	t.Logf("%d payments, %d deliveries, %s", len(till.answered()), deliveries, moved.Closed)
}

// wantDelivered waits until every delivery has come, those of later events too; none may come twice.
func (b *bundle) wantDelivered(t *testing.T, in *inbox, hook string, least int) {
	t.Helper()
	b.until(t, func() bool {
		return b.number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending'") == 0
	})
	if n := b.number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE status <> 'succeeded'"); n > 0 {
		t.Errorf("%d deliveries were given up", n)
	}
	counts := in.counts()
	if len(counts) < least || int64(len(counts)) != b.number(t, "SELECT COUNT(*) FROM webhook_deliveries") {
		t.Errorf("%d deliveries came to %s, want %d and the later ones", len(counts), hook, least)
	}
	for id, n := range counts {
		if n != 1 {
			t.Errorf("%s was delivered %d times", id, n)
		}
	}
}

// TestUndoneMoveSQLite goes back to a folder, which has what it had.
func TestUndoneMoveSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.openBusiness(t)
	s.look(t)
	b.stop(t)
	m, _, _ := migration(t)
	if _, err := core.FinishData(t.Context(), b.folder(), m); err != nil {
		t.Fatal(err)
	}
	if err := core.UndoMove(t.Context(), b.folder(), m, false); err != nil {
		t.Fatal(err)
	}
	b.start(t)
	s.wantUnchanged(t)
}

// hide has a file of the folder be gone while fn runs.
func (b *bundle) hide(t *testing.T, name string, fn func()) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.Rename(path, path+".hidden"); err != nil {
		t.Fatal(err)
	}
	fn()
	if err := os.Rename(path+".hidden", path); err != nil {
		t.Fatal(err)
	}
}

// TestMovesThatAreRefusedSQLite leave all as it is.
func TestMovesThatAreRefusedSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.openBusiness(t)
	b.stop(t)
	m, _, _ := migration(t)
	wantError := func(cfg core.Config, want string) {
		t.Helper()
		if _, err := core.FinishData(t.Context(), cfg, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	cfg := b.folder()
	cfg.VaultKEK = secret.String{}
	wantError(cfg, "CAUSEWAY_VAULT_KEK")
	wantError(core.Config{Data: t.TempDir(), VaultKEK: testKEK()}, core.ErrNoStore.Error())
	b.hide(t, "vault.keyset", func() { wantError(b.folder(), "vault.keyset") })
	b.hide(t, "root.secret", func() { wantError(b.folder(), "root") })
	b.start(t)
}
