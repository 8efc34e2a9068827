package postgres

import (
	"context"
	"io/fs"
	"testing/fstest"

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
