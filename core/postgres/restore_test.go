package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestRestoreToAMomentPostgreSQL is the drill of deploy/on/postgres. It takes a base backup during
// payments, archives the log, loses the server with its data, and restores them to a moment. The
// earlier payments are captured, the later ones are gone, and new ones are accepted. It prints the
// recovery point, which is the age of the moment, and the recovery time.
func TestRestoreToAMomentPostgreSQL(t *testing.T) {
	t.Parallel()
	s := pgtest.Own(t)
	in := func(name string) string { return filepath.Join(s.Folder(), name) }
	archive, base, data := in("archive"), in("base"), in("data")
	for _, dir := range []string{archive, base} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := server.Give(dir); err != nil {
			t.Fatal(err)
		}
	}
	db := inspect(t, s.URL(nil))
	db.SetMaxIdleConns(0) // it outlives the server
	mustExec(t, db, "ALTER SYSTEM SET archive_mode = on")
	mustExec(t, db, "ALTER SYSTEM SET archive_command = 'test ! -f "+archive+"/%f && cp %p "+archive+"/%f'")
	s.Halt(t)
	s.Again(t)
	c := newCluster(t, s.URL(nil))
	n := c.start(t)
	pay := func(payments int) (ids []string) {
		for range payments {
			ids = append(ids, n.must(t, 201, "POST", "/v1/transactions", payment(100, "card", ""), "")["id"].(string))
		}
		return ids
	}
	some := 20
	if programtest.Soak() {
		some = 5000
	}
	before := pay(some)
	copied := mustCopy(t, s, base)
	for ended := false; !ended; before = append(before, pay(1)...) {
		select {
		case err := <-copied:
			if ended = true; err != nil {
				t.Fatal(err)
			}
		default:
			pause(20 * time.Millisecond) // a backup takes seconds on a busy machine
		}
	}
	before = append(before, pay(some)...)
	var moment, segment string
	at := now()
	if err := db.QueryRowContext(t.Context(), "SELECT clock_timestamp()::text").Scan(&moment); err != nil {
		t.Fatal(err)
	}
	after := pay(some)
	if err := db.QueryRowContext(t.Context(), "SELECT pg_walfile_name(pg_switch_wal())").Scan(&segment); err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "the log is archived", func() bool {
		_, err := os.Stat(filepath.Join(archive, segment))
		return err == nil
	})
	lost := now()
	n.Kill()
	s.Kill()
	mustRestore(t, s, data, base, "restore_command = 'cp "+archive+"/%f %p'\n"+
		"recovery_target_time = '"+moment+"'\nrecovery_target_action = promote\n")
	programtest.WaitFor(t, "the server is promoted", func() bool {
		return number(t, db, "SELECT pg_is_in_recovery()::int") == 0
	})
	promoted := now()
	n = c.start(t)
	n.must(t, 200, "GET", "/v1/health", "", "")
	pay(1)
	recovered := now()
	for _, id := range before {
		if got := n.must(t, 200, "GET", "/v1/transactions/"+id, "", "")["status"]; got != "captured" {
			t.Errorf("%s, paid before the moment: got %v", id, got)
		}
	}
	for _, id := range after {
		n.must(t, 404, "GET", "/v1/transactions/"+id, "", "")
	}
	t.Logf("recovery point: the moment was %s old; %d of %d acknowledged payments are missing",
		lost.Sub(at).Round(time.Millisecond), len(after), len(before)+len(after))
	t.Logf("recovery time: %s from the loss to the next payment; the server was promoted after %s",
		recovered.Sub(lost).Round(time.Millisecond), promoted.Sub(lost).Round(time.Millisecond))
}

func now() time.Time { return time.Now() } //nolint:forbidigo // the drill measures real time

// mustCopy begins a base backup. The channel receives its error when it has ended.
func mustCopy(t *testing.T, s *pgtest.Server, to string) <-chan error {
	t.Helper()
	path, err := server.Find("pg_basebackup")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-h", s.Folder(), "-U", "postgres",
		"--checkpoint=fast", "--wal-method=stream", "--no-sync", "--pgdata", to)
	cmd.Dir = s.Folder()
	server.AsServer(cmd)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err != nil {
			err = fmt.Errorf("pg_basebackup: %w: %s", err, output.String())
		}
		ended <- err
	}()
	return ended
}

// mustRestore replaces the data by a base backup, and starts the server on it.
func mustRestore(t *testing.T, s *pgtest.Server, data, base, settings string) {
	t.Helper()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(base, data); err != nil {
		t.Fatal(err)
	}
	// This file contains archive_mode, and overrides all others.
	f, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.Again(t)
}
