package failover_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// records are the simulated acquirer's records on a separate server. An acquirer forgets nothing
// when a primary dies, but core's own table for the simulator does. That table is written without
// synchronous commit: a stopped primary accepts rows again when it continues, and pg_rewind removes
// them.
type records struct {
	db     *sql.DB
	folder string // of the server's socket
}

func startRecords(t *testing.T) *records {
	t.Helper()
	// A primary that is stopped in a transaction must not keep its row locks.
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
	t.Cleanup(func() { _ = db.Close() }) // it only read
	if _, err := db.ExecContext(t.Context(),
		`CREATE TABLE simulator_requests (key text PRIMARY KEY, line text NOT NULL, voided smallint NOT NULL, at bigint `+
			`NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	return &records{db, s.Folder()}
}

// Attach replaces core's table on the leader by a foreign table of the records. It reaches the
// other nodes by replication.
func (b *records) Attach(t *testing.T, leader *node) {
	t.Helper()
	err := leader.psql(t.Context(), "causeway", fmt.Sprintf(`CREATE EXTENSION postgres_fdw;
		CREATE SERVER records FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', dbname 'postgres');
		CREATE USER MAPPING FOR causeway SERVER records OPTIONS (user 'postgres', password_required 'false');
		DROP TABLE simulator_requests;
		CREATE FOREIGN TABLE simulator_requests (key text NOT NULL, line text NOT NULL, voided smallint NOT NULL,
			at bigint NOT NULL) SERVER records;
		ALTER FOREIGN TABLE simulator_requests OWNER TO causeway`, b.folder))
	if err != nil {
		t.Fatal(err)
	}
}

// Taken returns for each transaction how often the acquirer approved it without a later release.
func (b *records) Taken(t *testing.T) map[string]int {
	t.Helper()
	rows, err := b.db.QueryContext(t.Context(),
		`SELECT split_part(line, ' ', 2), COUNT(*) FROM simulator_requests WHERE line LIKE 'a %' AND voided = 0 GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err is checked
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
