package engine_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

const storedKeys = "SELECT COUNT(*) FROM api_keys"

// fillKeys stores expired keys until the given number of keys is stored. It returns their ids, the
// oldest first.
func fillKeys(t *testing.T, s *coretest.Service, stored int) (ids []int64) {
	t.Helper()
	now := s.Clock.Now()
	for len(ids) < stored {
		ids = append(ids, s.IDs.Next())
	}
	ids = ids[s.Number(t, storedKeys):]
	const insert = `INSERT INTO api_keys
		(id, merchant_id, hash, expires_at, live, kind, root_version, hint, scopes, created_at) VALUES `
	for first := 0; first < len(ids); first += 100 {
		var rows []string
		var args []any
		for i, key := range ids[first:min(first+100, len(ids))] {
			end := now.Add(time.Duration(first+i-stored) * time.Second)
			rows = append(rows, "(?, ?, ?, ?, 0, 'secret', 1, '', '', 0)")
			args = append(args, key, s.Tenant.Merchant, strconv.AppendInt(nil, key, 10), end.UnixMilli())
		}
		s.MustExec(t, insert+strings.Join(rows, ", "), args...)
	}
	return ids
}

// fillValidKeys is fillKeys with keys that were rolled and are still valid.
func fillValidKeys(t *testing.T, s *coretest.Service, stored int) {
	t.Helper()
	fillKeys(t, s, stored)
	const rolled = "UPDATE api_keys SET replaced_by = 1, expires_at = ? WHERE expires_at > 0"
	s.MustExec(t, rolled, s.Clock.Now().Add(time.Hour).UnixMilli())
}

// roll rolls a key and returns the key that replaces it, 0 for none.
func roll(t *testing.T, s *coretest.Service, key int64, overlap time.Duration) (int64, error) {
	t.Helper()
	_, err := s.Engine.RollKey(t.Context(), s.Request(""), s.Tenant, engine.Unlimited(), key, engine.Roll{Overlap: overlap})
	return s.Number(t, "SELECT COALESCE(replaced_by, 0) FROM api_keys WHERE id = ?", key), err
}

// TestStoredKeysAreBounded: at the bound of stored keys, each new key removes the oldest ended key.
// That holds for the new key of a roll too.
func TestStoredKeysAreBounded(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	own := MustMakeKey(t, s)
	ended := fillKeys(t, s, payment.MaxStoredKeys)
	MustMakeKey(t, s)
	for _, overlap := range []time.Duration{time.Hour, 0} {
		next, err := roll(t, s, own, overlap)
		if err != nil || next == 0 {
			t.Fatalf("roll: got %d, %v", next, err)
		}
		own = next
	}
	wantNumber(t, s, "stored keys", storedKeys, payment.MaxStoredKeys)
	for i, key := range ended[:4] {
		if _, err := s.DB.KeyByID(t.Context(), s.Tenant, key); errors.Is(err, payment.ErrNotFound) != (i < 3) {
			t.Errorf("ended key %d: got %v", i, err)
		}
	}
}

// TestValidKeysAreBounded: while all stored keys are valid, no key can be made or rolled, and none
// is removed. Once a key is revoked, the next new key replaces it, and the events of the revoked
// key stay.
func TestValidKeysAreBounded(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	own, revoked := MustMakeKey(t, s), MustMakeKey(t, s)
	fillValidKeys(t, s, payment.MaxStoredKeys)
	full := func() {
		t.Helper()
		_, err := s.Engine.CreateKey(t.Context(), s.Request(""), s.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
		if !errors.Is(err, payment.ErrTooManyKeys) {
			t.Errorf("create: got %v", err)
		}
		for _, overlap := range []time.Duration{time.Hour, 0} {
			if next, err := roll(t, s, own, overlap); !errors.Is(err, payment.ErrTooManyKeys) || next != 0 {
				t.Errorf("roll: got key %d, %v", next, err)
			}
		}
		wantNumber(t, s, "stored keys", storedKeys, payment.MaxStoredKeys)
	}
	full()
	if _, err := s.Engine.RevokeKey(t.Context(), s.Request(""), s.Tenant, nil, revoked, false); err != nil {
		t.Fatal(err)
	}
	next := MustMakeKey(t, s)
	full()
	if _, err := s.DB.KeyByID(t.Context(), s.Tenant, revoked); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("the revoked key: got %v, want it removed", err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE object_id = ?", revoked); got != 2 {
		t.Errorf("events of the removed key: got %d, want 2", got)
	}
	if _, err := s.Engine.RevokeKey(t.Context(), s.Request(""), s.Tenant, nil, next, false); err != nil {
		t.Fatal(err)
	}
	if rolled, err := roll(t, s, own, 0); err != nil || rolled == 0 {
		t.Errorf("roll: got key %d, %v", rolled, err)
	}
}

// TestTheLastKeysAtOnce: keys are made and rolled concurrently, and only as many are made as the
// bound allows.
func TestTheLastKeysAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const makers, room = 8, 3
	var rolled [makers]int64
	for i := range rolled {
		rolled[i] = MustMakeKey(t, s)
	}
	fillValidKeys(t, s, payment.MaxStoredKeys-room)
	var n atomic.Int64
	atOnce(t, 2*makers, func(ctx context.Context, i int) error {
		var err error
		if i < makers {
			_, err = s.Engine.RollKey(ctx, s.Request(""), s.Tenant, engine.Unlimited(), rolled[i], engine.Roll{Overlap: time.Hour})
		} else {
			_, err = s.Engine.CreateKey(ctx, s.Request(""), s.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
		}
		if err == nil {
			n.Add(1)
		}
		if errors.Is(err, payment.ErrTooManyKeys) {
			return nil
		}
		return err
	})
	if n.Load() != room {
		t.Errorf("got %d keys, want %d", n.Load(), room)
	}
	wantNumber(t, s, "stored keys", storedKeys, payment.MaxStoredKeys)
}
