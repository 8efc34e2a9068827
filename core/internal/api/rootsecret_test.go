package api_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/root"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// secrets changes the root secret like another process while a service runs. The service has run
// for as long as the clock.
func (b *bundle) secrets(t *testing.T, change func(*admin.Admin) error) error {
	t.Helper()
	b.database.MustConfirm(t, b.clock)
	return b.unconfirmed(t, change)
}

// unconfirmed is secrets without a confirmed time.
func (b *bundle) unconfirmed(t *testing.T, change func(*admin.Admin) error) error {
	t.Helper()
	a, err := admin.Open(t.Context(), b.config())
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(change(a), a.Close())
}

func (b *bundle) rotateRoot(t *testing.T) error {
	t.Helper()
	return b.secrets(t, func(a *admin.Admin) error { return a.RotateRoot(t.Context(), io.Discard) })
}

// rotateUnread rotates the root secret while the core is stopped. No core reads the new version
// until read is called.
func (b *bundle) rotateUnread(t *testing.T) (read func()) {
	t.Helper()
	b.stop(t)
	defer func() { t.Helper(); b.start(t) }()
	if coretest.Shared() {
		keep := func(name string) {
			t.Helper()
			b.database.MustExec(t, "INSERT INTO secrets SELECT '"+name+"', sealed, changed_at FROM secrets WHERE name = 'root'")
		}
		put := func(name string) {
			t.Helper()
			b.database.MustExec(t, "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = '"+name+"') WHERE name = 'root'")
			b.database.MustExec(t, "DELETE FROM secrets WHERE name = '"+name+"'")
		}
		keep("old")
		must(t, b.rotateRoot(t))
		keep("rotated")
		put("old")
		return func() { t.Helper(); put("rotated") }
	}
	file := filepath.Join(b.dir, datadir.RootFile)
	old, err := os.ReadFile(file)
	must(t, err)
	must(t, b.rotateRoot(t))
	rotated, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, old, 0o600))
	return func() { t.Helper(); must(t, os.WriteFile(file, rotated, 0o600)) }
}

func (b *bundle) dropOldRoots(t *testing.T) error {
	t.Helper()
	return b.secrets(t, func(a *admin.Admin) error { return a.DropOldRoots(t.Context(), io.Discard) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantAudited checks the newest audit records, newest first.
func (b *bundle) wantAudited(t *testing.T, want ...string) {
	t.Helper()
	found, err := b.core.Admin().AuditRecords(t.Context(), 0, len(want))
	must(t, err)
	var got []string
	for _, r := range found {
		got = append(got, r.Action+" "+r.Outcome)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// again stops and starts the service. The stop writes the use of its keys to the store.
func (b *bundle) again(t *testing.T) {
	t.Helper()
	b.restart(t)
}

// kept are requests whose responses show a secret, and must be the same bytes after a rotation.
var kept = map[string]string{
	"/v1/api_keys":          `{"name":"second","kind":"secret"}`,
	"/v1/transactions":      waiting(""),
	"/v1/webhook_endpoints": `{"url":"https://example.com/","enabled_events":["*"]}`,
}

// TestRotateRootWhileTheServiceRuns rotates the root secret while a service runs. Keys, client
// secrets, webhook secrets and stored responses stay valid. Values that other processes make under
// the new secret are valid there immediately.
func TestRotateRootWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := map[string][]byte{}
	for path, body := range kept {
		a := b.post(t, path, body, keyed("k"+path))
		if a.status != 201 {
			t.Fatalf("%s: got %d %s", path, a.status, a.body)
		}
		before[path] = a.body
	}
	waits := b.MustPrepare(t, "")
	fingerprint := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa), 201).Card.Fingerprint
	payer := b.publishable(t)
	must(t, b.rotateRoot(t))
	if err := b.rotateRoot(t); !errors.Is(err, root.ErrPending) {
		t.Errorf("rotated again immediately: got %v", err)
	}
	b.clock.Advance(root.Activation)
	b.wantAudited(t, "secrets.rotate failed", "secrets.rotate begun", "secrets.rotate done", "secrets.rotate begun")
	var other string
	must(t, b.secrets(t, func(a *admin.Admin) error {
		other = coretest.MustCreateKey(t, a, core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"})
		return nil
	}))
	b.currentID(t, other) // by a service that has not read the new secret yet
	for restarted := range 2 {
		for path, body := range kept {
			if a := b.post(t, path, body, keyed("k"+path)); a.status != 201 || !bytes.Equal(a.body, before[path]) {
				t.Errorf("%s: got %d %s, want %s", path, a.status, a.body, before[path])
			}
		}
		b.currentID(t, b.key)
		if got := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa), 201).Card.Fingerprint; got != fingerprint {
			t.Errorf("the card's fingerprint is %s, want %s", got, fingerprint)
		}
		fresh := b.MustPrepare(t, "")
		for _, u := range []unconfirmed{waits, fresh}[restarted:] {
			if a := b.confirm(t, u.id, u.proven(typedCard), payer); a.status != 200 {
				t.Errorf("confirm: got %d %s", a.status, a.body)
			}
		}
		before["/v1/transactions"] = b.post(t, "/v1/transactions", kept["/v1/transactions"], keyed("k/v1/transactions")).body
		b.again(t)
	}
}

// TestDropOldRootsWhenUnused: an older root secret is not dropped while a stored response, a
// transaction that waits or a valid key needs it.
func TestDropOldRootsWhenUnused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	idle, secret := b.createKey(t, `{"name":"idle","kind":"secret"}`)
	if err := b.dropOldRoots(t); !errors.Is(err, root.ErrNothingOlder) {
		t.Errorf("with one version: got %v", err)
	}
	must(t, b.rotateRoot(t))
	b.clock.Advance(root.Activation + root.Overlap - time.Millisecond)
	if err := b.dropOldRoots(t); !errors.Is(err, root.ErrOverlap) {
		t.Errorf("within the overlap: got %v", err)
	}
	b.clock.Advance(time.Second)
	b.again(t)
	b.currentID(t, b.key)
	if err := b.dropOldRoots(t); err == nil || !strings.Contains(err.Error(), "valid API keys") {
		t.Errorf("with keys that were not used: got %v", err)
	}
	b.again(t) // b.key is hashed under the new one by now
	if err := b.dropOldRoots(t); err == nil || !strings.Contains(err.Error(), "1 valid API keys") {
		t.Errorf("with a key that was not used: got %v", err)
	}
	if a := b.do(t, "DELETE", "/v1/api_keys/"+idle.ID, ""); a.status != 200 {
		t.Fatalf("revoke: got %d %s", a.status, a.body)
	}
	must(t, b.dropOldRoots(t))
	b.currentID(t, b.key)
	b.again(t)
	b.currentID(t, b.key)
	b.wantDead(t, secret)
}

// TestDropOldRootsWaitsForConfirmations: a payer has a client secret from before the rotation.
func TestDropOldRootsWaitsForConfirmations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	must(t, b.rotateRoot(t))
	b.again(t) // it has read the new version
	b.MustPrepare(t, "")
	b.clock.Advance(root.Activation)
	b.currentID(t, b.key)
	b.stop(t) // before the service expires the transaction
	b.clock.Advance(root.Overlap)
	err := b.dropOldRoots(t)
	if err == nil || !strings.Contains(err.Error(), "1 transactions from before the rotation wait") {
		t.Errorf("got %v", err)
	}
	b.start(t)
}

// TestRestoreAcrossARotationSQLite: a backup from before a rotation is complete. A root secret that
// does not belong to its database is refused, and the error names the remedy.
func TestRestoreAcrossARotationSQLite(t *testing.T) {
	t.Parallel()
	if coretest.Shared() {
		return // backups are of folders
	}
	b := setup(t)
	from := b.MustBackup(t)
	must(t, b.rotateRoot(t))
	b.clock.Advance(root.Activation)
	b.again(t)
	later, secret := b.createKey(t, `{"name":"later","kind":"secret"}`)
	next := b.restored(t, from)
	next.currentID(t, b.key)
	next.wantDead(t, secret)
	during := b.restored(t, b.MustBackup(t))
	if got := during.currentID(t, secret); got != later.ID {
		t.Errorf("got %s, want %s", got, later.ID)
	}
	old, err := os.ReadFile(filepath.Join(from, "root.secret"))
	must(t, err)
	b.stop(t)
	now, err := os.ReadFile(filepath.Join(b.dir, "root.secret"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(b.dir, "root.secret"), old, 0o600))
	_, err = admin.Open(t.Context(), b.config())
	if !errors.Is(err, datadir.ErrLost) || !strings.Contains(err.Error(), "has no version 2, which") {
		t.Errorf("got %v", err)
	}
	must(t, os.WriteFile(filepath.Join(b.dir, "root.secret"), now, 0o600))
	b.start(t)
}

// TestReplaysAcrossRotations: a response that shows a secret is repeated byte by byte for the life
// of its idempotency key. That holds before and after a rotation that this core reads late, and
// after the older root secret is dropped.
func TestReplaysAcrossRotations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	must(t, b.rotateRoot(t))
	b.clock.Advance(root.Activation) // the core has not read the new version yet
	before := map[string][]byte{}
	for path, body := range kept {
		before[path] = b.post(t, path, body, keyed("k"+path)).body
	}
	want := func(when string) {
		t.Helper()
		for path, body := range kept {
			if got := b.post(t, path, body, keyed("k"+path)); got.status != 201 || !bytes.Equal(got.body, before[path]) {
				t.Errorf("%s: %s: got %d %s, want %s", when, path, got.status, got.body, before[path])
			}
		}
	}
	want("immediately")
	b.again(t)
	want("after the new version was read")
	b.clock.Advance(root.Overlap - time.Second)
	b.again(t)
	want("a second before the keys expire")
}

// TestDropOldRootsWaitsForResponses: an older root secret cannot be dropped while it is the only
// one that opens a stored response. That ends when the idempotency key expires.
func TestDropOldRootsWaitsForResponses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := b.rotateUnread(t)
	b.clock.Advance(root.Activation + time.Hour)
	made := b.post(t, "/v1/tokens", visa, keyed("token"))
	read()
	b.again(t)
	b.currentID(t, b.key)
	b.again(t) // b.key is hashed under the new version
	b.clock.Advance(root.Overlap - time.Second)
	err := b.dropOldRoots(t)
	if err == nil || !strings.Contains(err.Error(), "1 stored responses") {
		t.Errorf("while the response is kept: got %v", err)
	}
	if got := b.post(t, "/v1/tokens", visa, keyed("token")); got.status != made.status || !bytes.Equal(got.body, made.body) {
		t.Errorf("after drop-old: got %d %s, want %d %s", got.status, got.body, made.status, made.body)
	}
	b.clock.Advance(time.Second)
	must(t, b.dropOldRoots(t))
}

// TestRootSecretsByAClockThatIsAhead tests that the root secret is neither rotated nor dropped
// while the clock is a year ahead. A stored response still needs the older version.
func TestRootSecretsByAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	b := setup(t)
	must(t, b.rotateRoot(t))
	b.clock.Advance(root.Activation + time.Second)
	made := b.post(t, "/v1/tokens", visa, keyed("token")) // by a core that has not read the new version
	b.again(t)
	b.currentID(t, b.key)
	b.again(t) // b.key is hashed under the new version
	b.clock.Step(year)
	for what, change := range map[string]func(*admin.Admin) error{
		"drop":   func(a *admin.Admin) error { return a.DropOldRoots(t.Context(), io.Discard) },
		"rotate": func(a *admin.Admin) error { return a.RotateRoot(t.Context(), io.Discard) },
	} {
		if err := b.unconfirmed(t, change); err == nil || !strings.Contains(err.Error(), "8760h0m0s ahead of the confirmed time") {
			t.Errorf("%s by a clock that is a year ahead: got %v", what, err)
		}
	}
	b.clock.Step(-year)
	b.again(t)
	if got := b.post(t, "/v1/tokens", visa, keyed("token")); got.status != 201 || !bytes.Equal(got.body, made.body) {
		t.Errorf("after the clock was set right: got %d %s, want %d %s", got.status, got.body, made.status, made.body)
	}
	b.clock.Advance(root.Overlap + time.Hour)
	must(t, b.dropOldRoots(t))
	must(t, b.rotateRoot(t))
}
