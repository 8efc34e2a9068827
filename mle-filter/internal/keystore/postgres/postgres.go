package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/pgurl"
)

// connections bounds the pool. The keyring mostly reads from memory.
const connections = 8

// statementTimeout bounds one statement, including its wait for other transactions.
const statementTimeout = 5 * time.Second

// Open opens the store at a postgres:// URL and migrates its schema to this build's version.
func Open(ctx context.Context, source string, existing bool) (*keystore.Engine, error) {
	return open(ctx, source, existing)
}

// Rotating is Open for a URL whose user and password may change: each new connection reads the
// current URL.
func Rotating(again func() (string, error)) keystore.Opener {
	return func(ctx context.Context, source string, existing bool) (*keystore.Engine, error) {
		return open(ctx, source, existing, stdlib.OptionBeforeConnect(pgurl.Rotating(again)))
	}
}

func open(ctx context.Context, source string, existing bool, options ...stdlib.OptionOpenDB) (*keystore.Engine, error) {
	cfg, err := pgx.ParseConfig(source)
	if err != nil {
		return nil, errors.New("keystore: the postgres:// URL is invalid") // the cause can contain the password
	}
	if cfg.RuntimeParams["statement_timeout"] == "" {
		cfg.RuntimeParams["statement_timeout"] = fmt.Sprint(statementTimeout.Milliseconds())
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"  // overrides the URL, the role and the environment
	cfg.DialFunc = pgurl.Lines(cfg.DialFunc, true) // statements end by statement_timeout, which is not for commits
	pool := stdlib.OpenDB(*cfg, append(options, stdlib.OptionAfterConnect(pgurl.Durable(lost)))...)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("keystore: open: %w", err), pool.Close())
	}
	if existing {
		if err := lookFor(ctx, pool); err != nil {
			return nil, errors.Join(err, pool.Close())
		}
	}
	locker, err := lock.NewPostgresSessionLocker() // serializes the migrations of filters that start together
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keystore: migrations: %w", err), pool.Close())
	}
	if err := keystore.Migrate(ctx, pool, goose.DialectPostgres, "postgres", goose.WithSessionLocker(locker)); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &keystore.Engine{
		Write: pool, Read: pool, Numbered: true, Duplicate: pgurl.Duplicate, Unavailable: unavailable, Verify: verify,
	}, nil
}

// lost names the data that a rejected server could lose.
const lost = "registered keys"

// verify reads the server's settings at each of the few transactions, because a reload of the
// configuration can turn fsync off at any time.
func verify(query func(text string) *sql.Row) error {
	return pgurl.Check(func(text string) pgurl.Row { return query(text) }, lost)
}

// lookFor returns ErrNoStore if the database has no key store. It does not change the database.
func lookFor(ctx context.Context, pool *sql.DB) error {
	var ours bool
	if err := pool.QueryRowContext(ctx, `SELECT to_regclass('mle_revision') IS NOT NULL`).Scan(&ours); err != nil {
		return fmt.Errorf("keystore: open: %w", err)
	}
	if !ours {
		return keystore.ErrNoStore
	}
	return nil
}

// unavailable reports whether err is temporary, or reports a setting under which the server would
// lose the write.
func unavailable(err error) bool {
	var (
		unfit   *pgurl.UnfitError
		e       *pgconn.PgError
		connect *pgconn.ConnectError
		network net.Error
	)
	if errors.As(err, &e) {
		return pgurl.Unavailable(e)
	}
	return errors.As(err, &unfit) || errors.As(err, &connect) || errors.As(err, &network)
}
