package audit_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestMain(m *testing.M) { coretest.Main(m) }

// tampered returns a data folder with some audit records, and its head.
func tampered(t *testing.T) (dir, head string) {
	t.Helper()
	dir = t.TempDir()
	a := adminOf(t, dir)
	m := coretest.MustCreateMerchant(t, a)
	for _, on := range []bool{true, false, true, false} {
		if err := a.SetUnlinkedRefunds(t.Context(), m, on); err != nil {
			t.Fatal(err)
		}
	}
	head, err := a.VerifyAudit(t.Context(), "")
	if err != nil || !strings.HasPrefix(head, "5:") {
		t.Fatalf("got head %s, %v", head, err)
	}
	return dir, head
}

func adminOf(t *testing.T, dir string) *admin.Admin {
	t.Helper()
	a, err := admin.Create(t.Context(), datadir.Config{Data: dir, Clock: clock.NewFake(coretest.Birth)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// free removes the triggers that protect the records. swap exchanges two records.
const (
	free = `DROP TRIGGER audit_records_unchanged; DROP TRIGGER audit_records_kept; `
	swap = `UPDATE audit_records SET sequence = 100 WHERE sequence = 2;
		UPDATE audit_records SET sequence = 2 WHERE sequence = 3;
		UPDATE audit_records SET sequence = 3 WHERE sequence = 100`
)

// TestAuditTampering checks that verify finds each way to falsify the records, and that SQL
// statements are refused while the triggers stand.
func TestAuditTampering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql      string
		withHead bool // only a logged head shows it
	}{
		"changed":         {sql: free + `UPDATE audit_records SET state_after = '{}' WHERE sequence = 3`},
		"another actor":   {sql: free + `UPDATE audit_records SET actor = 'cli bob' WHERE sequence = 3`},
		"another outcome": {sql: free + `UPDATE audit_records SET outcome = 'failed' WHERE sequence = 5`},
		"another time":    {sql: free + `UPDATE audit_records SET at = at + 1 WHERE sequence = 1`},
		"another address": {sql: free + `UPDATE audit_records SET client_address = '127.0.0.1' WHERE sequence = 1`},
		"moved between": {sql: free + `UPDATE audit_records
			SET object = object || action, action = '' WHERE sequence = 3`},
		"removed": {sql: free + `DELETE FROM audit_records WHERE sequence = 3`},
		"removed and renumb.": {sql: free + `DELETE FROM audit_records WHERE sequence = 3;
			UPDATE audit_records SET sequence = sequence - 1 WHERE sequence > 3`},
		"the first removed": {sql: free + `DELETE FROM audit_records WHERE sequence < 3`},
		"reordered":         {sql: free + swap},
		"the last removed":  {sql: free + `DELETE FROM audit_records WHERE sequence > 3`, withHead: true},
		"all removed":       {sql: free + `DELETE FROM audit_records`, withHead: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, head := tampered(t)
			db, err := sql.Open("sqlite", filepath.Join(dir, "causeway.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			statements := strings.TrimPrefix(c.sql, free)
			if _, err := db.ExecContext(t.Context(), statements); err == nil {
				t.Error("the triggers let it through")
			}
			if _, err := db.ExecContext(t.Context(), c.sql); err != nil {
				t.Fatal(err)
			}
			a := adminOf(t, dir)
			if _, err := a.VerifyAudit(t.Context(), ""); c.withHead == errors.Is(err, audit.ErrBroken) {
				t.Errorf("without the head: got %v", err)
			}
			if _, err := a.VerifyAudit(t.Context(), head); !errors.Is(err, audit.ErrBroken) {
				t.Errorf("with the head: got %v", err)
			}
		})
	}
	dir, head := tampered(t)
	if _, err := adminOf(t, dir).VerifyAudit(t.Context(), head); err != nil {
		t.Errorf("untouched: %v", err)
	}
}

// TestAuditSplice checks that verify finds a record that core signed in another history of the same
// store, after a restore from a backup.
func TestAuditSplice(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	a := adminOf(t, dir)
	m := coretest.MustCreateMerchant(t, a)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	other := adminOf(t, copied)
	for _, on := range []bool{true, false} {
		err := errors.Join(a.SetUnlinkedRefunds(t.Context(), m, on), other.SetUnlinkedRefunds(t.Context(), m, !on))
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "causeway.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `ATTACH '`+filepath.Join(copied, "causeway.db")+`' AS other;
		DROP TRIGGER audit_records_kept; DELETE FROM audit_records WHERE sequence = 3;
		INSERT INTO audit_records SELECT * FROM other.audit_records WHERE sequence = 3`); err != nil {
		t.Fatal(err)
	}
	if _, err := a.VerifyAudit(t.Context(), ""); !errors.Is(err, audit.ErrBroken) {
		t.Errorf("got %v", err)
	}
}

// TestAuditPurge checks that records older than the retention are removed, and that the purge
// writes a record. The chain still verifies, and a retention of less than a year is refused.
func TestAuditPurge(t *testing.T) {
	t.Parallel()
	tooShort := core.Config{Data: t.TempDir(), KeepAudit: core.LeastKeepAudit - time.Second}
	if _, err := core.Open(t.Context(), tooShort); err == nil {
		t.Error("a retention of less than a year is taken")
	}
	dir, now := t.TempDir(), clock.NewFake(coretest.Birth)
	logs := &programtest.Log{}
	open := func() *core.Core {
		c, err := core.Open(t.Context(), core.Config{
			Data: dir, Clock: now, KeepAudit: core.LeastKeepAudit, Log: slog.New(slog.NewJSONHandler(logs, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	m := coretest.MustCreateMerchant(t, c.Admin())
	now.Advance(core.LeastKeepAudit - time.Minute)
	if err := errors.Join(c.Admin().SetUnlinkedRefunds(t.Context(), m, true), c.Close()); err != nil {
		t.Fatal(err)
	}
	now.Advance(2 * time.Minute)
	(&coretest.Database{Path: filepath.Join(dir, "causeway.db")}).MustConfirm(t, now)
	c = open()
	defer func() { _ = c.Close() }()
	programtest.WaitFor(t, "the head is logged", func() bool {
		return strings.Contains(logs.String(), `"msg":"audit head","head":"3:`)
	})
	got := coretest.MustAuditRecords(t, c.Admin())
	if len(got) != 2 || got[0].Sequence != 2 || got[1].Action != "audit.purge" {
		t.Errorf("got %+v", got)
	}
	if _, err := c.Admin().VerifyAudit(t.Context(), ""); err != nil {
		t.Error(err)
	}
}

// makeVault makes the keys of the vault in a folder, as core serve does.
func makeVault(t *testing.T, dir string) {
	t.Helper()
	d, err := datadir.Open(t.Context(), datadir.Config{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }() // the keys are in their file
	if _, err := d.Vault(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAuditOfCopies checks that actions without a database commit have a record before and one
// after.
func TestAuditOfCopies(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	a := adminOf(t, dir)
	makeVault(t, dir)
	if err := admin.Backup(t.Context(), datadir.Config{Data: dir}, to); err != nil {
		t.Fatal(err)
	}
	if err := admin.Backup(t.Context(), datadir.Config{Data: dir}, filepath.Join(to, "none", "none")); err == nil {
		t.Error("a backup into no folder")
	}
	if err := a.RotateVault(t.Context(), false, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range coretest.MustAuditRecords(t, a) {
		got = append(got, r.Action+" "+r.Outcome)
	}
	want := "backup begun, backup done, backup begun, backup failed, vault.rotate begun, vault.rotate done"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	next := t.TempDir()
	if err := admin.Restore(t.Context(), datadir.Config{Data: next}, to); err != nil {
		t.Fatal(err)
	}
	restored := coretest.MustAuditRecords(t, adminOf(t, next))
	if n := len(restored); n != 2 || restored[1].Action != "restore" || restored[1].ObjectID != to {
		t.Errorf("restored: got %+v", restored)
	}
}

// wantOneChain checks that concurrent Admins write one chain of records without a gap.
func wantOneChain(t *testing.T, admins []*admin.Admin) {
	t.Helper()
	const each = 15
	m := coretest.MustCreateMerchant(t, admins[0])
	var all sync.WaitGroup
	for _, a := range admins {
		for range 3 {
			all.Go(func() {
				for i := range each {
					if err := a.SetUnlinkedRefunds(context.WithoutCancel(t.Context()), m, i%2 == 0); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	got := coretest.MustAuditRecords(t, admins[0])
	if want := 1 + len(admins)*3*each; len(got) != want {
		t.Errorf("got %d records, want %d", len(got), want)
	}
	for i := 2; i < len(got); i++ {
		if !bytes.Equal(got[i].Before, got[i-1].After) {
			t.Errorf("record %d begins with %s, and record %d ended with %s", got[i].Sequence, got[i].Before,
				got[i-1].Sequence, got[i-1].After)
		}
	}
	if _, err := admins[len(admins)-1].VerifyAudit(t.Context(), ""); err != nil {
		t.Error(err)
	}
}

// TestAuditConcurrentSQLite writes through two stores on one file.
func TestAuditConcurrentSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wantOneChain(t, []*admin.Admin{adminOf(t, dir), adminOf(t, dir)})
}
