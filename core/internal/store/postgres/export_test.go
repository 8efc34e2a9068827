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

// Shapes prepares every statement of the store that the engine can run on a connection. It returns
// how many parameters each has, and how many columns its rows have. It leaves out the
// parameter and the column that the engine adds to lists.
func Shapes(ctx context.Context, c *pgx.Conn) (map[string][2]int, error) {
	texts, err := compile()
	if err != nil {
		return nil, err
	}
	shapes := map[string][2]int{}
	var errs []error
	for s, text := range texts {
		if text == "" {
			continue
		}
		d, err := c.Prepare(ctx, s.String(), text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s, err))
			continue
		}
		own := 0
		if _, list := listSQL[s.String()]; list {
			own = 1
		}
		shapes[s.String()] = [2]int{len(d.ParamOIDs) - own, len(d.Fields) - own}
	}
	return shapes, errors.Join(errs...)
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
