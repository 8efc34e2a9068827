package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// codesFile holds security codes and the keys that encrypt them. It is in the folder of the
// database and never part of a backup. It may be removed while no service runs: tokens that had a
// code are then refused.
const codesFile = "codes.db"

// codesSchema creates the tables of codes.db. After a power loss the file has at least the rows of
// its last checkpoint, and is not damaged.
const codesSchema = `PRAGMA codes.journal_mode = WAL;
PRAGMA codes.synchronous = NORMAL;
PRAGMA codes.secure_delete = ON;
CREATE TABLE IF NOT EXISTS codes.code_keys (
    id        INTEGER PRIMARY KEY,
    hour      INTEGER NOT NULL, -- in which it seals, counted from 1970; destroyed two hours after that hour began
    vault_key INTEGER NOT NULL,
    sealed    BLOB    NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS codes.security_codes (
    token_id INTEGER PRIMARY KEY,
    key_id   INTEGER NOT NULL,
    sealed   BLOB    NOT NULL
) STRICT;`

// codesPath returns the path of codes.db for a database file.
func codesPath(database string) string { return filepath.Join(filepath.Dir(database), codesFile) }

// AttachCodes attaches codes.db to a connection to its database file, as the schema "codes".
func AttachCodes(ctx context.Context, conn driver.Conn, database string) error {
	path := strings.ReplaceAll(filepath.ToSlash(codesPath(database)), "'", "''")
	return run(ctx, conn, "ATTACH DATABASE '"+path+"' AS codes")
}

// makeCodes attaches codes.db to the writing connection, and creates the file if there is none.
func makeCodes(ctx context.Context, conn driver.Conn, database string) error {
	path := codesPath(database)
	if err := sqlitewal.Create(path); err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	err := AttachCodes(ctx, conn, database)
	if err == nil {
		err = run(ctx, conn, codesSchema)
	}
	if err != nil && !sqlitewal.Unavailable(err) {
		err = fmt.Errorf("open %s: %w. If the file is damaged, stop the service and remove it with its -wal and -shm: "+
			"tokens of the last hour that have a security code are then refused, and nothing else is lost", path, err)
	}
	return err
}

// dropUsedCodes deletes the codes of used tokens. A commit reaches the database before codes.db. A
// process that dies in between leaves the code of a token that it has used.
func dropUsedCodes(ctx context.Context, write *sql.DB) error {
	const used = ` FROM security_codes WHERE token_id IN (SELECT id FROM tokens WHERE used_by <> 0)`
	var left bool
	if err := write.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1`+used+`)`).Scan(&left); err != nil || !left {
		return wrapCodes(err)
	}
	_, err := write.ExecContext(ctx, `DELETE`+used)
	return wrapCodes(err)
}

func wrapCodes(err error) error {
	if err != nil {
		return fmt.Errorf("delete the codes of used tokens: %w", err)
	}
	return nil
}

func run(ctx context.Context, conn driver.Conn, text string) error {
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return errors.New("sqlite: the driver's connections run no statements")
	}
	_, err := execer.ExecContext(ctx, text, nil)
	return err
}
