package devcreds_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	"github.com/causeway-pay/causeway/shared/secret"
)

// store is an Issuer in memory that can fail at a chosen call.
type store struct {
	merchants map[string]bool
	keys      map[string]string // key → merchant, mode, kind
	made      int
	dieAt     int // from this call on, counted from 1, all calls fail; 0: none fails
	calls     int
}

var (
	errDied            = errors.New("died")
	errUnknownMerchant = errors.New("unknown merchant")
)

func newStore() *store { return &store{merchants: map[string]bool{}, keys: map[string]string{}} }

func (s *store) step() error {
	if s.calls++; s.dieAt > 0 && s.calls >= s.dieAt {
		return errDied
	}
	return nil
}

func (s *store) CreateMerchant(context.Context, string) (string, error) {
	s.made++
	id := fmt.Sprintf("mer_%d", s.made)
	s.merchants[id] = true
	return id, s.step()
}

func (s *store) CreateKey(_ context.Context, merchant, mode, kind string) (secret.String, error) {
	if !s.merchants[merchant] {
		return secret.String{}, errUnknownMerchant
	}
	s.made++
	key := fmt.Sprintf("%s_%s_%d", kind, mode, s.made)
	s.keys[key] = merchant + " " + mode + " " + kind
	return secret.New(key), s.step()
}

func (s *store) Valid(_ context.Context, key secret.String) (bool, error) {
	return s.keys[key.Reveal()] != "", s.step()
}

func (s *store) ProviderB() (devcreds.ProviderB, error) {
	s.made++
	return devcreds.ProviderB{
		MerchantID: fmt.Sprint("shop", s.made), KeyID: fmt.Sprint("key", s.made),
		SharedSecret: secret.New(fmt.Sprint("secret", s.made)), P12: []byte("file"),
		P12Password: secret.New("password"), Certificate: "own", EncryptionKey: secret.New("key"),
		EncryptionCertificate: "theirs",
	}, s.step()
}

// mustEnsure calls Ensure, which must return four keys of one merchant.
func mustEnsure(tb testing.TB, path string, s *store) *devcreds.Credentials {
	tb.Helper()
	c, err := devcreds.Ensure(tb.Context(), path, s)
	if err != nil {
		tb.Fatal(err)
	}
	for key, want := range map[string]string{
		c.Keys.SKTest.Reveal(): "test secret", c.Keys.PKTest.Reveal(): "test publishable",
		c.Keys.SKLive.Reveal(): "live secret", c.Keys.PKLive.Reveal(): "live publishable",
	} {
		if got, want := s.keys[key], c.Merchant+" "+want; got != want {
			tb.Errorf("key %s is %q, want %q", key, got, want)
		}
	}
	return c
}

func same(a, b *devcreds.Credentials) bool {
	return a.Merchant == b.Merchant && a.Keys.SKTest.Reveal() == b.Keys.SKTest.Reveal() &&
		a.Keys.PKTest.Reveal() == b.Keys.PKTest.Reveal() &&
		a.Keys.SKLive.Reveal() == b.Keys.SKLive.Reveal() && a.Keys.PKLive.Reveal() == b.Keys.PKLive.Reveal() &&
		a.ProviderA.Name == b.ProviderA.Name && a.ProviderA.TransactionKey.Reveal() == b.ProviderA.TransactionKey.Reveal() &&
		a.ProviderB.MerchantID == b.ProviderB.MerchantID && a.ProviderB.KeyID == b.ProviderB.KeyID &&
		a.ProviderB.SharedSecret.Reveal() == b.ProviderB.SharedSecret.Reveal() &&
		string(a.ProviderB.P12) == string(b.ProviderB.P12) &&
		a.ProviderB.P12Password.Reveal() == b.ProviderB.P12Password.Reveal() &&
		a.ProviderB.Certificate == b.ProviderB.Certificate &&
		a.ProviderB.EncryptionKey.Reveal() == b.ProviderB.EncryptionKey.Reveal() &&
		a.ProviderB.EncryptionCertificate == b.ProviderB.EncryptionCertificate
}

func TestEnsureTwiceGivesTheSame(t *testing.T) {
	t.Parallel()
	path, s := filepath.Join(t.TempDir(), "credentials.json"), newStore()
	first := mustEnsure(t, path, s)
	made := s.made
	if second := mustEnsure(t, path, s); !same(first, second) {
		t.Errorf("second = %v, want the first's", second.Merchant)
	}
	if got, want := s.made, made; got != want {
		t.Errorf("objects made = %d, want %d", got, want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
		t.Errorf("mode = %v, want %v", got, want)
	}
}

func TestEnsureFitsTheClientsOfProviderA(t *testing.T) {
	t.Parallel()
	a := mustEnsure(t, filepath.Join(t.TempDir(), "a"), newStore()).ProviderA
	b := mustEnsure(t, filepath.Join(t.TempDir(), "b"), newStore()).ProviderA
	if got, most := len(a.Name), 25; got == 0 || got > most {
		t.Errorf("name has %d characters, want 1 to %d", got, most)
	}
	if got, want := a.TransactionKey.Len(), 16; got != want {
		t.Errorf("key has %d characters, want %d", got, want)
	}
	if a.Name == b.Name || a.TransactionKey.Reveal() == b.TransactionKey.Reveal() {
		t.Error("two folders have the same login")
	}
}

func TestEnsureHealsAFirstStartThatDied(t *testing.T) {
	t.Parallel()
	for dieAt := 1; dieAt <= 6; dieAt++ { // the merchant, four keys, the login of provider-b
		t.Run(fmt.Sprintf("at call %d", dieAt), func(t *testing.T) {
			t.Parallel()
			path, s := filepath.Join(t.TempDir(), "credentials.json"), newStore()
			s.dieAt = dieAt
			if _, err := devcreds.Ensure(t.Context(), path, s); !errors.Is(err, errDied) {
				t.Fatalf("error = %v, want %v", err, errDied)
			}
			s.dieAt = 0
			first := mustEnsure(t, path, s)
			if second := mustEnsure(t, path, s); !same(first, second) {
				t.Error("the healed credentials did not last")
			}
		})
	}
}

// TestEnsureAddsWhatAnOlderFolderLacks checks that a folder without a login of provider-b gets one,
// and keeps all other credentials.
func TestEnsureAddsWhatAnOlderFolderLacks(t *testing.T) {
	t.Parallel()
	path, s := filepath.Join(t.TempDir(), "credentials.json"), newStore()
	first := mustEnsure(t, path, s)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), `,
  "provider_b"`)
	if at < 0 {
		t.Fatalf("no provider_b in %s", data)
	}
	if err := os.WriteFile(path, append(data[:at:at], "}"...), 0o600); err != nil {
		t.Fatal(err)
	}
	second := mustEnsure(t, path, s)
	if second.ProviderB.MerchantID == "" || second.ProviderB.KeyID == first.ProviderB.KeyID {
		t.Errorf("provider-b = %v, want a new login", second.ProviderB.MerchantID)
	}
	second.ProviderB = first.ProviderB
	if !same(first, second) {
		t.Error("something else has changed")
	}
}

func TestEnsureReplacesOnlyARevokedKey(t *testing.T) {
	t.Parallel()
	path, s := filepath.Join(t.TempDir(), "credentials.json"), newStore()
	first := mustEnsure(t, path, s)
	delete(s.keys, first.Keys.PKTest.Reveal())
	second := mustEnsure(t, path, s)
	if got, want := second.Merchant, first.Merchant; got != want {
		t.Errorf("merchant = %s, want %s", got, want)
	}
	if got, want := second.Keys.SKTest.Reveal(), first.Keys.SKTest.Reveal(); got != want {
		t.Errorf("sk_test = %s, want %s", got, want)
	}
	if second.Keys.PKTest.Reveal() == first.Keys.PKTest.Reveal() {
		t.Error("the revoked key is still handed out")
	}
}

func TestEnsureMakesANewMerchantForANewStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials.json")
	first := mustEnsure(t, path, newStore())
	other := newStore()
	other.made = 100
	second := mustEnsure(t, path, other)
	if second.Merchant == first.Merchant {
		t.Error("the merchant of a store that is gone is still handed out")
	}
	if got, want := second.ProviderA.Name, first.ProviderA.Name; got != want {
		t.Errorf("provider-a name = %s, want %s", got, want)
	}
}

func TestEnsureNeverReplacesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "half": `{"merchant":"mer_1","keys":{"sk_test":"sk_planted`,
		"newer": `{"merchant":"mer_1","provider_z":{"k":"sk_planted"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "credentials.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := devcreds.Ensure(t.Context(), path, newStore())
			if err == nil {
				t.Fatal("error = nil, want one")
			}
			if strings.Contains(err.Error(), "planted") {
				t.Errorf("the error quotes a secret: %v", err)
			}
			data, err := os.ReadFile(path)
			if got, want := string(data), content; err != nil || got != want {
				t.Errorf("content = %q, %v, want %q", got, err, want)
			}
		})
	}
}
