// Package schema migrates the schema of a database. Both engines of the store use it.
package schema

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Migrate brings a schema up to the version of this build, one transaction for each step. It
// returns an error if the schema is newer.
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
		return fmt.Errorf("schema version %d of the data is newer than this build's %d: use a newer build",
			current, target)
	}
	if current == target {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
