package postgres

import (
	"context"
	"errors"
	"io/fs"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/causeway-pay/causeway/shared/secret"
)

// MigrateOn is Migrate of a later build, which has one step more.
func MigrateOn(ctx context.Context, source secret.String, step string) error {
	files := fstest.MapFS{"migration/99999_more.sql": {Data: []byte(step)}}
	names, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return migrateWith(ctx, source, files)
}

// Migrations are the files.
var Migrations fs.FS = migrations

// MigrateTo makes the schema of an older version.
func MigrateTo(ctx context.Context, source string, version int64) error {
	pool, err := new(engine).open(ctx, source, 2, writing)
	if err != nil {
		return err
	}
	defer pool.Close()
	dir, err := fs.Sub(migrations, "migration")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir, goose.WithTableName("core_schema"))
	if err == nil {
		_, err = p.UpTo(ctx, version)
	}
	return errors.Join(err, db.Close())
}

// Floor is the beginning of the span of events that a time is in, and Span how long it is.
func Floor(at time.Time) (begin time.Time, span time.Duration) {
	t := partedTables()[0]
	return t.floor(at), t.span()
}
