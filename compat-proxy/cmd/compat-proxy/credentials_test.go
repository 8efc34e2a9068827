package main_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	main "github.com/causeway-pay/causeway/compat-proxy/cmd/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// run runs a credentials command on a file and returns its output and its error output.
func run(t *testing.T, file string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	m := main.NewMain()
	var output, errorOutput bytes.Buffer
	m.Stdout, m.Stderr = &output, &errorOutput
	err = m.Credentials(append(args, "--file", file))
	return output.String(), errorOutput.String(), err
}

// opened returns the API key of a login, "" if it is refused.
func opened(t *testing.T, file, name, key string) string {
	t.Helper()
	store, err := credentials.Open(file, clock.System(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	granted, _ := store.ProviderA(t.Context(), name, secret.New(key))
	return granted.APIKey.Reveal()
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// mustBeMissing checks that neither the credentials file nor its folder exists.
func mustBeMissing(t *testing.T, file string) {
	t.Helper()
	for _, path := range []string{file, file + ".d"} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was created: %v", path, err)
		}
	}
}

// starts are credentials files to which logins are added: none, and some written by hand.
var starts = map[string]string{
	"none":  "",
	"empty": "# nothing yet\n",
	"block": "# ours\nprovider_a:\n  # the first\n" +
		"  - {name: old, transaction_key: one, api_key: sk_test_old} # kept\n# the end\n",
	"flow": "provider_a: [{name: old, transaction_key: one, api_key: sk_test_old}]\n",
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	starts := maps.Clone(starts)
	starts["shipped"] = mustRead(t, "../../../configs/compat-credentials.yaml")
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testCredentials(t, start)
		})
	}
}

// written returns the texts of the login files of a credentials file.
func written(t *testing.T, file string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(file+".d", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		all.WriteString(mustRead(t, path))
	}
	return all.String()
}

var keyLine = regexp.MustCompile(`(?m)^transaction key: ([A-Za-z0-9]{16})$`)

// testCredentials issues, maps, replaces and revokes logins. The credentials file is start, and
// must not change.
func testCredentials(t *testing.T, start string) {
	t.Helper()
	dir := t.TempDir()
	file, keyFile, oldKey := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key"), filepath.Join(dir, "old-key")
	mustWrite(t, keyFile, "sk_test_new\n")
	mustWrite(t, oldKey, "clientsOwnKey001\n")
	if start != "" {
		mustWrite(t, file, start)
	}
	out, stderr, err := run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile, "--currency", "eur",
		"--lenient-order")
	if err != nil {
		t.Fatalf("issue: %v, %s", err, stderr)
	}
	match := keyLine.FindStringSubmatch(out)
	if match == nil {
		t.Fatalf("issue: got %q, want a key of 16 letters and digits", out)
	}
	if got, want := opened(t, file, "shop", match[1]), "sk_test_new"; got != want {
		t.Errorf("the issued login: got %q, want %q", got, want)
	}
	_, _, err = run(t, file, "map", "--name", "their", "--transaction-key-file", oldKey, "--api-key-file", keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := opened(t, file, "their", "clientsOwnKey001"), "sk_test_new"; got != want {
		t.Errorf("the mapped login: got %q, want %q", got, want)
	}
	text := written(t, file)
	for _, planted := range []string{match[1], "clientsOwnKey001", "sk_test_new"} {
		if strings.Contains(text, planted) {
			t.Errorf("the files hold a secret: %s", text)
		}
	}
	_, _, err = run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile)
	if !errors.Is(err, credentials.ErrExists) || written(t, file) != text {
		t.Errorf("a name that is taken: got error %v, want ErrExists and the files as they were", err)
	}
	if _, _, err = run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile, "--replace"); err != nil {
		t.Fatal(err)
	}
	if got := opened(t, file, "shop", match[1]); got != "" {
		t.Errorf("the replaced key: got %q, want that it is refused", got)
	}
	revokeBoth(t, file)
	if strings.Contains(start, "sk_test_old") && opened(t, file, "old", "one") != "sk_test_old" {
		t.Error("the earlier login is missing")
	}
	if got := mustRead(t, file); got != start {
		t.Errorf("the credentials file: got %q, want it as it was", got)
	}
}

// listed reports whether an output of list has a login.
func listed(output, name string) bool {
	return regexp.MustCompile(`(?m)^` + name + ` +provider-[ab]  API key: (variable|file|in) \S+$`).MatchString(output)
}

// revokeBoth revokes the logins shop and their.
func revokeBoth(t *testing.T, file string) {
	t.Helper()
	for _, name := range []string{"shop", "their"} {
		if names, _, err := run(t, file, "list"); err != nil || !listed(names, name) {
			t.Errorf("list: got %q and error %v, want %s in it", names, err, name)
		}
		if _, _, err := run(t, file, "revoke", "--name", name); err != nil {
			t.Fatalf("revoke %s: %v", name, err)
		}
		if names, _, err := run(t, file, "list"); err != nil || listed(names, name) {
			t.Errorf("list: got %q and error %v, want no %s in it", names, err, name)
		}
		if _, _, err := run(t, file, "revoke", "--name", name); !errors.Is(err, credentials.ErrNoLogin) {
			t.Errorf("revoke again: got error %v, want ErrNoLogin", err)
		}
	}
	if _, _, err := run(t, file, "check"); err != nil {
		t.Errorf("check: %v", err)
	}
}

// TestCredentials_signatureKey maps a login with a signature key. Its file must not have the key.
func TestCredentials_signatureKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, keyFile, own := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key"), filepath.Join(dir, "own-key")
	signatureFile, signatureKey := filepath.Join(dir, "signature-key"), strings.Repeat("0aB1", 32)
	mustWrite(t, keyFile, "sk_test_new\n")
	mustWrite(t, own, "clientsOwnKey001\n")
	mustWrite(t, signatureFile, signatureKey+"\n")
	_, stderr, err := run(t, file, "map", "--name", "their", "--transaction-key-file", own, "--api-key-file", keyFile,
		"--signature-key-file", signatureFile)
	if err != nil || stderr != "" {
		t.Fatalf("map: %v, %s", err, stderr)
	}
	store, err := credentials.Open(file, clock.System(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	granted, _ := store.ProviderA(t.Context(), "their", secret.New("clientsOwnKey001"))
	if got, want := granted.SignatureKey.Reveal(), strings.Repeat("\x0a\xb1", 32); got != want {
		t.Errorf("the signature key: got %x, want %x", got, want)
	}
	if text := written(t, file); strings.Contains(text, signatureKey) {
		t.Errorf("the files hold a secret: %s", text)
	}
	mustWrite(t, signatureFile, "short\n")
	if _, _, err = run(t, file, "check"); err == nil || !strings.Contains(err.Error(), "signature_key") {
		t.Errorf("check of a short key: got error %v, want one that names signature_key", err)
	}
}

func TestCredentials_refused(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"no command":        {},
		"unknown command":   {"give"},
		"an argument":       {"list", "shop"},
		"no name":           {"issue", "--api-key-env", "A"},
		"no API key":        {"issue", "--name", "a"},
		"two API keys":      {"issue", "--name", "a", "--api-key-env", "A", "--api-key-file", "b"},
		"issue with a key":  {"issue", "--name", "a", "--api-key-env", "A", "--transaction-key-env", "B"},
		"map without a key": {"map", "--name", "a", "--api-key-env", "A"},
		"two signature keys": {
			"issue", "--name", "a", "--api-key-env", "A", "--signature-key-env", "B", "--signature-key-file", "c",
		},
		"revoke without one": {"revoke"},
		"an unknown flag":    {"list", "--verbose"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "c.yaml")
			_, stderr, err := run(t, file, args...)
			if err == nil || stderr == "" {
				t.Errorf("got error %v and %q, want both", err, stderr)
			}
			mustBeMissing(t, file)
		})
	}
}

// An entry that the proxy could not read is not written.
func TestCredentials_badEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keyLike := filepath.Join(dir, "key-like")
	mustWrite(t, keyLike, "sk_test_abcdefgh\n")
	for name, args := range map[string][]string{
		"a long name":        {"issue", "--name", strings.Repeat("x", 26), "--api-key-env", "KEY"},
		"a currency of none": {"issue", "--name", "shop", "--api-key-env", "KEY", "--currency", "zzz"},
		"a zone of none":     {"issue", "--name", "shop", "--api-key-env", "KEY", "--time-zone", "Mars/X"},
		"an API key for key": {"map", "--name", "shop", "--api-key-env", "KEY", "--transaction-key-file", keyLike},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "c.yaml")
			if out, _, err := run(t, file, args...); err == nil || out != "" {
				t.Errorf("got %q and error %v, want an error alone", out, err)
			}
			mustBeMissing(t, file)
		})
	}
}
