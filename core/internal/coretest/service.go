package coretest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/secretfile"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Birth is when a service's clock starts.
var Birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

// databaseFile is the store's name in the folder.
const databaseFile = "causeway.db"

// codesFile holds the security codes of tokens.
const codesFile = "codes.db"

// keysetFile holds the vault's keys.
const keysetFile = "vault.keyset"

// Service is core without its listeners: a real store, a real engine and a real API on an acquirer
// of the test.
type Service struct {
	Dir      string
	Acquirer *Acquirer
	Accounts *Accounts // of live mode
	Clock    *clock.Fake
	IDs      *id.Generator
	DB       *store.DB
	Engine   *engine.Engine
	API      http.Handler
	Tenant   payment.Tenant
	Key      string // a secret test key
	Log      *programtest.Log
	Database *Database
	Inspect  *sql.DB         // the database, for direct queries
	Cluster  *engine.Cluster // nil if no other core uses the store
}

// Open makes a service in a new folder. It is closed when the test ends.
func Open(tb testing.TB) *Service {
	tb.Helper()
	dir := tb.TempDir()
	return openOn(tb, dir, NewDatabase(tb, dir), nil)
}

// OpenShared makes a service that is one of several on a PostgreSQL server, even if the other tests
// of this run use files.
func OpenShared(tb testing.TB) *Service {
	tb.Helper()
	return openOn(tb, tb.TempDir(), onServer(serverSchema(tb)), &engine.Cluster{})
}

// OpenAlone is OpenShared without shared batches: each command writes its payment as a batch of
// one.
func OpenAlone(tb testing.TB) *Service {
	tb.Helper()
	on := onServer(serverSchema(tb))
	on.test.alone = true
	return openOn(tb, tb.TempDir(), on, &engine.Cluster{})
}

// OpenOnce is OpenShared without commands that run twice: for tests of events in the middle of a
// command.
func OpenOnce(tb testing.TB) *Service {
	tb.Helper()
	on := onServer(serverSchema(tb))
	on.test.rehearse = 0
	return openOn(tb, tb.TempDir(), on, &engine.Cluster{})
}

// Beside makes another service on the shared database of a service, with the same acquirer.
func (s *Service) Beside(tb testing.TB) *Service {
	tb.Helper()
	next := *s
	next.Log, next.Cluster = &programtest.Log{}, &engine.Cluster{}
	next.open(tb)
	return &next
}

// BesideAhead makes such a second service on a machine whose clock is ahead, or behind if d is
// negative.
func (s *Service) BesideAhead(tb testing.TB, d time.Duration) *Service {
	tb.Helper()
	next := *s
	next.Clock = clock.NewFake(s.Clock.Now().Add(d))
	next.IDs = id.NewGenerator(next.Clock)
	return next.Beside(tb)
}

func openOn(tb testing.TB, dir string, on *Database, cluster *engine.Cluster) *Service {
	tb.Helper()
	c := clock.NewFake(Birth)
	s := &Service{Dir: dir, Acquirer: &Acquirer{}, Accounts: &Accounts{}, Clock: c, IDs: id.NewGenerator(c), Log: &programtest.Log{}, Database: on, Cluster: cluster}
	s.open(tb)
	s.Tenant = payment.Tenant{Merchant: s.IDs.Next()}
	if err := s.DB.Update(tb.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(s.Tenant.Merchant, "shop") }); err != nil {
		tb.Fatal(err)
	}
	s.Key = s.MustKey(tb, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
	return s
}

// MustKey stores a new API key and returns it in the clear.
func (s *Service) MustKey(tb testing.TB, spec auth.KeySpec) string {
	tb.Helper()
	return s.MustKeyUnder(tb, Roots(), spec)
}

// MustKeyUnder is MustKey under another root secret.
func (s *Service) MustKeyUnder(tb testing.TB, roots *root.Ring, spec auth.KeySpec) string {
	tb.Helper()
	m, err := auth.Mint(roots, rand.Reader, spec)
	if err != nil {
		tb.Fatal(err)
	}
	err = s.DB.Update(tb.Context(), func(tx *store.Tx) error {
		m.Key.ID = s.IDs.Next() // in the command: keys of a file are listed in the order of their ids
		return tx.InsertKey(m.Key, m.Hash)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return m.Secret.Reveal()
}

// Roots returns the root secrets of the tests, the same for all.
func Roots() *root.Ring { return roots() }

var roots = sync.OnceValue(func() *root.Ring {
	set, err := root.New(Birth.Add(-time.Hour))
	if err != nil {
		panic(err)
	}
	return root.Of(set, clock.NewFake(Birth))
})

func lasting() []byte { return []byte("the lasting key of all the tests") }

func (s *Service) open(tb testing.TB) {
	tb.Helper()
	db, err := s.Database.Open(tb.Context(), s.Clock)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	s.DB = db
	log := slog.New(slog.NewJSONHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if s.Cluster != nil {
		s.Cluster.ID, s.Cluster.Store, s.Cluster.Log = s.IDs.Next(), db, log
		db.WorkAs(s.Cluster.ID)
	}
	s.Engine = engine.New(engine.Config{Store: db, Vault: s.MustVault(tb), Clock: s.Clock, IDs: s.IDs, Render: api.Render, Erase: api.Erased, Log: log, Test: s.Acquirer, Live: s.Accounts, Roots: Roots(), Sealer: seal.New(Roots()), Cluster: s.Cluster})
	db.ObserveSkips(s.Engine.Skipped)
	s.API = api.New(api.Config{
		Store: db, Engine: s.Engine, Auth: auth.New(db, s.Clock, Roots()), Clock: s.Clock, Log: log, Test: testMethods{},
		FingerprintKey: lasting(), IdempotencyKey: lasting(), Concurrent: 256, // of which one merchant can hold 64
	})
	s.Inspect = s.Database.MustInspect(tb)
}

// MustVault opens the service's vault again, like another process.
func (s *Service) MustVault(tb testing.TB) *vault.Vault {
	tb.Helper()
	v, err := vault.Load(tb.Context(), secretfile.Path(filepath.Join(s.Dir, keysetFile)), lasting()[:vault.KEKSize])
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// MustInspect opens a database file for direct queries, read only.
func MustInspect(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	db := mustAttach(tb, path, "?mode=ro&_pragma=busy_timeout(300000)")
	tb.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	return db
}

// Snapshot copies the store's files as a kill at this moment would leave them, and returns the
// folder. The store must not write meanwhile: call it from a hook of the acquirer, while the only
// request of the test waits there.
func (s *Service) Snapshot(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	s.Database.copyTo(tb, dir)
	names := []string{keysetFile, databaseFile, databaseFile + "-wal", codesFile, codesFile + "-wal"} // not -shm: it dies with the process
	if s.Database.Path == "" {
		names = names[:1]
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil && (!strings.HasSuffix(name, "-wal") || !os.IsNotExist(err)) {
			tb.Fatal(err)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			tb.Fatal(err)
		}
	}
	return dir
}

// Revive opens a second service on a snapshot. Its acquirer is new and has no hooks, but has the
// effects of the first one.
func (s *Service) Revive(tb testing.TB, dir string) *Service {
	tb.Helper()
	next := *s
	next.Dir, next.Log = dir, &programtest.Log{}
	next.Database = copied(tb, dir)
	next.Accounts = s.Accounts.revive()
	if s.Tenant.Live {
		next.Acquirer = next.Accounts.all[LiveAccount]
		next.open(tb)
		next.refuseTestMode(tb)
		return &next
	}
	next.Acquirer = s.Acquirer.revive()
	next.open(tb)
	return &next
}

// revive returns an acquirer without hooks that has the effects of a.
func (a *Acquirer) revive() *Acquirer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &Acquirer{
		responses: maps.Clone(a.responses), moved: maps.Clone(a.moved), rules: a.rules,
		holds: maps.Clone(a.holds), rests: maps.Clone(a.rests), released: maps.Clone(a.released),
	}
}

// Recover tries every open step that is due, like a start, until no further step ends. It returns
// the number of steps that stay open. It waits in real time only for the acquirer's hooks.
func (s *Service) Recover(tb testing.TB) int {
	tb.Helper()
	if err := s.Engine.NewRecovery().CatchUp(tb.Context(), time.Minute); err != nil {
		tb.Fatal(err)
	}
	return s.Open(tb)
}

// Open returns the number of payments, captures, voids and refunds without an outcome.
func (s *Service) Open(tb testing.TB) int {
	tb.Helper()
	return int(s.Number(tb, `SELECT (SELECT COUNT(*) FROM transactions WHERE status IN ('processing', 'unknown') OR operation = 'void')
		+ (SELECT COUNT(*) FROM captures WHERE state = 'pending') + (SELECT COUNT(*) FROM refunds WHERE state = 'pending')`))
}

// Number returns the result of a query for one integer on the database file.
func (s *Service) Number(tb testing.TB, query string, args ...any) int64 {
	tb.Helper()
	var n int64
	if err := s.Inspect.QueryRowContext(tb.Context(), query, args...).Scan(&n); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return n
}

// Texts returns the only column of a query.
func (s *Service) Texts(tb testing.TB, query string, args ...any) []string {
	tb.Helper()
	return mustTexts(tb, s.Inspect, query, args...)
}

// Files reads every file of the folder.
func (s *Service) Files(tb testing.TB) map[string][]byte {
	tb.Helper()
	return Files(tb, s.Dir)
}

// Files reads every file under a folder, by path.
func Files(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		out[path], err = os.ReadFile(path) //nolint:gosec // a folder of the test's own
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Pay creates a payment of amount minor units through the engine.
func (s *Service) Pay(ctx context.Context, r engine.Request, amount int64, capture bool) (engine.Result, error) {
	return s.pay(ctx, r, engine.Payment{Amount: amount, AutoCapture: capture})
}

// PayPart is Pay for a payment that can be partially approved.
func (s *Service) PayPart(ctx context.Context, r engine.Request, amount int64, capture bool) (engine.Result, error) {
	return s.pay(ctx, r, engine.Payment{Amount: amount, AutoCapture: capture, Partial: true})
}

func (s *Service) pay(ctx context.Context, r engine.Request, p engine.Payment) (engine.Result, error) {
	p.Currency, p.PaymentMethod, p.Source, p.Details = "usd", "pm_card_visa", acquirer.Source{Card: visa()}, []byte("{}")
	return s.Engine.Authorize(ctx, r, p)
}

// Prepare creates a payment of amount minor units that waits to be confirmed.
func (s *Service) Prepare(ctx context.Context, r engine.Request, amount int64, capture bool) (engine.Result, error) {
	return s.Engine.Prepare(ctx, r, engine.Payment{Amount: amount, Currency: "usd", AutoCapture: capture, Details: []byte("{}")})
}

// Confirm confirms a waiting payment by a card.
func (s *Service) Confirm(ctx context.Context, r engine.Request, transaction int64) (engine.Result, error) {
	return s.ConfirmOf(ctx, r, transaction, 0, "")
}

// ConfirmOf is Confirm for an amount that the payer has seen. An empty currency names none.
func (s *Service) ConfirmOf(
	ctx context.Context, r engine.Request, transaction, amount int64, currency string,
) (engine.Result, error) {
	t, err := s.DB.Transaction(ctx, s.Tenant, transaction)
	if err != nil {
		return engine.Result{}, err
	}
	return s.Engine.Confirm(ctx, r, t, engine.Payment{
		Amount: amount, Currency: currency,
		PaymentMethod: "pm_card_visa", Source: acquirer.Source{Card: visa()}, Details: []byte(`{"reference":"confirmed"}`),
	})
}

// Change changes the description of a transaction, and its amount unless that is 0.
func (s *Service) Change(
	ctx context.Context, r engine.Request, transaction, amount int64, description string,
) (engine.Result, error) {
	c := engine.TransactionChange{Apply: func(t *payment.Transaction) error {
		if amount != 0 {
			t.Amount = amount
		}
		t.Details = []byte(`{"description":"` + description + `"}`)
		return nil
	}}
	if amount != 0 {
		c.Early = "amount"
	}
	return s.Engine.ChangeTransaction(ctx, r, transaction, c)
}

// Request returns a request of the service's tenant, under an idempotency key unless that is "".
func (s *Service) Request(key string) engine.Request {
	r := engine.Request{Tenant: s.Tenant, ID: id.Format(id.Request, s.IDs.Next()), Key: key}
	if key != "" {
		r.Fingerprint = []byte("fingerprint")
	}
	return r
}

func visa() acquirer.Card {
	return acquirer.Card{Number: secret.New("4242424242424242"), ExpMonth: 12, ExpYear: 2030}
}

// testMethods has one card.
type testMethods struct{}

func (testMethods) Fixture(name string) (acquirer.Card, bool) { return visa(), name == "pm_card_visa" }
func (testMethods) DefaultPaymentMethod() string              { return "pm_card_visa" }

// MustExec writes directly to the database, for changes for which the store has no method.
func (s *Service) MustExec(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	s.Database.MustExec(tb, statement, args...)
}
