package keyring_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

const third = "mer_01jd8m3k2q4r7/live"

// changes returns changes of one column each, by the name of the column.
func changes(columns ...string) map[string]string {
	out := map[string]string{}
	for _, c := range columns {
		out[c] = c + " = " + c + " + 1"
	}
	return out
}

// logged returns a change of the settings that makes the log be written to a buffer.
func logged(to *bytes.Buffer) func(*keyring.Config) {
	return func(c *keyring.Config) { c.Log = slog.New(slog.NewTextHandler(to, nil)) }
}

// TestChangedKey checks that no key is shown or used after another program has changed a column of
// its row. It is reported, and the keys of other merchants work.
func TestChangedKey(t *testing.T) {
	t.Parallel()
	all := changes("created_at", "not_before", "rotate_at", "activated_at", "superseded_at", "retire_at", "revoked_at",
		"requested_at", "due_at")
	all["kid"] = "kid = '-' || kid"
	all["tenant"] = "tenant = '" + third + "'"
	all["alg"] = "alg = 'RSA-OAEP-256'"
	all["sealed"], all["wiped"], all["jwk"], all["mac"] = "sealed = jwk", "sealed = NULL", "jwk = %s", "mac = jwk"
	for _, e := range storetest.Engines() {
		for column, change := range all {
			t.Run(e.Name+"/"+column, func(t *testing.T) {
				t.Parallel()
				source := e.Source(t)
				f := open(t, source, clock.NewFake(birth))
				old := f.current(t, ec).Current
				now := f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec}).Current
				others, err := f.Current(t.Context(), other, ec)
				if err != nil {
					t.Fatal(err)
				}
				if column == "jwk" {
					change = fmt.Sprintf(change, blob(t, source, newMerchantKey(t)))
				}
				where := map[bool]string{true: " AND superseded_at > 0"}[column == "retire_at"]
				MustExec(t, source, "UPDATE mle_keys SET "+change+" WHERE tenant = '"+shop+"'"+where)
				var log bytes.Buffer
				again := open(t, source, f.clock, logged(&log))
				again.wantRefused(t, old.Kid)
				if where == "" {
					again.wantRefused(t, now.Kid)
				}
				again.wantChanged(t, &log)
				if err := again.works(t, other, others.Current); err != nil {
					t.Errorf("another merchant: %v", err)
				}
			})
		}
	}
}

// wantRefused checks that a key of the shop, which may be another merchant's now, is not used.
func (f filter) wantRefused(t *testing.T, kid string) {
	t.Helper()
	for _, tenant := range []string{shop, third} {
		for _, k := range []string{kid, "-" + kid} {
			if private, _, err := f.Private(t.Context(), tenant, k); err == nil {
				t.Errorf("%s decrypts for %s: %v", k, tenant, private)
			}
			if _, err := f.Revoke(t.Context(), k); err == nil {
				t.Errorf("revoked %s", k)
			}
		}
		if p, err := f.Current(t.Context(), tenant, ec); err == nil && strings.HasSuffix(p.Current.Kid, kid) {
			t.Errorf("got the current key %s of %s", kid, tenant)
		}
		keys, err := f.Keys(t.Context(), tenant)
		if err != nil {
			t.Error(err)
		}
		for _, k := range keys {
			if strings.HasSuffix(k.Kid, kid) {
				t.Errorf("%s is one of the keys of %s", kid, tenant)
			}
		}
	}
}

// wantChanged checks that refused rows are reported.
func (f filter) wantChanged(t *testing.T, log *bytes.Buffer) {
	t.Helper()
	if f.Changed() == 0 || f.Unchanged(t.Context()) == nil {
		t.Errorf("got %d changed rows", f.Changed())
	}
	if !strings.Contains(log.String(), "another program changed") {
		t.Errorf("got the log %q", log)
	}
}

// blob returns the public half of a merchant's key as a literal of SQL.
func blob(t *testing.T, source string, k merchantKey) string {
	t.Helper()
	text, err := k.jwk.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(source, "postgres") {
		return fmt.Sprintf(`'\x%x'::bytea`, text)
	}
	return fmt.Sprintf("x'%x'", text)
}

// TestChangedResponseKey checks that no response is encrypted to a key after another program has
// changed a column of its row, or made the row.
func TestChangedResponseKey(t *testing.T) {
	t.Parallel()
	const update = "UPDATE mle_response_keys SET "
	all := changes("created_at", "proven_at", "proven_revision", "challenge_expires_at")
	all["kid"], all["tenant"], all["alg"] = "kid = 'k'", "tenant = '"+third+"'", "alg = 'RSA-OAEP-256'"
	all["jwk"], all["challenge"], all["mac"] = "jwk = %s", "challenge = jwk", "mac = jwk"
	all["new"] = "INSERT INTO mle_response_keys (tenant, kid, alg, jwk, created_at, proven_at, proven_revision," +
		" revision) VALUES ('" + third + "', 'k', 'ECDH-ES+A256KW', %s, 1, 1, 99, 1)"
	for _, e := range storetest.Engines() {
		for column, change := range all {
			t.Run(e.Name+"/"+column, func(t *testing.T) {
				t.Parallel()
				source := e.Source(t)
				f, own := open(t, source, clock.NewFake(birth)), newMerchantKey(t)
				if err := f.prove(t, own, f.register(t, own)); err != nil {
					t.Fatal(err)
				}
				f.wantResponseKey(t, shop, "", own.jwk.KeyID)
				if column == "jwk" || column == "new" {
					change = fmt.Sprintf(change, blob(t, source, newMerchantKey(t)))
				}
				tenant := map[bool]string{true: third, false: shop}[column == "tenant" || column == "new"]
				if column != "new" {
					change = update + change
				}
				MustExec(t, source, change)
				var log bytes.Buffer
				again := open(t, source, f.clock, logged(&log))
				for _, kid := range []string{"", "k", own.jwk.KeyID} {
					if got, err := again.ResponseKey(t.Context(), tenant, kid); err == nil {
						t.Errorf("%q: got the key %s", kid, got.KeyID)
					} else if kid == "" && errors.Is(err, engine.ErrNoKey) {
						t.Error("the default key: got ErrNoKey, so that the response has no registered key")
					}
				}
				if kid, err := again.DefaultResponseKey(t.Context(), tenant); err == nil || errors.Is(err, engine.ErrNoKey) {
					t.Errorf("got the default %s, %v", kid, err)
				}
				if keys, err := again.ResponseKeys(t.Context(), tenant); err != nil || len(keys) > 0 {
					t.Errorf("got the list %v, %v", keys, err)
				}
				again.wantChanged(t, &log)
			})
		}
	}
}

// TestChangedUnprovenResponseKey checks that a merchant's proof activates no key that another
// program has put into the row, and that a deleted key stays deleted.
func TestChangedUnprovenResponseKey(t *testing.T) {
	t.Parallel()
	source := storetest.SQLite(t)
	f, own := open(t, source, clock.NewFake(birth)), newMerchantKey(t)
	plaintext := f.register(t, own)
	MustExec(t, source, "UPDATE mle_response_keys SET jwk = "+blob(t, source, newMerchantKey(t)))
	if err := f.prove(t, own, plaintext); err == nil {
		t.Error("a merchant's proof made another key active")
	}
	if err := f.prove(t, own, f.register(t, own)); err != nil { // registering again repairs the row
		t.Fatal(err)
	}
	f.wantResponseKey(t, shop, "", own.jwk.KeyID)
	if err := f.DeleteResponseKey(t.Context(), shop, own.jwk.KeyID); err != nil {
		t.Fatal(err)
	}
	MustExec(t, source, "UPDATE mle_response_keys SET deleted_at = 0")
	again := open(t, source, f.clock)
	if got, err := again.ResponseKey(t.Context(), shop, ""); err == nil {
		t.Errorf("got the deleted key %s", got.KeyID)
	}
}

// TestChangedSpare checks that no merchant gets a spare key that another program has changed.
func TestChangedSpare(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"jwk = %s", "kid = 'k'", "alg = 'ECDH-ES+A256KW'", "created_at = 1"} {
		source := storetest.SQLite(t)
		f := open(t, source, clock.NewFake(birth))
		f.must(t, f.Fill)
		if strings.Contains(change, "%s") {
			change = fmt.Sprintf(change, blob(t, source, newMerchantKey(t)))
		}
		MustExec(t, source, "UPDATE mle_spares SET "+change)
		if _, err := f.Current(t.Context(), shop, rsa); !errors.Is(err, keyring.ErrNotReady) {
			t.Errorf("%s: got %v, want ErrNotReady", change, err)
		}
		f.must(t, f.Fill)
		if err := f.works(t, shop, f.current(t, rsa).Current); err != nil {
			t.Errorf("%s: after the next were made: %v", change, err)
		}
	}
}

// TestRepairedKey checks that a filter uses a key again as soon as its row is as it was. The
// schedule then no longer reports it. No rotation of the keyset authenticates the changed row.
func TestRepairedKey(t *testing.T) {
	t.Parallel()
	source := storetest.SQLite(t)
	f := open(t, source, clock.NewFake(birth))
	k := f.current(t, ec).Current
	MustExec(t, source, "UPDATE mle_keys SET created_at = created_at + 1")
	again := open(t, source, f.clock)
	if err := again.works(t, shop, k); err == nil {
		t.Error("it works although its row was changed")
	}
	again.must(t, again.Maintain)
	if n := again.Changed(); n != 1 {
		t.Errorf("got %d changed rows, want 1", n)
	}
	complained := 0
	r := keyring.KeysetRotation{
		Store: f.db, KEK: kek(1), Progress: func(int, int) {}, Complain: func(string) { complained++ },
	}
	if _, err := r.Run(t.Context()); !errors.Is(err, keyring.ErrLeft) || complained != 1 {
		t.Errorf("rotation of the keyset: got %v, %d complaints", err, complained)
	}
	MustExec(t, source, "UPDATE mle_keys SET created_at = created_at - 1")
	if err := again.works(t, shop, k); err != nil {
		t.Errorf("after the repair: %v", err)
	}
	again.must(t, again.Maintain)
	if n := again.Changed(); n != 0 {
		t.Errorf("got %d changed rows, want none", n)
	}
	if _, err := r.Run(t.Context()); err != nil {
		t.Errorf("rotation of the keyset after the repair: %v", err)
	}
	if err := keyring.Rewrap(t.Context(), f.db, kek(1), kek(2)); err != nil {
		t.Fatal(err)
	}
	last := open(t, source, f.clock, func(c *keyring.Config) { c.KEK = kek(2) })
	last.clock.Advance(80 * day)
	last.must(t, last.Maintain) // publishes the next key
	last.clock.Advance(time.Hour)
	if err := last.works(t, shop, k); err != nil || last.current(t, ec).Next == nil {
		t.Errorf("after rotations of all keys: %v", err)
	}
}
