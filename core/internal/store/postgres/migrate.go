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

// migrate brings the schema up to date, one process at a time.
func migrate(ctx context.Context, pool *pgxpool.Pool) (err error) {
	dir, err := fs.Sub(migrations, "migration")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	return store.Migrate(ctx, db, goose.DialectPostgres, dir, goose.WithSessionLocker(locker), goose.WithTableName("core_schema"))
}

// Migrate makes the schema of a database, or brings it up to date, without opening it as a store.
func Migrate(ctx context.Context, source secret.String) error {
	pool, err := new(engine).open(ctx, source.Reveal(), 2)
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
