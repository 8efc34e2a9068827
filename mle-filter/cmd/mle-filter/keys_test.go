package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/program"
)

const shop = "mer_01jd8m3k2q4r5/test"

// operator runs commands on the key store of a filter.
type operator struct {
	ring   *keyring.Keyring
	keys   string   // the store
	common []string // flags
}

func newOperator(t *testing.T) operator {
	t.Helper()
	dir := t.TempDir()
	o := operator{keys: filepath.Join(dir, "mle.db")}
	secret := filepath.Join(dir, "kek")
	text, err := kek.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "mle.yaml")
	err = errors.Join(os.WriteFile(secret, []byte(text.Reveal()), 0o600),
		os.WriteFile(settings, []byte("kek: {file: "+secret+"}\nrsa_bits: 2048\nspare_keys: 1\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	db, err := keystore.Open(t.Context(), keystore.Config{Source: o.keys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if o.ring, err = keyring.Open(t.Context(), keyring.Config{
		Store: db, KEK: make([]byte, 32), RSABits: 2048,
		Spares: 1,
	}); err != nil {
		t.Fatal(err)
	}
	o.common = []string{"--config", settings, "--keys", o.keys}
	return o
}

// TestInventoryCommand checks that the inventory names keys and secrets without their content. It
// is not parallel, because commands read the environment.
func TestInventoryCommand(t *testing.T) {
	o := newOperator(t)
	kid := o.current(t)
	const hidden = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA=="
	t.Setenv(secretVariable, hidden)
	settings, err := os.ReadFile(o.common[1])
	if err != nil {
		t.Fatal(err)
	}
	settings = append(settings, "certificate: "+MustPair(t).chain+"\n"...)
	if err := os.WriteFile(o.common[1], settings, 0o600); err != nil {
		t.Fatal(err)
	}
	shown := must(t, "", append([]string{"keys", "inventory"}, o.common...)...)
	for _, want := range []string{
		`key-encryption key +AES-256-GCM +- +- +\d{4}-\d\d-\d\d +by an operator`,
		`keyset key +AES-256-GCM +\d+ `, `HMAC key +HMAC-SHA-256 `,
		`current key +ECDH-ES\+A256KW +` + regexp.QuoteMeta(kid) + ` +` + shop +
			` +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d +decrypts requests`,
		`certificate +ECDSA +[0-9a-f]{16} +- +not recorded +2100-01-01 +authenticates the filter`, // from MustPair
		`filter secret +random +- +- +not recorded +by an operator`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(shown) {
			t.Errorf("%s is not in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, hidden) || strings.Contains(shown, "filter token") {
		t.Errorf("a secret's content, or a secret that is not set, is in\n%s", shown)
	}
}

func (o operator) current(t *testing.T) string {
	t.Helper()
	p, err := o.ring.Current(t.Context(), shop, engine.ECDHESA256KW)
	if err != nil {
		t.Fatal(err)
	}
	return p.Current.Kid
}

// mustFail runs a command that must fail, and returns its error.
func mustFail(t *testing.T, input string, code int, args ...string) string {
	t.Helper()
	var out, complaint bytes.Buffer
	m := &Main{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &complaint}
	if got := program.ExitCode(name, m.Stderr, m.Command(t.Context(), args)); got != code || out.Len() > 0 {
		t.Errorf("%v: got exit code %d and %q shown, want %d and nothing: %s", args, got, out.String(), code,
			complaint.String())
	}
	return complaint.String()
}

// TestKeysForUnknownMerchant checks that a command creates no store, and no keys for an unknown
// merchant.
func TestKeysForUnknownMerchant(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	kid := o.current(t)
	elsewhere, foreign := filepath.Join(t.TempDir(), "mistyped.db"), filepath.Join(t.TempDir(), "foreign.db")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args string
		want string
	}{
		{2, "rotate --merchant mer_01jd8m3k2q4r5", "mer_…/test or mer_…/live"},
		{2, "rotate --merchant mer_01jd8m3k2q4r5/prod", "--merchant"},
		{2, "rotate --merchant shop/test", "--merchant"},
		{2, "list --merchant mer_01jd8m3k2q4r5", "--merchant"},
		{2, "rotate", "--merchant"},
		{1, "rotate --merchant mer_01jd8m3k2q4r5/live", "--merchant: mer_01jd8m3k2q4r5/live has no keys"},
		{1, "rotate --merchant mer_x/test", "--merchant: mer_x/test has no keys"},
		{1, "list --merchant mer_x/test", "--merchant: mer_x/test has no keys"},
		{1, "rotate --merchant " + shop + " --alg RSA-OAEP-256", "--alg: " + shop + " has no key"},
		{1, "list --keys " + elsewhere, "--keys: no key store in " + elsewhere},
		{1, "rotate --merchant " + shop + " --keys " + elsewhere, "--keys"},
		{1, "revoke " + kid + " --keys " + elsewhere, "--keys"},
		{1, "retire " + kid + " --keys " + elsewhere, "--keys"},
		{1, "list --keys " + foreign, "--keys: no key store in " + foreign},
		{1, "revoke " + strings.Repeat("k", 43), "key kkk"},
		{1, "retire " + kid, "rotate first"},
		{2, "current --merchant " + shop, "keys current does not take --merchant"},
		{2, "register --keys x", "keys register does not take --keys"},
		{2, "new --keys x", "keys new does not take --keys"},
		{2, "revoke " + kid + " " + kid, "unexpected argument"},
	} {
		words := strings.Fields(c.args)
		args := append([]string{"keys", words[0]}, o.common...)
		if words[0] == "current" || words[0] == "register" || words[0] == "new" {
			args = args[:2]
		}
		if got := mustFail(t, "", c.code, append(args, words[1:]...)...); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s in it", c.args, got, c.want)
		}
	}
	if _, err := os.Stat(elsewhere); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store was made: %v", err)
	}
	if b, err := os.ReadFile(foreign); err != nil || len(b) > 0 {
		t.Errorf("a file that is not a store was changed: it has %d bytes, %v", len(b), err)
	}
	if all, err := o.ring.List(t.Context(), ""); err != nil || len(all) != 1 || all[0].Kid != kid ||
		all[0].State != keyring.Current {
		t.Errorf("got %+v, %v, want the one key as it was", all, err)
	}
}

// TestKeysAnyOrder checks that flags may precede or follow the key id, which may begin with a dash.
func TestKeysAnyOrder(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	first := o.current(t)
	must(t, "", append([]string{"keys", "rotate", "--merchant", shop}, o.common...)...)
	if got := must(t, "", append([]string{"keys", "retire", first}, o.common...)...); got != "ended "+first+"\n" {
		t.Errorf("got %s", got)
	}
	second := o.current(t)
	got := must(t, "", append(append([]string{"keys", "revoke"}, o.common...), second)...)
	if third := o.current(t); got != "ended "+second+"\ncurrent "+third+"\n" || third == second {
		t.Errorf("got %s, then %s", got, third)
	}
	dashed := "-" + strings.Repeat("-", 42)
	for _, args := range [][]string{{dashed, "--keys", o.keys}, {"--keys", o.keys, dashed}} {
		args = append([]string{"keys", "revoke", "--config", o.common[1]}, args...)
		if got := mustFail(t, "", 1, args...); !strings.Contains(got, "key "+dashed+" does not exist") {
			t.Errorf("got %s", got)
		}
	}
}

// TestOpenRefusal checks that open shows an error of the service as an error.
func TestOpenRefusal(t *testing.T) {
	t.Parallel()
	mine := filepath.Join(t.TempDir(), "mine.jwk")
	must(t, "", "keys", "new", "--out", mine)
	body := `{"error":{"type":"mle_error","code":"mle_kid_unknown","message":"There is no such key.","status":400,` +
		`"request_id":"req_1"}}`
	for input, want := range map[string]string{
		body:             "400 mle_kid_unknown: There is no such key.\n" + body,
		"\n {\"id\": 1}": `{"id": 1}`,
		"hello":          "mle-filter: ",
		"":               "mle-filter: ",
	} {
		if got := mustFail(t, input, 1, "open", "--private", mine); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s in it", input, got, want)
		}
	}
}
