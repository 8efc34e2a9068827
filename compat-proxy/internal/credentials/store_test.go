package credentials_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

const good = `provider_a:
  - {name: shop, transaction_key: one, api_key: sk_test_a, currency: eur, sandbox: true}
  - {name: other, transaction_key: two, api_key: {file: %s}}
`

// signatureKey is a signature key of the form that provider-a issues.
var signatureKey = strings.Repeat("0aB1", 32)

// bundle is a store on a separate file, with its clock and log.
type bundle struct {
	path  string
	clock *clock.Fake
	log   *bytes.Buffer
	store *credentials.Store
}

func setup(t *testing.T) bundle {
	t.Helper()
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "key")
	mustWrite(t, keyFile, "sk_live_b\n")
	b := bundle{
		path: filepath.Join(dir, "credentials.yaml"), clock: clock.NewFake(time.Unix(1000, 0)),
		log: &bytes.Buffer{},
	}
	mustWrite(t, b.path, fmt.Sprintf(good, keyFile))
	store, err := credentials.Open(b.path, b.clock, slog.New(slog.NewTextHandler(b.log, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.store = store
	return b
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedKeyFile: the proxy sees that a file was replaced whose path a login names, also after
// the file was empty for a moment.
func TestReplacedKeyFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := filepath.Join(t.TempDir(), "key")
	mustWrite(t, file, "sk_test_sandbox")
	b.mustAdd(t, "1.yaml", fmt.Sprintf("provider_a:\n  - {name: file1, transaction_key: k1, api_key: {file: %q}}\n", file))
	login := [2]string{"file1", "k1"}
	b.wantKeys(t, map[[2]string]string{login: "sk_test_sandbox"})
	mustWrite(t, file, "")
	b.wantKeys(t, map[[2]string]string{login: "sk_test_sandbox"})
	mustWrite(t, file, "sk_test_production")
	b.wantKeys(t, map[[2]string]string{login: "sk_test_production"})
}

// key returns the API key of the login, "" if it is refused.
func (b bundle) key(t *testing.T, name, transactionKey string) string {
	t.Helper()
	granted, ok := b.store.ProviderA(t.Context(), name, secret.New(transactionKey))
	if !ok && !granted.APIKey.IsZero() {
		t.Error("a refused login was given a key")
	}
	return granted.APIKey.Reveal()
}

func TestProviderA(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tests := []struct{ name, login, key, want string }{
		{"OK", "shop", "one", "sk_test_a"},
		{"a key from a file", "other", "two", "sk_live_b"},
		{"another's key", "shop", "two", ""},
		{"no key", "shop", "", ""},
		{"unknown name", "unknown", "one", ""},
		{"no name", "", "", ""},
	}
	for _, tt := range tests {
		if got := b.key(t, tt.login, tt.key); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if granted, _ := b.store.ProviderA(t.Context(), "shop", secret.New("one")); granted.Currency != "eur" ||
		!granted.Sandbox {
		t.Errorf("got %+v, want the currency eur and the sandbox", granted)
	}
	if granted, _ := b.store.ProviderA(t.Context(), "other", secret.New("two")); granted.Sandbox {
		t.Error("a login without the setting is a sandbox")
	}
}

func TestReloadOnChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mustWrite(t, b.path, "provider_a: [{name: shop, transaction_key: three, api_key: sk_test_c}]")
	if got, want := b.key(t, "shop", "one"), "sk_test_a"; got != want {
		t.Errorf("within the second: got %q, want %q", got, want)
	}
	b.clock.Advance(time.Second)
	if got, want := b.key(t, "shop", "three"), "sk_test_c"; got != want {
		t.Errorf("after it: got %q, want %q", got, want)
	}
	if got := b.key(t, "shop", "one"); got != "" {
		t.Errorf("the old key: got %q, want that it is refused", got)
	}
}

func TestBrokenFileKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mustWrite(t, b.path, "provider_a: [{name: shop, transaction_key: one, api_key: pk_test_hidden}]")
	for range 3 {
		b.clock.Advance(time.Second)
		if got, want := b.key(t, "shop", "one"), "sk_test_a"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	log := b.log.String()
	if got, want := strings.Count(log, "provider_a[0].api_key"), 1; got != want {
		t.Errorf("errors: got %d, want %d, in %s", got, want, log)
	}
	if strings.Contains(log, "hidden") {
		t.Errorf("the log repeats a secret: %s", log)
	}
	if err := b.store.Reload(); err == nil {
		t.Error("Reload: got no error, want one")
	}
}

func TestMissingFileKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.clock.Advance(time.Second)
		if got, want := b.key(t, "shop", "one"), "sk_test_a"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := strings.Count(b.log.String(), "level=ERROR"), 1; got != want {
		t.Errorf("errors: got %d, want %d", got, want)
	}
	mustWrite(t, b.path, strings.Replace(string(text), "one", "new", 1))
	b.clock.Advance(time.Second)
	if got, want := b.key(t, "shop", "new"), "sk_test_a"; got != want {
		t.Errorf("when it is back: got %q, want %q", got, want)
	}
}

func TestReloadReadsSecretsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mustWrite(t, filepath.Join(filepath.Dir(b.path), "key"), "sk_live_rolled")
	if err := b.store.Reload(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.key(t, "other", "two"), "sk_live_rolled"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOpenNamesTheKeyAtFault(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, want string }{
		{"no name", `[{transaction_key: a, api_key: sk_test_a}]`, "provider_a[0].name"},
		{"long name", `[{name: aaaaaaaaaaaaaaaaaaaaaaaaaa, transaction_key: a, api_key: sk_test_a}]`, "provider_a[0].name"},
		{"no key", `[{name: a, api_key: sk_test_a}]`, "provider_a[0].transaction_key"},
		{"long key", `[{name: a, transaction_key: aaaaaaaaaaaaaaaaa, api_key: sk_test_a}]`, "provider_a[0].transaction_key"},
		{
			"missing variable", `[{name: a, transaction_key: {env: CAUSEWAY_TEST_UNSET}, api_key: sk_test_a}]`,
			"CAUSEWAY_TEST_UNSET",
		},
		{"no api key", `[{name: a, transaction_key: a}]`, "provider_a[0].api_key"},
		{"header in the api key", `[{name: a, transaction_key: a, api_key: "sk_test_a\r\nx: y"}]`, "provider_a[0].api_key"},
		{"currency", `[{name: a, transaction_key: a, api_key: sk_test_a, currency: EUR}]`, "provider_a[0].currency"},
		{"live sandbox", `[{name: a, transaction_key: a, api_key: sk_live_a, sandbox: true}]`, "provider_a[0].sandbox"},
		{
			"twice", `[{name: a, transaction_key: a, api_key: sk_test_a}, {name: a, transaction_key: b, api_key: sk_test_b}]`,
			"provider_a[1].name",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "credentials.yaml")
			mustWrite(t, path, "provider_a: "+tt.yaml)
			_, err := credentials.Open(path, clock.System(), slog.New(slog.DiscardHandler), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that names %s", err, tt.want)
			}
		})
	}
}

func TestSignatureKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keyFile := filepath.Join(filepath.Dir(b.path), "signature-key")
	mustWrite(t, keyFile, signatureKey+"\n")
	mustWrite(t, b.path, "provider_a:\n  - {name: shop, transaction_key: one, api_key: sk_test_a, signature_key: "+
		signatureKey+"}\n  - {name: other, transaction_key: two, api_key: sk_test_b, signature_key: {file: "+keyFile+
		"}}\n  - {name: none, transaction_key: three, api_key: sk_test_c}\n")
	if err := b.store.Reload(); err != nil {
		t.Fatal(err)
	}
	decoded := strings.Repeat("\x0a\xb1", 32)
	for login, key := range map[string]string{"shop": "one", "other": "two", "none": "three"} {
		want := decoded
		if login == "none" {
			want = ""
		}
		granted, ok := b.store.ProviderA(t.Context(), login, secret.New(key))
		if got := granted.SignatureKey.Reveal(); !ok || got != want {
			t.Errorf("%s: got %x, %t, want %x", login, got, ok, want)
		}
		shown := fmt.Sprintf("%v %+v %#v", granted, b.store, granted)
		if strings.Contains(shown, decoded) || strings.Contains(shown, signatureKey) {
			t.Errorf("%s: got %s, want no key in it", login, shown)
		}
	}
}

func TestSignatureKey_refused(t *testing.T) {
	t.Parallel()
	const form = "provider_a[0].signature_key is not 128 hexadecimal digits"
	for name, tt := range map[string]struct{ key, want string }{
		"short":       {signatureKey[2:], form},
		"long":        {signatureKey + "aa", form},
		"white space": {`" ` + signatureKey + `"`, form},
		"base64":      {signatureKey[2:] + "+=", form},
		"missing variable": {
			"{env: CAUSEWAY_TEST_UNSET}",
			"provider_a[0].signature_key: secret: environment variable CAUSEWAY_TEST_UNSET",
		},
	} {
		path := filepath.Join(t.TempDir(), "credentials.yaml")
		mustWrite(t, path, "provider_a: [{name: a, transaction_key: a, api_key: sk_test_a, signature_key: "+tt.key+"}]")
		_, err := credentials.Open(path, clock.System(), slog.New(slog.DiscardHandler), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), signatureKey[2:]) {
			t.Errorf("%s: got %v, want an error with %q and without the key", name, err, tt.want)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	granted, _ := b.store.ProviderA(t.Context(), "shop", secret.New("one"))
	if got := fmt.Sprintf("%v %+v %#v", granted, b.store, granted); strings.Contains(got, "sk_test_a") {
		t.Errorf("got %s, want no key in it", got)
	}
}
