package pgurl

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// UnfitError reports a setting of the database under which committed data would be lost or texts
// spoiled.
type UnfitError struct {
	Setting string // its name in PostgreSQL, such as fsync
	Value   string // the effective value
	Effect  string // of that value
	Remedy  string // of the operator
}

// Error implements error.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("PostgreSQL has %s = %s, which %s: %s", e.Setting, e.Value, e.Effect, e.Remedy)
}

// Row is one row of a query result. Rows of pgx and of database/sql are.
type Row interface{ Scan(dest ...any) error }

// effective reads the settings that apply to this session.
const effective = `SELECT current_setting('server_encoding'), current_setting('synchronous_commit'),
	current_setting('fsync'), current_setting('full_page_writes')`

// source reads which configuration set a setting for this session.
const source = `SELECT source FROM pg_settings WHERE name = '%s'`

// Check returns an UnfitError if the database would lose commits or cannot store every text. lost
// names the committed data that would be lost, such as "acknowledged payments". query runs a query
// and returns its first row. Check returns its errors unchanged.
//
// synchronous_commit must be on or remote_apply. With off, a crash of the server loses commits.
// With local, a failover loses them. With remote_write, a failover loses them if the standby has
// lost power too. Without a synchronous standby, on costs no more than these.
func Check(query func(text string) Row, lost string) error {
	var encoding, waits, flushes, images string
	if err := query(effective).Scan(&encoding, &waits, &flushes, &images); err != nil {
		return fmt.Errorf("read the settings of the database: %w", err)
	}
	if encoding != "UTF8" {
		return &UnfitError{
			"server_encoding", encoding, "cannot store every text", "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
		}
	}
	for _, s := range []struct {
		name, value string
	}{{"synchronous_commit", waits}, {"fsync", flushes}, {"full_page_writes", images}} {
		if s.value == "on" || s.value == "remote_apply" {
			continue
		}
		var from string
		if err := query(fmt.Sprintf(source, s.name)).Scan(&from); err != nil {
			return fmt.Errorf("read where %s is set: %w", s.name, err)
		}
		return &UnfitError{s.name, s.value, "loses " + lost, remedy(s.name, from)}
	}
	return nil
}

// remedy returns the operator's step for a setting, by the source that pg_settings shows.
func remedy(name, from string) string {
	switch from {
	case "client":
		return "leave it out of the URL of the database"
	case "user":
		return "ALTER ROLE … RESET " + name
	case "database":
		return "ALTER DATABASE … RESET " + name
	case "database user":
		return "ALTER ROLE … IN DATABASE … RESET " + name
	}
	return "set it to on in the configuration of the server, and reload that"
}

// Durable returns a hook for new connections. It refuses a connection if Check fails, and fixes the
// session's synchronous_commit, so that a later reload of the server's configuration does not
// change it. fsync and full_page_writes cannot be fixed, so run Check again from time to time.
func Durable(lost string) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, conn *pgx.Conn) error {
		query := func(text string) Row { return conn.QueryRow(ctx, text, pgx.QueryExecModeSimpleProtocol) }
		if err := Check(query, lost); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', current_setting('synchronous_commit'), false)")
		if err != nil {
			return fmt.Errorf("keep synchronous_commit: %w", err)
		}
		return nil
	}
}
