package seal_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/shared/clock"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

func MustSet(tb testing.TB) *root.Set {
	tb.Helper()
	set, err := root.New(birth)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// TestRotation: texts sealed under an older version of the root secret open until that version is
// dropped. New texts are sealed under the newest version.
func TestRotation(t *testing.T) {
	t.Parallel()
	place, c := []byte("here"), clock.NewFake(birth.Add(root.Activation))
	one := MustSet(t)
	two, err := one.Rotated(birth)
	if err != nil {
		t.Fatal(err)
	}
	only, err := two.Dropped(birth.Add(root.Activation + root.Overlap))
	if err != nil {
		t.Fatal(err)
	}
	before, during, after := seal.New(root.Of(one, c)), seal.New(root.Of(two, c)), seal.New(root.Of(only, c))
	old, fresh := before.Seal([]byte("old"), place), during.Seal([]byte("new"), place)
	for _, x := range []struct {
		by   *seal.Sealer
		text []byte
		want string
	}{{during, old, "old"}, {during, fresh, "new"}, {after, fresh, "new"}, {after, old, ""}, {before, fresh, ""}} {
		got, err := x.by.Open(t.Context(), x.text, place)
		if string(got) != x.want || (err == nil) != (x.want != "") {
			t.Errorf("got %q, %v, want %q", got, err, x.want)
		}
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	s := seal.New(root.Of(MustSet(t), clock.NewFake(birth)))
	plain, place := []byte(`{"secret":"sk_test_x"}`), []byte("here")
	sealed := s.Seal(plain, place)
	if bytes.Contains(sealed, []byte("sk_test")) || !seal.Sealed(sealed) || seal.Sealed(plain) || seal.Sealed(nil) {
		t.Errorf("sealed: %q", sealed)
	}
	if got, err := s.Open(t.Context(), sealed, place); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("got %q, %v, want %q", got, err, plain)
	}
	if bytes.Equal(sealed, s.Seal(plain, place)) {
		t.Error("sealing twice gives the same bytes")
	}
	for name, open := range map[string]func() ([]byte, error){
		"another place": func() ([]byte, error) { return s.Open(t.Context(), sealed, []byte("there")) },
		"another key": func() ([]byte, error) {
			return seal.New(root.Of(MustSet(t), clock.NewFake(birth))).Open(t.Context(), sealed, place)
		},
		"not sealed": func() ([]byte, error) { return s.Open(t.Context(), plain, place) },
		"nothing":    func() ([]byte, error) { return s.Open(t.Context(), nil, place) },
	} {
		if got, err := open(); !errors.Is(err, seal.ErrBroken) || got != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := s.Open(t.Context(), bad, place); !errors.Is(err, seal.ErrBroken) {
			t.Errorf("with byte %d changed: %v", i, err)
		}
		if _, err := s.Open(t.Context(), sealed[:i], place); !errors.Is(err, seal.ErrBroken) {
			t.Errorf("cut after %d bytes: %v", i, err)
		}
	}
}

// kept is a place of a root secret whose stored form changes.
type kept struct{ set *root.Set }

// Read implements root.Location.
func (k *kept) Read(context.Context) ([]byte, error) { return k.set.Bytes() }

// String implements root.Location.
func (*kept) String() string { return "a test" }

// TestOpenReadsANewVersion: another core seals under a version of the root secret that this core
// has not read. Open reads the root secret again and opens the text.
func TestOpenReadsANewVersion(t *testing.T) {
	t.Parallel()
	c, at := clock.NewFake(birth), &kept{MustSet(t)}
	ring, err := root.Open(t.Context(), at, c)
	if err != nil {
		t.Fatal(err)
	}
	if at.set, err = at.set.Rotated(birth); err != nil {
		t.Fatal(err)
	}
	c.Advance(root.Activation)
	place := []byte("here")
	text := seal.New(root.Of(at.set, c)).Seal([]byte("new"), place)
	if got, err := seal.New(ring).Open(t.Context(), text, place); err != nil || string(got) != "new" {
		t.Errorf("got %q, %v, want the text", got, err)
	}
}
