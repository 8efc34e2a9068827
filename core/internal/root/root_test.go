package root_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/secretfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

func mustSet(t *testing.T) *root.Set {
	t.Helper()
	s, err := root.New(birth)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRotate(t *testing.T, s *root.Set, now time.Time) *root.Set {
	t.Helper()
	next, err := s.Rotated(now)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestVersions: from its activation on, a new version is used for new values. Older versions stay
// for their values, and lasting keys never change.
func TestVersions(t *testing.T) {
	t.Parallel()
	one := mustSet(t)
	two := mustRotate(t, one, birth.Add(time.Hour))
	c := clock.NewFake(birth.Add(time.Hour))
	before, after := root.Of(one, c), root.Of(two, c)
	primary := func(want int64) {
		t.Helper()
		for _, p := range []root.Purpose{root.APIKeys, root.Responses, root.ClientSecrets} {
			keys := after.Keys(p)
			if len(keys) != 2 || keys[0].Version != want || keys[1].Version != 3-want {
				t.Errorf("%s: got %d first of %d, want %d of 2", p, keys[0].Version, len(keys), want)
			}
		}
	}
	primary(1)
	c.Advance(root.Activation - time.Millisecond)
	primary(1)
	c.Advance(time.Millisecond)
	primary(2)
	old := before.Keys(root.APIKeys)[0]
	if kept := after.Keys(root.APIKeys)[1]; !bytes.Equal(old.Bytes, kept.Bytes) {
		t.Error("the older version has another key")
	}
	if bytes.Equal(old.Bytes, after.Keys(root.APIKeys)[0].Bytes) ||
		bytes.Equal(old.Bytes, before.Keys(root.Responses)[0].Bytes) {
		t.Error("two versions or purposes share a key")
	}
	for _, l := range []root.Lasting{
		root.CardFingerprints, root.Requests, root.WebhookSecrets, root.AuditRecords,
		root.OperatorTokens, root.VaultKEK,
	} {
		if was, is := before.Lasting(l), after.Lasting(l); len(was) != 32 || !bytes.Equal(was, is) {
			t.Errorf("%s has changed", l)
		}
	}
}

// TestDropped: older versions are dropped only when no stored value can need them.
func TestDropped(t *testing.T) {
	t.Parallel()
	s := mustSet(t)
	if _, err := s.Dropped(birth.Add(time.Hour)); !errors.Is(err, root.ErrNothingOlder) {
		t.Errorf("one version: got %v", err)
	}
	s = mustRotate(t, s, birth)
	if _, err := s.Rotated(birth.Add(root.Activation - 1)); !errors.Is(err, root.ErrPending) {
		t.Errorf("before its activation: got %v", err)
	}
	s = mustRotate(t, s, birth.Add(root.Activation))
	end := s.Newest().From.Add(root.Overlap)
	if _, err := s.Dropped(end.Add(-1)); !errors.Is(err, root.ErrOverlap) {
		t.Errorf("within the overlap: got %v", err)
	}
	got, err := s.Dropped(end)
	if err != nil || len(got.Versions()) != 1 || got.Newest().Number != 3 {
		t.Errorf("got %v, %v, want version 3 alone", got.Versions(), err)
	}
	if next := mustRotate(t, got, end); next.Newest().Number != 4 {
		t.Errorf("got version %d, want 4: a number names one secret for ever", next.Newest().Number)
	}
}

// TestStored: a stored set is read unchanged, a damaged set is rejected, and no secret is printed.
func TestStored(t *testing.T) {
	t.Parallel()
	s := mustRotate(t, mustSet(t), birth)
	kept, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := root.Parse("here", kept)
	if err != nil {
		t.Fatal(err)
	}
	if once, err := again.Bytes(); err != nil || !bytes.Equal(once, kept) {
		t.Errorf("got %s, %v", once, err)
	}
	for _, bad := range [][]byte{
		nil, []byte("short"), kept[:len(kept)-1], bytes.Replace(kept, []byte(`"number":2`), []byte(`"number":1`), 1),
		bytes.Replace(kept, []byte(`"webhook-secret":"`), []byte(`"webhook-secret":"AAAA`), 1),
		[]byte(`{"format":1,"versions":[]}`),
		bytes.Replace(kept, []byte(`"format":1`), []byte(`"format":2`), 1),
	} {
		if _, err := root.Parse("here", bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	v := s.Newest()
	if got := fmt.Sprintf("%v %+v %#v %s", v, v, v, s.Versions()); bytes.Contains([]byte(got), v.Secret) ||
		len(got) > 200 {
		t.Errorf("printed: %s", got)
	}
}

// TestFile: eight processes that start at the same time agree on one set, and the folder has no
// other file.
func TestFile(t *testing.T) {
	t.Parallel()
	file := secretfile.Path(filepath.Join(t.TempDir(), "root.secret"))
	var kept [8][]byte
	var wg sync.WaitGroup
	for i := range kept {
		wg.Go(func() {
			first, err := mustSet(t).Bytes()
			if err = errors.Join(err, file.Make(t.Context(), first)); err == nil {
				kept[i], err = file.Read(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range kept {
		if !bytes.Equal(k, kept[0]) || len(k) == 0 {
			t.Error("two processes have different sets")
		}
	}
	if left, err := os.ReadDir(filepath.Dir(string(file))); err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// shelf is a location that counts its reads.
type shelf struct {
	kept  []byte
	reads int
}

func (s *shelf) Read(context.Context) ([]byte, error) { s.reads++; return s.kept, nil }
func (s *shelf) String() string                       { return "the shelf" }

// TestMissed: a value of an unknown version makes Ring read the set again. It does so at most once
// a second, for any number of such values.
func TestMissed(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(birth)
	one := mustSet(t)
	var err error
	at := &shelf{}
	if at.kept, err = one.Bytes(); err != nil {
		t.Fatal(err)
	}
	ring, err := root.Open(t.Context(), at, c)
	if err != nil {
		t.Fatal(err)
	}
	if at.kept, err = mustRotate(t, one, birth).Bytes(); err != nil {
		t.Fatal(err)
	}
	if !ring.Missed(t.Context()) || len(ring.Set().Versions()) != 2 {
		t.Error("the new version was not read")
	}
	for range 100 {
		if ring.Missed(t.Context()) {
			t.Error("nothing has changed")
		}
	}
	if at.reads != 2 {
		t.Errorf("got %d reads, want 2", at.reads)
	}
	c.Advance(time.Second)
	ring.Missed(t.Context())
	if at.reads != 3 {
		t.Errorf("a second later: got %d reads, want 3", at.reads)
	}
}
