package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// fixed returns the hours whose keys stay.
func fixed(first, last int64) func() (int64, int64) {
	return func() (int64, int64) { return first, last }
}

// TestDestroyCodeKeysWhileTheClockJumps: a key that was made after a jump of the clock stays, even
// if the pass began before the jump.
func TestDestroyCodeKeysWhileTheClockJumps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := func(id, hour int64) payment.CodeKey {
		return payment.CodeKey{ID: id, Hour: hour, Vault: 1, Sealed: []byte("k")}
	}
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertCodeKey(key(1, 50)), tx.InsertCodeKey(key(2, 300)))
	})
	now := int64(100)
	err := b.db.DestroyCodeKeys(t.Context(), func() (first, last int64) {
		defer func() { now = 300 }()
		return now - 2, now + 1
	})
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := b.db.CodeKeys(t.Context()); err != nil || len(keys) != 1 || keys[0].Hour != 300 {
		t.Errorf("got %v, %v, want the key of hour 300", keys, err)
	}
}

// TestDestroyCodeKeys: once DestroyCodeKeys has returned, no file of the open store contains the
// bytes of a destroyed key or of a deleted code. The keys of later hours stay.
func TestDestroyCodeKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := func(id, hour int64, letter byte) payment.CodeKey {
		return payment.CodeKey{ID: id, Hour: hour, Vault: 1, Sealed: bytes.Repeat([]byte{letter}, 60)}
	}
	old, live := key(1, 100, 'P'), key(2, 101, 'Q')
	code := func(id int64, k payment.CodeKey, letter byte) *payment.Token {
		text := bytes.Repeat([]byte{letter}, 31)
		return token(id, payment.Sealed{
			Key: 1, Number: []byte("n"), Code: payment.SealedCode{Key: k, Text: text},
		})
	}
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertCodeKey(old), tx.InsertCodeKey(live), tx.InsertToken(code(10, old, 'R')),
			tx.InsertToken(code(11, live, 'S')), tx.InsertToken(code(12, live, 'T')))
	})
	b.MustStore(t, func(tx *store.Tx) error { return tx.UseToken(tenant, 12, 9) })
	for _, hours := range []struct{ first, last, left int64 }{{100, 101, 2}, {101, 102, 1}} {
		if err := b.db.DestroyCodeKeys(t.Context(), fixed(hours.first, hours.last)); err != nil {
			t.Fatal(err)
		}
		if keys, err := b.db.CodeKeys(t.Context()); err != nil || int64(len(keys)) != hours.left {
			t.Errorf("from hour %d to %d: got %d keys, %v, want %d", hours.first, hours.last, len(keys), err, hours.left)
		}
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(b.path), "*"))
	if err != nil || len(names) < 2 {
		t.Fatalf("files: %v, %v", names, err)
	}
	found := ""
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, letter := range "PQRST" {
			if bytes.Contains(content, bytes.Repeat([]byte{byte(letter)}, 16)) {
				found += string(letter)
			}
		}
	}
	if found != "QS" {
		t.Errorf("in the files: got %q, want the later key and the code that is not used", found)
	}
	keys, err := b.db.CodeKeys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].ID != live.ID {
		t.Errorf("left: got %v, %v", keys, err)
	}
	err = b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertToken(code(13, old, 'U')) })
	if !errors.Is(err, store.ErrCodeKeyGone) {
		t.Errorf("a code under a destroyed key: got %v, want %v", err, store.ErrCodeKeyGone)
	}
	if _, err := b.db.Token(t.Context(), tenant, 13); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("its token: got %v, want %v", err, payment.ErrNotFound)
	}
	got, err := b.db.Token(t.Context(), tenant, 10)
	if err != nil || !got.CVCGiven || len(got.Sealed.Code.Text) != 0 || got.Sealed.Code.Key.ID != 0 {
		t.Errorf("the token of a destroyed key: got %+v, %v", got, err)
	}
}
