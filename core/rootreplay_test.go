package core_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/root"
)

// TestReplaysAcrossRotations: a response that shows a secret is repeated byte by byte for the life
// of its idempotency key. It is so before and after a rotation that this core has read late, and
// after the older root secret was dropped.
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
	want("at once")
	b.again(t)
	want("after the new version was read")
	b.clock.Advance(root.Overlap - time.Second)
	b.again(t)
	want("a second before the keys expire")
}

// TestDropOldRootsWaitsForResponses: a stored response that only an older root secret opens keeps
// that from being dropped until its idempotency key expires.
func TestDropOldRootsWaitsForResponses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	must(t, b.rotateRoot(t))
	b.clock.Advance(root.Activation + time.Hour)
	made := b.post(t, "/v1/tokens", visa, keyed("token")) // by a core that has not read the new version
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
