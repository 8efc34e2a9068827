package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/kinds"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/id"
)

// Admin runs the actions of an operator on an open store.
type Admin struct {
	dir      *datadir.Dir
	db       *store.DB
	ids      *id.Generator
	sealer   *seal.Sealer // of stored responses that show a secret
	auditKey []byte       // signs audit records
	actor    string       // in audit records; "" for the user of the operating system
	kinds    account.Kinds
}

// Open opens the store, and migrates it if needed. It returns datadir.ErrNoStore if there is none.
func Open(ctx context.Context, cfg datadir.Config) (*Admin, error) {
	if err := cfg.WantStore(); err != nil {
		return nil, err
	}
	return open(ctx, cfg)
}

// Create is Open, but creates the store if there is none.
func Create(ctx context.Context, cfg datadir.Config) (*Admin, error) {
	if err := cfg.Prepare(); err != nil {
		return nil, err
	}
	return open(ctx, cfg)
}

func open(ctx context.Context, cfg datadir.Config) (*Admin, error) {
	dir, err := datadir.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return New(dir, dir.Store.IDs(), ""), nil
}

// New returns an Admin of an open store. actor names the program in audit records; "" for the
// command line.
func New(dir *datadir.Dir, ids *id.Generator, actor string) *Admin {
	return &Admin{
		dir: dir, db: dir.Store, ids: ids, actor: actor,
		sealer: seal.New(dir.Roots), auditKey: dir.Roots.Lasting(root.AuditRecords), kinds: kinds.All(),
	}
}

// WithKinds replaces the kinds of acquirers by others, for tests, and returns a.
func (a *Admin) WithKinds(k account.Kinds) *Admin {
	a.kinds = k
	return a
}

// Migrate brings the store to this build's schema, creates it if there is none, and writes an audit
// record. A migration that fails has no record: there is no store of this build's schema to hold
// it.
func Migrate(ctx context.Context, cfg datadir.Config) (err error) {
	a, err := Create(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.recorded(ctx, a.request(), engine.Action{Name: "migrate"}, audit.Done)
}

// Close closes the store.
func (a *Admin) Close() error { return a.dir.Close() }

// engine runs the actions that operators and v1 have in common. None of them moves money.
func (a *Admin) engine() *engine.Engine { return a.sealing(nil) }

// sealing is engine with a vault, for actions that seal.
func (a *Admin) sealing(v *vault.Vault) *engine.Engine {
	return engine.New(engine.Config{
		Store: a.db, Vault: v, Clock: a.dir.Clock, IDs: a.ids, Render: api.Render, Erase: api.Erased,
		Log: slog.New(slog.DiscardHandler), Roots: a.dir.Roots, Sealer: a.sealer, AuditKey: a.auditKey,
	})
}

// checkText rejects a text that contains a card number, before it is stored in clear. The error
// names the field and not the text.
func checkText(field, text string) error {
	if card.InText(text) {
		return fmt.Errorf("the %s contains a card number: choose a text without one", field)
	}
	return nil
}
