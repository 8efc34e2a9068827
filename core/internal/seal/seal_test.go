package seal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/seal"
)

func MustNew(tb testing.TB, fill byte) *seal.Sealer {
	tb.Helper()
	s, err := seal.New(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestSeal(t *testing.T) {
	t.Parallel()
	s := MustNew(t, 1)
	plain, place := []byte(`{"secret":"sk_test_x"}`), []byte("here")
	sealed := s.Seal(plain, place)
	if bytes.Contains(sealed, []byte("sk_test")) || !seal.Sealed(sealed) || seal.Sealed(plain) || seal.Sealed(nil) {
		t.Errorf("sealed: %q", sealed)
	}
	if got, err := s.Open(sealed, place); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("got %q, %v, want %q", got, err, plain)
	}
	if bytes.Equal(sealed, s.Seal(plain, place)) {
		t.Error("sealing twice gives the same bytes")
	}
	for name, open := range map[string]func() ([]byte, error){
		"another place": func() ([]byte, error) { return s.Open(sealed, []byte("there")) },
		"another key":   func() ([]byte, error) { return MustNew(t, 2).Open(sealed, place) },
		"not sealed":    func() ([]byte, error) { return s.Open(plain, place) },
		"nothing":       func() ([]byte, error) { return s.Open(nil, place) },
	} {
		if got, err := open(); !errors.Is(err, seal.ErrBroken) || got != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := s.Open(bad, place); !errors.Is(err, seal.ErrBroken) {
			t.Errorf("with byte %d changed: %v", i, err)
		}
		if _, err := s.Open(sealed[:i], place); !errors.Is(err, seal.ErrBroken) {
			t.Errorf("cut after %d bytes: %v", i, err)
		}
	}
	if _, err := seal.New([]byte("short")); err == nil {
		t.Error("a short key was taken")
	}
}
