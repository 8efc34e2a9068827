package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/secret"
)

//go:embed migration/*.sql
var migrations embed.FS

// migrate brings the schema up to date, one process at a time. One that is waits for nobody.
func migrate(ctx context.Context, pool *pgxpool.Pool) (err error) {
	if done, err := migrated(ctx, pool); err != nil || done {
		return err
	}
	patient := pool.Config()
	for _, timeout := range []string{"statement_timeout", "lock_timeout"} { // a large table takes its time
		patient.ConnConfig.RuntimeParams[timeout] = "0"
	}
	if pool, err = pgxpool.NewWithConfig(ctx, patient); err != nil {
		return fmt.Errorf("migrations: %w", explain(err))
	}
	defer pool.Close()
	dir, err := fs.Sub(migrations, "migration")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300)) // looks each second
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	return store.Migrate(ctx, db, goose.DialectPostgres, dir, goose.WithSessionLocker(locker), goose.WithTableName("core_schema"))
}

// migrated reports whether the schema is this build's.
func migrated(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	want, err := SchemaVersion()
	if err != nil {
		return false, err
	}
	var there bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('core_schema') IS NOT NULL").Scan(&there); err != nil || !there {
		return false, explain(wrapped("schema version", err))
	}
	var got int64
	err = pool.QueryRow(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM core_schema WHERE is_applied").Scan(&got)
	return got == want, explain(wrapped("schema version", err))
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, came(err))
}

// Migrate makes the schema of a database, or brings it up to date, without opening it as a store.
func Migrate(ctx context.Context, source secret.String) error {
	pool, err := new(engine).open(ctx, source.Reveal(), 2, writing)
	if err != nil {
		return err
	}
	defer pool.Close()
	return migrate(ctx, pool)
}

// SchemaVersion is what version of the schema this build makes.
func SchemaVersion() (int64, error) {
	names, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	return store.NewestOf(names)
}
