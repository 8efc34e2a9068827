package failover_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// book is what the simulated acquirer remembers, on a server of its own. An acquirer forgets nothing when a primary of ours dies, and core's own table for it
// does: it is written without a wait for the disk, so that a primary that was stopped takes such rows once more before it is taken back, and they are gone.
type book struct {
	db     *sql.DB
	folder string // of the server's socket
}

func openBook(t *testing.T) *book {
	t.Helper()
	// A primary that is stopped in the middle must not hold a row.
	s, err := server.Start(t.Context(), "fsync=off", "max_connections=300", "idle_in_transaction_session_timeout=3s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Log(err)
		}
	})
	db, err := sql.Open("pgx", s.URL("postgres", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it is read
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE simulator_requests (key text PRIMARY KEY, line text NOT NULL, voided smallint NOT NULL, at bigint NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	return &book{db, s.Folder()}
}

// Lend puts the book in the place of core's table, for whichever node leads.
func (b *book) Lend(t *testing.T, leader *node) {
	t.Helper()
	err := leader.psql(t.Context(), "causeway", fmt.Sprintf(`CREATE EXTENSION postgres_fdw;
		CREATE SERVER book FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', dbname 'postgres');
		CREATE USER MAPPING FOR causeway SERVER book OPTIONS (user 'postgres', password_required 'false');
		DROP TABLE simulator_requests;
		CREATE FOREIGN TABLE simulator_requests (key text NOT NULL, line text NOT NULL, voided smallint NOT NULL, at bigint NOT NULL) SERVER book;
		ALTER FOREIGN TABLE simulator_requests OWNER TO causeway`, b.folder))
	if err != nil {
		t.Fatal(err)
	}
}

// Taken is how often the acquirer has approved each transaction, and was not told to let go of it.
func (b *book) Taken(t *testing.T) map[string]int {
	t.Helper()
	rows, err := b.db.QueryContext(t.Context(), `SELECT split_part(line, ' ', 2), COUNT(*) FROM simulator_requests WHERE line LIKE 'a %' AND voided = 0 GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	out := map[string]int{}
	for rows.Next() {
		var reference string
		var n int
		if err := rows.Scan(&reference, &n); err != nil {
			t.Fatal(err)
		}
		out[reference] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
