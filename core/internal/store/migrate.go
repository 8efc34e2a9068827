package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migration/sqlite/*.sql
var migrations embed.FS

func migrate(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migration/sqlite")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return Migrate(ctx, db, goose.DialectSQLite3, dir)
}

// Migrate brings the schema up to this build's version, one transaction a step, and refuses a schema that is newer.
func Migrate(ctx context.Context, db *sql.DB, d goose.Dialect, dir fs.FS, options ...goose.ProviderOption) error {
	p, err := goose.NewProvider(d, db, dir, options...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	if current > target {
		return fmt.Errorf("the data is of schema version %d, this build knows only up to %d: use a newer build", current, target)
	}
	if current == target {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
