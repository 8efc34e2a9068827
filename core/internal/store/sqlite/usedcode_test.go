package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// TestCodesOfUsedTokensAreDroppedAtTheStart: the commit that uses a token reaches the database
// before codes.db. A process that dies in between leaves the code, which the next start deletes.
// Codes of unused tokens remain.
func TestCodesOfUsedTokensAreDroppedAtTheStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const token = `INSERT INTO tokens (id, secret_hash, merchant_id, live, kind, details, vault_key, cvc_given,
			used_by, used_at, created_at, expires_at)
		VALUES (?, x'00', 1, 0, 'card', '{}', 1, 1, ?, ?, 1, 1)`
	for n, used := range map[int]int{1: 7, 2: 0} {
		if _, err := b.MustWrite(t).ExecContext(t.Context(), token, n, used, used); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	codes, err := sql.Open("sqlite", filepath.Join(filepath.Dir(b.path), "codes.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = codes.Close() }) // the test has read its rows
	const two = `INSERT INTO security_codes VALUES (1, 1, x'01'), (2, 1, x'01')`
	if _, err := codes.ExecContext(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	b.db = b.MustOpen(t)
	var left string
	err = codes.QueryRowContext(t.Context(), `SELECT group_concat(token_id) FROM security_codes`).Scan(&left)
	if err != nil || left != "2" {
		t.Errorf("got codes of the tokens %q, %v, want 2", left, err)
	}
}
