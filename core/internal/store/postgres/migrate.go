package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/causeway-pay/causeway/core/internal/store/schema"
	"github.com/causeway-pay/causeway/shared/secret"
)

//go:embed migration/*.sql
var migrations embed.FS

// migrate brings the schema up to date. One process migrates at a time, while others serve:
// migration/README.md has the rules for a migration step. If the schema is up to date, it takes no
// lock.
func migrate(ctx context.Context, pool *pgxpool.Pool) error { return migrateBy(ctx, pool, migrations) }

func migrateBy(ctx context.Context, pool *pgxpool.Pool, files fs.FS) (err error) {
	if done, err := migrated(ctx, pool, files); err != nil || done {
		return err
	}
	config := pool.Config()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "0" // a step on a large table can take long
	config.ConnConfig.RuntimeParams["lock_timeout"] = lockTimeout
	if pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("migrations: %w", explain(err))
	}
	defer pool.Close()
	dir, err := fs.Sub(files, "migration")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, lockTries)) // one try a second
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	return retryLocked(ctx, func() error {
		return schema.Migrate(ctx, db, goose.DialectPostgres, dir,
			goose.WithSessionLocker(locker), goose.WithTableName("core_schema"))
	})
}

const (
	// lockTimeout is how long a migration step waits for the lock of a table. Meanwhile all commands
	// on the table wait behind the step, and payments fail after defaultPatience. So a long
	// transaction on the table, such as a dump, delays them by lockTimeout only.
	lockTimeout = "500ms"
	// lockPause is the time between two tries, in which commands can use the table.
	lockPause = time.Second
	// lockTries is how often a step is tried.
	lockTries = 600
)

// retryLocked runs the migrations again, up to lockTries times, while they fail because another
// session holds a lock.
func retryLocked(ctx context.Context, up func() error) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for try := 1; ; try++ {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := up()
		if !lockRefused(err) || try == lockTries {
			return err
		}
		pause.Reset(lockPause)
	}
}

// migrated reports whether the schema has the version of the files.
func migrated(ctx context.Context, pool *pgxpool.Pool, files fs.FS) (bool, error) {
	want, err := versionOf(files)
	if err != nil {
		return false, err
	}
	var exists bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('core_schema') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return false, explain(wrapped("schema version", err))
	}
	var got int64
	err = pool.QueryRow(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM core_schema WHERE is_applied").Scan(&got)
	return got == want, explain(wrapped("schema version", err))
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, asFault(err))
}

// Migrate creates the schema of a database, or brings it up to date, without opening a store.
func Migrate(ctx context.Context, source secret.String) error {
	return migrateWith(ctx, source, migrations)
}

func migrateWith(ctx context.Context, source secret.String, files fs.FS) error {
	s, err := parse(source.Reveal(), nil)
	if err != nil {
		return err
	}
	pool, err := s.open(ctx, poolSize{connections: 2}, writing)
	if err != nil {
		return err
	}
	defer pool.Close()
	return migrateBy(ctx, pool, files)
}

// versionOf returns the highest version of the migration files.
func versionOf(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "migration/*.sql")
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	var newest int64
	for _, name := range names {
		digits, _, _ := strings.Cut(path.Base(name), "_")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s: the file name does not begin with a version number: %w", name, err)
		}
		newest = max(newest, n)
	}
	return newest, nil
}
