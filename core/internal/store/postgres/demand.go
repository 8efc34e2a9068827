package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// demand refuses a database that cannot keep every text, and connections that are told not to wait until what they commit is kept.
func demand(ctx context.Context, pool *pgxpool.Pool) error {
	var encoding, waits string
	err := pool.QueryRow(ctx, `SELECT current_setting('server_encoding'), CASE source WHEN 'client' THEN setting ELSE 'on' END
		FROM pg_settings WHERE name = 'synchronous_commit'`).Scan(&encoding, &waits)
	switch {
	case err != nil:
		return fmt.Errorf("store: %w", explain(came(err)))
	case encoding != "UTF8":
		return fmt.Errorf("store: the database's encoding is %s, it must be UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", encoding)
	case waits == "off", waits == "local":
		return errors.New("store: the URL of the database sets synchronous_commit to " + waits + ", which loses payments that were answered: leave it out")
	}
	return nil
}
