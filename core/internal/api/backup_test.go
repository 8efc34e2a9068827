package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/backup"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// MustBackup backs the bundle's folder up and returns the backup.
func (b *bundle) MustBackup(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup")
	if err := admin.Backup(t.Context(), datadir.Config{Data: b.dir, Clock: b.clock}, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// restored opens a service on a restored backup, with the bundle's key.
func (b *bundle) restored(t *testing.T, from string) *bundle {
	t.Helper()
	next := &bundle{rateLimit: -1, dir: filepath.Join(t.TempDir(), "data"), clock: b.clock, logs: &programtest.Log{}, merchant: b.merchant, key: b.key}
	if err := admin.Restore(t.Context(), datadir.Config{Data: next.dir}, from); err != nil {
		t.Fatal(err)
	}
	next.start(t)
	t.Cleanup(func() { next.stop(t) })
	next.inspect = coretest.MustInspect(t, filepath.Join(next.dir, "causeway.db"))
	return next
}

// till is a set of writers that pay, with the payments that succeeded.
type till struct {
	b     *bundle
	warm  chan struct{} // one for each writer that has made two payments
	stop  atomic.Bool
	wg    sync.WaitGroup
	mu    sync.Mutex
	acked []string // guarded by mu
}

// openTill starts n writers, which each make 25 payments, and more until they are stopped.
func (b *bundle) openTill(t *testing.T, n int) *till {
	t.Helper()
	out := &till{b: b, warm: make(chan struct{}, n)}
	for w := range n {
		out.wg.Go(func() {
			for n := 0; n < 25 || !out.stop.Load(); n++ {
				if !out.pay(t, fmt.Sprintf("w%d-%d", w, n)) {
					return
				}
				if n == 1 {
					out.warm <- struct{}{}
				}
			}
		})
	}
	return out
}

func (l *till) pay(t *testing.T, key string) bool {
	t.Helper()
	a, err := l.b.try(t, "POST", "/v1/transactions", create(100, manual), keyed(key))
	var made v1.Transaction
	if err != nil || a.status != 201 || json.Unmarshal(a.body, &made) != nil {
		t.Errorf("got %d %s, %v", a.status, a.body, err)
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = append(l.acked, made.ID)
	return true
}

// succeeded returns the payments that succeeded so far.
func (l *till) succeeded() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acked)
}

// TestBackupUnderLoadSQLite takes a backup during the payments of 32 writers. It contains all
// payments that succeeded before its start, and a service can start on it.
func TestBackupUnderLoadSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.openTill(t, 32)
	for range cap(l.warm) {
		<-l.warm
	}
	before := l.succeeded()
	taken := b.MustBackup(t)
	l.stop.Store(true)
	l.wg.Wait()

	next := b.restored(t, taken)
	if got := next.text(t, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("integrity: got %s", got)
	}
	for _, id := range before {
		next.wantTransaction(t, id, v1.TransactionStatusAuthorized, amounts{100, 0, 0, 100, 0})
	}
	programtest.WaitFor(t, "payments that were open in the backup end", func() bool {
		return next.number(t, "SELECT COUNT(*) FROM transactions WHERE status IN ('processing', 'unknown')") == 0
	})
	// Steps, keys and stored responses work, and new payments are taken.
	MustDecode[v1.Capture](t, next.capture(t, before[0], ""), 201)
	if a := next.post(t, "/v1/transactions", create(100, manual), keyed("w0-0")); a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("not replayed: %d %s", a.status, a.body)
	}
	next.MustCreate(t, 5, "")
	t.Logf("%d of %d payments succeeded before the backup", len(before), len(l.succeeded()))
}

// TestBackupIsThePrivateWholeSQLite checks the files of a backup and their modes.
func TestBackupIsThePrivateWholeSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustCreate(t, 5, "")
	dir := b.MustBackup(t)
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		names = append(names, d.Name())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(names[1:], " "), "causeway.db manifest.json root.secret vault.keyset"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("next to the backup: %v, %v", left, err)
	}
}

func TestBackupsThatAreRefusedSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	taken := b.MustBackup(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ data, to string }{
		"there is one":       {b.dir, taken},
		"there is a file":    {b.dir, file},
		"no parent":          {b.dir, filepath.Join(file, "backup")},
		"not a data folder":  {t.TempDir(), filepath.Join(t.TempDir(), "backup")},
		"no folder":          {filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "backup")},
		"an empty folder":    {b.dir, t.TempDir()},
		"in the data folder": {b.dir, b.dir},
	} {
		if err := admin.Backup(t.Context(), datadir.Config{Data: c.data}, c.to); err == nil {
			t.Errorf("%s: made", name)
		}
	}
	b.MustCreate(t, 5, "") // the damage does not affect the service
}

// harms are kinds of damage to a backup, by name.
func harms() map[string]func(dir string) error {
	edit := func(name string, change func([]byte) []byte) func(dir string) error {
		return func(dir string) error {
			path := filepath.Join(dir, name)
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, change(content), 0o600)
		}
	}
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[(len(b)+at)%len(b)] ^= 1; return b }
	}
	replace := func(from, to string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
	}
	return map[string]func(dir string) error{
		"a changed bit":    edit("causeway.db", flip(5000)),
		"a cut file":       edit("causeway.db", func(b []byte) []byte { return b[:len(b)-4096] }),
		"a changed secret": edit("root.secret", flip(0)),
		"another hash":     edit("manifest.json", replace(`"sha256": "`, `"sha256": "0`)),
		"another format":   edit("manifest.json", replace(`"format": 1`, `"format": 2`)),
		"a path in a name": edit("manifest.json", replace(`"vault.keyset"`, `"../vault.keyset"`)),
		"an unknown field": edit("manifest.json", replace(`"format"`, `"more": 1, "format"`)),
		"a broken database of the right hash": func(dir string) error {
			err := edit("causeway.db", func(b []byte) []byte { clear(b[4096:12288]); return b })(dir)
			return errors.Join(err, os.Remove(filepath.Join(dir, "manifest.json")),
				backup.Seal(dir, []string{"causeway.db", "root.secret"}, birth))
		},
		"no manifest":         func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) },
		"no database":         func(dir string) error { return os.Remove(filepath.Join(dir, "causeway.db")) },
		"database not listed": edit("manifest.json", replace(`"causeway.db"`, `"other.db"`)),
	}
}

// TestRestoresThatAreRefusedSQLite: a damaged backup, or a folder that is not empty, is refused,
// and no file remains.
func TestRestoresThatAreRefusedSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustCreate(t, 5, "")
	good := b.MustBackup(t)
	for name, harm := range harms() {
		dir, data := t.TempDir(), t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		if err := admin.Restore(t.Context(), datadir.Config{Data: data}, dir); err == nil {
			t.Errorf("%s: restored", name)
		}
		if left := names(t, data); len(left) > 1 || len(left) == 1 && left[0] != "lock" {
			t.Errorf("%s: left %v", name, left)
		}
		if err := admin.Restore(t.Context(), datadir.Config{Data: data}, good); err != nil {
			t.Errorf("%s: the good one after it: %v", name, err)
		}
	}
	if err := admin.Restore(t.Context(), datadir.Config{Data: b.dir}, good); err == nil {
		t.Error("restored into the folder of a running service")
	}
	if err := admin.Restore(t.Context(), datadir.Config{Data: filepath.Join(t.TempDir(), "a", "b")}, good); err != nil {
		t.Errorf("into a new folder: %v", err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
