package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/causeway-pay/causeway/core/internal/store/schema"
)

//go:embed migration/*.sql
var migrations embed.FS

func migrate(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migration")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return schema.Migrate(ctx, db, goose.DialectSQLite3, dir)
}
