package api_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// replicatedServer is a server with an archive and a standby.
type replicatedServer struct {
	*pgtest.Server

	on      *coretest.Database
	folders map[string]string // of the data that leaves the server
}

const (
	standbyPort = "5433"
	standbyLog  = "standby.log"
)

func openReplicated(t *testing.T) *replicatedServer {
	t.Helper()
	s := &replicatedServer{Server: pgtest.Own(t), folders: map[string]string{}}
	for _, name := range []string{"archive", "base", "standby"} {
		dir := filepath.Join(s.Folder(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := server.Give(dir); err != nil {
			t.Fatal(err)
		}
		s.folders["the "+name] = dir
	}
	archive := s.folders["the archive"]
	s.on = coretest.OnServer(s.URL(nil))
	s.on.MustExec(t, "ALTER SYSTEM SET archive_mode = on")
	const command = "ALTER SYSTEM SET archive_command = 'test ! -f %s/%%f && cp %%p %s/%%f'"
	s.on.MustExec(t, fmt.Sprintf(command, archive, archive))
	s.Halt(t)
	s.Again(t)
	s.startStandby(t)
	return s
}

// run runs a PostgreSQL program of the server's version, and returns its output.
func (s *replicatedServer) run(ctx context.Context, t *testing.T, name string, args ...string) []byte {
	t.Helper()
	path, err := server.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = s.Folder()
	server.AsServer(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.Folder(), standbyLog)) // it may have the reason
		t.Fatalf("%s: %v: %s%s", name, err, out, log)
	}
	return out
}

func (s *replicatedServer) backUp(t *testing.T, folder string, more ...string) {
	t.Helper()
	args := []string{
		"-h", s.Folder(), "-U", "postgres", "--checkpoint=fast", "--wal-method=stream", "--no-sync",
		"--pgdata", s.folders[folder],
	}
	s.run(t.Context(), t, "pg_basebackup", append(args, more...)...)
}

// startStandby makes a standby of the server, which follows it until the test ends.
func (s *replicatedServer) startStandby(t *testing.T) {
	t.Helper()
	s.backUp(t, "the standby", "--write-recovery-conf")
	folder := s.folders["the standby"]
	// If the server inherited the output, the command would not end.
	log := filepath.Join(s.Folder(), standbyLog)
	// At least as many connections as the primary.
	options := "-k " + s.Folder() + " -p " + standbyPort + " -c listen_addresses= -c max_connections=300"
	s.run(t.Context(), t, "pg_ctl", "start", "-w", "-D", folder, "-l", log, "-o", options)
	t.Cleanup(func() {
		s.run(context.Background(), t, "pg_ctl", "stop", "-w", "-m", "immediate", "-D", folder)
	})
}

// flush writes all that was committed to the server's data and to the standby's.
func (s *replicatedServer) flush(t *testing.T, c *codes) {
	t.Helper()
	s.on.MustExec(t, "CHECKPOINT")
	var position string
	row := c.inspect.QueryRowContext(t.Context(), "SELECT pg_current_wal_flush_lsn()::text")
	if err := row.Scan(&position); err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "the standby has replayed the log", func() bool {
		return c.number(t, "SELECT COUNT(*) FROM pg_stat_replication WHERE replay_lsn >= '"+position+"'") > 0
	})
	coretest.OnServer(s.URL(url.Values{"port": {standbyPort}})).MustExec(t, "CHECKPOINT")
}

// wantNotDumped checks that the documented dump has neither codes nor their keys. A dump without
// the documented flag has them, which proves that the search finds them.
func (c *codes) wantNotDumped(t *testing.T, s *replicatedServer) {
	t.Helper()
	found := func(more ...string) (n int) {
		dump := s.run(t.Context(), t, "pg_dump", append(more, "-h", s.Folder(), "-U", "postgres", "postgres")...)
		if len(dump) < 10<<10 {
			t.Fatalf("the dump has %d bytes only", len(dump))
		}
		for _, p := range c.planted {
			for _, sealed := range [][]byte{p.sealed.Text, p.sealed.Key.Sealed} {
				if bytes.Contains(dump, []byte(hex.EncodeToString(sealed))) {
					n++
				}
			}
		}
		return n
	}
	if found() == 0 {
		t.Error("a dump with unlogged tables shows none of the codes and keys that are stored")
	}
	if n := found("--no-unlogged-table-data"); n > 0 {
		t.Errorf("%d codes and keys are in the dump", n)
	}
}

// heldRoots are root secrets in their stored form.
type heldRoots []byte

func (h heldRoots) Read(context.Context) ([]byte, error) { return h, nil }
func (heldRoots) String() string                         { return "in a test" }

// stolenSecret opens a secret of the database as an attacker with the key-encryption key does.
func (c *codes) stolenSecret(t *testing.T, name string, kek []byte) []byte {
	t.Helper()
	var sealed []byte
	row := c.inspect.QueryRowContext(t.Context(), "SELECT sealed FROM secrets WHERE name = ?", name)
	if err := row.Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "vault") {
		return sealed
	}
	out, err := vault.OpenSmall(kek, sealed, name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNoSecurityCodeOpensPostgreSQL is TestNoSecurityCodeOpensSQLite on a server with an archive, a
// standby, a base backup, a dump and a crash.
func TestNoSecurityCodeOpensPostgreSQL(t *testing.T) {
	t.Parallel()
	s := openReplicated(t)
	c := &codes{bundle: openBundle(t, &bundle{rateLimit: -1, on: s.on})}
	c.pk = c.publishable(t)
	c.unlinkedRefunds(t)
	c.plant(t)
	c.tokenize(t, "777") // which stays unused
	kek, err := base64.StdEncoding.DecodeString(testKEK().Reveal())
	if err != nil {
		t.Fatal(err)
	}
	v := mustOpenVault(t, c.stolenSecret(t, "vault.keyset", kek), kek)
	c.wantOpen(t, v)
	c.wantClosed(t, "after authorization", v, stolen)
	roots, err := root.Open(t.Context(), heldRoots(c.stolenSecret(t, "root", kek)), c.clock)
	if err != nil {
		t.Fatal(err)
	}
	c.wantNoGuess(t, append(lastingKeys(roots), kek))
	s.backUp(t, "the base")
	s.folders["the write-ahead log"] = filepath.Join(s.Folder(), "data", "pg_wal")
	s.flush(t, c)
	c.wantGone(t, "after authorization", s.folders)
	c.wantNotDumped(t, s)
	const file = "SELECT CAST(pg_relation_filenode('code_keys') AS BIGINT)"
	was := c.number(t, file)
	c.advanceBeyondKeys(t)
	if c.number(t, file) == was { // otherwise it still has the deleted rows, and the next clean stop writes them to the disk
		t.Error("the keys were deleted, and the file that held them was kept")
	}
	s.flush(t, c)
	c.wantClosed(t, "after two hours", v, everything)
	s.folders["the server's data"] = filepath.Join(s.Folder(), "data")
	c.wantGone(t, "after two hours", s.folders)
	c.wantLost(t, func() { s.Kill(); s.Again(t) }) // a crash empties unlogged tables, like a failover
}
