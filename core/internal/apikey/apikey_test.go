package apikey_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/apikey"
)

// golden is the key of 32 bytes 0x00 to 0x1f: keys in the field must stay valid.
const golden = "sk_test_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf1sbIk1"

func TestNew(t *testing.T) {
	t.Parallel()
	t.Run("Golden", func(t *testing.T) {
		t.Parallel()
		if got := mustNew(t, apikey.Secret, apikey.Test, counting()); got != golden {
			t.Errorf("got %q, want %q", got, golden)
		}
	})
	for _, c := range []struct {
		kind   apikey.Kind
		mode   apikey.Mode
		prefix string
	}{
		{apikey.Secret, apikey.Test, "sk_test_"},
		{apikey.Secret, apikey.Live, "sk_live_"},
		{apikey.Publishable, apikey.Test, "pk_test_"},
		{apikey.Publishable, apikey.Live, "pk_live_"},
	} {
		t.Run(c.prefix, func(t *testing.T) {
			t.Parallel()
			key := mustNew(t, c.kind, c.mode, rand.Reader)
			if !strings.HasPrefix(key, c.prefix) || len(key) != apikey.Length {
				t.Errorf("got %d characters that begin %q, want %d and %q", len(key), key[:8], apikey.Length, c.prefix)
			}
			got, err := apikey.Parse(key)
			if want := (apikey.Parsed{Kind: c.kind, Mode: c.mode}); err != nil || got != want {
				t.Errorf("parse: got %v, %v, want %v", got, err, want)
			}
		})
	}
	t.Run("Largest secret", func(t *testing.T) {
		t.Parallel()
		key := mustNew(t, apikey.Secret, apikey.Live, bytes.NewReader(bytes.Repeat([]byte{0xff}, 32)))
		if _, err := apikey.Parse(key); err != nil {
			t.Errorf("parse: got %v, want no error", err)
		}
	})
	t.Run("ErrShortRandom", func(t *testing.T) {
		t.Parallel()
		if _, err := apikey.New(apikey.Secret, apikey.Test, strings.NewReader("short")); !errors.Is(err,
			io.ErrUnexpectedEOF) {
			t.Errorf("got %v, want %v", err, io.ErrUnexpectedEOF)
		}
	})
	t.Run("ErrNoSuchKind", func(t *testing.T) {
		t.Parallel()
		if _, err := apikey.New("admin", apikey.Test, rand.Reader); err == nil {
			t.Error("got no error, want one")
		}
	})
}

func TestParse_malformed(t *testing.T) {
	t.Parallel()
	overflow := strings.Repeat("z", 43)
	for name, key := range map[string]string{
		"empty":               "",
		"prefix only":         "sk_test_",
		"other prefix":        "rk" + golden[2:],
		"other mode":          "sk_best_" + golden[8:],
		"truncated":           golden[:len(golden)-1],
		"extended":            golden + "0",
		"surrounded":          " " + golden[:len(golden)-1],
		"wrong alphabet":      golden[:20] + "-" + golden[21:],
		"not ascii":           golden[:20] + "é" + golden[22:],
		"wrong checksum":      golden[:len(golden)-1] + "0",
		"one letter off":      golden[:20] + "x" + golden[21:],
		"live with test's":    "sk_live_" + golden[8:],
		"more than 256 bits":  "sk_test_" + overflow + sum("sk_test_"+overflow),
		"checksum in letters": golden[:len(golden)-6] + "zzzzzz",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := apikey.Parse(key); !errors.Is(err, apikey.ErrMalformed) || got != (apikey.Parsed{}) {
				t.Errorf("got %v, %v, want %v", got, err, apikey.ErrMalformed)
			}
		})
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	// RFC 4231, test case 2.
	got := fmt.Sprintf("%x", apikey.Hash([]byte("Jefe"), "what do ya want for nothing?"))
	if want := "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	if got, want := apikey.Hint(golden), golden[len(golden)-4:]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := apikey.Hint("sk_test_short"); got != "" {
		t.Errorf("got %q, want nothing for an invalid key", got)
	}
}

// FuzzParse compares Parse with a second implementation of the format. New must make every accepted
// key from the same 32 bytes.
func FuzzParse(f *testing.F) {
	f.Add(golden)
	f.Add("pk_live_" + golden[8:])
	f.Add("sk_test_" + strings.Repeat("z", 43) + "000000")
	f.Fuzz(func(t *testing.T, key string) {
		parsed, err := apikey.Parse(key)
		if err != nil {
			if !errors.Is(err, apikey.ErrMalformed) {
				t.Fatalf("got %v, want %v", err, apikey.ErrMalformed)
			}
			return
		}
		var raw [32]byte
		value, ok := new(big.Int).SetString(swapCase(key[8:51]), 62)
		if !ok || value.BitLen() > 256 {
			t.Fatalf("accepted %q, which holds no 32 bytes", key)
		}
		value.FillBytes(raw[:])
		if again := mustNew(t, parsed.Kind, parsed.Mode, bytes.NewReader(raw[:])); again != key {
			t.Fatalf("accepted %q, want %q", key, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apikey.Parse(golden); err != nil {
			b.Fatal(err)
		}
	}
}

func counting() io.Reader {
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = byte(i)
	}
	return bytes.NewReader(raw)
}

func mustNew(tb testing.TB, kind apikey.Kind, mode apikey.Mode, random io.Reader) string {
	tb.Helper()
	key, err := apikey.New(kind, mode, random)
	if err != nil {
		tb.Fatalf("new: %v", err)
	}
	return key.Reveal()
}

// sum returns the checksum of a key, computed in another way than in the package.
func sum(key string) string {
	digits := swapCase(big.NewInt(int64(crc32.ChecksumIEEE([]byte(key)))).Text(62))
	return strings.Repeat("0", 6-len(digits)) + digits
}

// swapCase translates between our order of letters and the order of math/big.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}
