package postgres

import (
	"context"
	"io/fs"
	"testing/fstest"
	"time"

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

// SchemaVersion returns the highest version of the migration files.
func SchemaVersion() (int64, error) { return versionOf(migrations) }

// Migrations are the files.
var Migrations fs.FS = migrations

// Floor is the beginning of the span of events that a time is in, and Span how long it is.
func Floor(at time.Time) (begin time.Time, span time.Duration) {
	t := partedTables()[0]
	return t.floor(at), t.span()
}
