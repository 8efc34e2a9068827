package core

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// rootFile holds the root secrets of the folder, which keyed hashes and sealed responses depend on.
const rootFile = "root.secret"

// Admin manages merchants and keys. It works beside a running service on the same folder.
type Admin struct {
	db     *store.DB
	ids    *id.Generator
	roots  *root.Ring
	sealer *seal.Sealer // of stored answers that show a secret
	audit  []byte       // signs audit records
	cfg    Config
}

// OpenAdmin opens the store of a data folder, which is migrated when needed, without serving it. It makes none: ErrNoStore where there is none.
func OpenAdmin(ctx context.Context, cfg Config) (*Admin, error) {
	cfg = cfg.withDefaults()
	if err := cfg.wantStore(); err != nil {
		return nil, err
	}
	return openAdmin(ctx, cfg)
}

// MakeAdmin is OpenAdmin that makes the data folder and its store where there is nothing yet.
func MakeAdmin(ctx context.Context, cfg Config) (*Admin, error) {
	cfg = cfg.withDefaults()
	if err := cfg.makeFolder(); err != nil {
		return nil, err
	}
	return openAdmin(ctx, cfg)
}

// Migrate brings the store to this build's schema, makes it where there is none, and writes an
// audit record. A migration that fails has no record: there is no store of this build's schema to
// hold it.
func Migrate(ctx context.Context, cfg Config) (err error) {
	a, err := MakeAdmin(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.recorded(ctx, a.request(), engine.Action{Name: "migrate"}, audit.Done)
}

// openAdmin opens the store or makes it, and only then makes what there must not be without one.
func openAdmin(ctx context.Context, cfg Config) (a *Admin, err error) {
	db, err := cfg.openStore(ctx)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	roots, err := loadRoots(ctx, cfg, db)
	if err != nil {
		return nil, err
	}
	return &Admin{
		db: db, ids: id.NewGenerator(cfg.Clock), roots: roots, sealer: seal.New(roots), audit: roots.Lasting(root.AuditRecords), cfg: cfg,
	}, nil
}

func (cfg Config) openStore(ctx context.Context) (*store.DB, error) {
	if cfg.Database != nil {
		return cfg.Database(ctx, cfg.Clock)
	}
	return openFile(ctx, filepath.Join(cfg.Data, databaseFile), cfg.Clock)
}

// Close closes the store.
func (a *Admin) Close() error { return a.db.Close() }

// KeySpec says what kind of API key to make.
type KeySpec struct {
	Merchant string   // mer_…
	Mode     string   // test or live
	Kind     string   // secret or publishable
	Scopes   []string // nil for all that the kind may have
	Name     string   // what people call it, "" for nothing
}

// CreateKey makes an API key. The secret is returned once and never again.
func (a *Admin) CreateKey(ctx context.Context, s KeySpec) (secret.String, error) {
	merchant, err := id.Parse(id.Merchant, s.Merchant)
	if err != nil {
		return secret.String{}, fmt.Errorf("merchant %q is not an id: %w", s.Merchant, err)
	}
	if s.Mode != string(apikey.Test) && s.Mode != string(apikey.Live) {
		return secret.String{}, fmt.Errorf("mode %q is neither test nor live", s.Mode)
	}
	if utf8.RuneCountInString(s.Name) > 100 {
		return secret.String{}, errors.New("a key's name has at most 100 characters")
	}
	if err := checkText("key's name", s.Name); err != nil {
		return secret.String{}, err
	}
	var made secret.String
	err = a.act(ctx, "api_keys.create", s.Merchant, func(r engine.Request) error {
		tenant := payment.Tenant{Merchant: merchant, Live: s.Mode == string(apikey.Live)}
		wanted := engine.NewKey{Kind: apikey.Kind(s.Kind), Scopes: s.Scopes, Name: s.Name}
		result, err := a.engine().CreateKeyOf(ctx, r, tenant, apikey.AllScopes(), wanted)
		if errors.Is(err, payment.ErrNotFound) {
			return fmt.Errorf("there is no merchant %s", s.Merchant)
		}
		made = result.Credential
		return err
	})
	return made, err
}
