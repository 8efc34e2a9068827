package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/shared/secret"
)

// PrepareAll prepares the SQL of every statement of the store on a connection, and returns how many
// there are.
func PrepareAll(ctx context.Context, c *pgx.Conn) (n int, err error) {
	texts, err := compile()
	if err != nil {
		return 0, err
	}
	for s, text := range texts {
		if text == "" {
			continue
		}
		n++
		if _, failed := c.Prepare(ctx, s.String(), text); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s, failed))
		}
	}
	return n, err
}

// MigrateOn is Migrate for a later build, which has one more step.
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

// Migrations are the migration files.
var Migrations fs.FS = migrations

// Floor returns the beginning of the span of events that a time is in, and the length of the span.
func Floor(at time.Time) (begin time.Time, span time.Duration) {
	t := partitionedTables()[0]
	return t.floor(at), t.span()
}

// WritersA is the key of the lock that commands share while no fence uses it.
const WritersA = writersA

// TextOf returns the SQL of a statement of the store.
func TextOf(name string) (string, error) {
	texts, err := compile()
	for s, text := range texts {
		if s.String() == name {
			return text, err
		}
	}
	return "", errors.Join(err, fmt.Errorf("there is no statement %s", name))
}

// PagePatience is how long a page waits for running commands.
const PagePatience = pagePatience
