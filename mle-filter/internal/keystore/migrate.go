package keystore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migration/*/*.sql
var migrations embed.FS

// Migrate brings the schema up to this build's version, each step in its own transaction. It
// returns an error if the schema is newer than this build.
func Migrate(
	ctx context.Context, db *sql.DB, d goose.Dialect, folder string, options ...goose.ProviderOption,
) error {
	dir, err := fs.Sub(migrations, "migration/"+folder)
	if err != nil {
		return fmt.Errorf("keystore: migrations: %w", err)
	}
	p, err := goose.NewProvider(d, db, dir, append(options, goose.WithTableName("mle_schema"))...)
	if err != nil {
		return fmt.Errorf("keystore: migrations: %w", err)
	}
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("keystore: schema version: %w", err)
	}
	if current > target {
		return fmt.Errorf("keystore: schema version %d is newer than this build's %d: use a newer build", current, target)
	}
	if current == target {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("keystore: migrate: %w", err)
	}
	return nil
}
