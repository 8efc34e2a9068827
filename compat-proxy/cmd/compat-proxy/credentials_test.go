package main_test

import (
	"bytes"
	"errors"
	"io/fs"
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

// run runs a credentials command on a file and returns what it showed, and what it complained of.
func run(t *testing.T, file string, args ...string) (out, complaint string, err error) {
	t.Helper()
	m := main.NewMain()
	var stdout, stderr bytes.Buffer
	m.Stdout, m.Stderr = &stdout, &stderr
	err = m.Credentials(append(args, "--file", file))
	return stdout.String(), stderr.String(), err
}

// opened is whose API key a login is given, "" when it is refused.
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

// starts are files that a login is added to: none, the one that comes with the product, and some a person wrote.
var starts = map[string]string{
	"none":    "",
	"empty":   "# nothing yet\n",
	"block":   "# ours\nprovider_a:\n  # the first\n  - {name: old, transaction_key: one, api_key: sk_test_old} # kept\n# the end\n",
	"no list": "provider_a:\n",
	"flow":    "provider_a: [] # none\n",
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	shipped := mustRead(t, "../../../configs/compat-credentials.yaml")
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testCredentials(t, start)
		})
	}
	t.Run("shipped", func(t *testing.T) {
		t.Parallel()
		text := testCredentials(t, shipped)
		if got, want := strings.Count(text, "#"), strings.Count(shipped, "#"); got != want {
			t.Errorf("comment signs: got %d, want %d, as the file came", got, want)
		}
	})
}

var keyLine = regexp.MustCompile(`(?m)^transaction key: ([A-Za-z0-9]{16})$`)

// testCredentials issues, maps, replaces and revokes logins in a file that begins as start, and returns its last text.
func testCredentials(t *testing.T, start string) string {
	t.Helper()
	dir := t.TempDir()
	file, keyFile, oldKey := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key"), filepath.Join(dir, "old-key")
	mustWrite(t, keyFile, "sk_test_new\n")
	mustWrite(t, oldKey, "clientsOwnKey001\n")
	if start != "" {
		mustWrite(t, file, start)
	}
	out, complaint, err := run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile, "--currency", "eur", "--lenient-order")
	if err != nil {
		t.Fatalf("issue: %v, %s", err, complaint)
	}
	match := keyLine.FindStringSubmatch(out)
	if match == nil {
		t.Fatalf("issue: got %q, want a key of 16 letters and digits", out)
	}
	if got, want := opened(t, file, "shop", match[1]), "sk_test_new"; got != want {
		t.Errorf("the issued login: got %q, want %q", got, want)
	}
	if _, _, err = run(t, file, "map", "--name", "their", "--transaction-key-file", oldKey, "--api-key-file", keyFile); err != nil {
		t.Fatal(err)
	}
	if got, want := opened(t, file, "their", "clientsOwnKey001"), "sk_test_new"; got != want {
		t.Errorf("the mapped login: got %q, want %q", got, want)
	}
	text := mustRead(t, file)
	for _, planted := range []string{match[1], "clientsOwnKey001", "sk_test_new"} {
		if strings.Contains(text, planted) {
			t.Errorf("the file holds a secret: %s", text)
		}
	}
	if strings.Contains(start, "sk_test_old") && opened(t, file, "old", "one") != "sk_test_old" {
		t.Errorf("the login that was there before is gone: %s", text)
	}
	_, _, err = run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile)
	if !errors.Is(err, credentials.ErrExists) || mustRead(t, file) != text {
		t.Errorf("a name that is taken: got error %v, want ErrExists and the file as it was", err)
	}
	if _, _, err = run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile, "--replace"); err != nil {
		t.Fatal(err)
	}
	if got := opened(t, file, "shop", match[1]); got != "" {
		t.Errorf("the replaced key: got %q, want that it is refused", got)
	}
	revokeAll(t, file)
	return mustRead(t, file)
}

func revokeAll(t *testing.T, file string) {
	t.Helper()
	names, _, err := run(t, file, "list")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names, "shop\n") || !strings.Contains(names, "their\n") {
		t.Errorf("list: got %q", names)
	}
	for name := range strings.FieldsSeq(names) {
		if _, _, err = run(t, file, "revoke", "--name", name); err != nil {
			t.Fatalf("revoke %s: %v", name, err)
		}
	}
	if names, _, err = run(t, file, "list"); err != nil || names != "" {
		t.Errorf("list: got %q and error %v, want none", names, err)
	}
	if _, _, err = run(t, file, "revoke", "--name", "shop"); !errors.Is(err, credentials.ErrNoLogin) {
		t.Errorf("revoke again: got error %v, want ErrNoLogin", err)
	}
	if _, _, err = run(t, file, "check"); err != nil {
		t.Errorf("check: %v", err)
	}
}

func TestCredentials_refused(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"no command":         {},
		"unknown command":    {"give"},
		"an argument":        {"list", "shop"},
		"no name":            {"issue", "--api-key-env", "A"},
		"no API key":         {"issue", "--name", "a"},
		"two API keys":       {"issue", "--name", "a", "--api-key-env", "A", "--api-key-file", "b"},
		"issue with a key":   {"issue", "--name", "a", "--api-key-env", "A", "--transaction-key-env", "B"},
		"map without a key":  {"map", "--name", "a", "--api-key-env", "A"},
		"revoke without one": {"revoke"},
		"an unknown flag":    {"list", "--verbose"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "c.yaml")
			_, complaint, err := run(t, file, args...)
			if err == nil || complaint == "" {
				t.Errorf("got error %v and %q, want both", err, complaint)
			}
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file was made: %v", err)
			}
		})
	}
}

// What the proxy would not read is not written.
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
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file was made: %v", err)
			}
		})
	}
}

// Where the only login of a list was taken out, another takes its place, whatever stands behind the list.
func TestCredentials_theOnlyLogin(t *testing.T) {
	t.Parallel()
	const a, b = "provider_a:\n  - name: one\n    transaction_key: b\n    api_key: sk_test_c\n", "provider_b:\n  - merchant_id: one\n" +
		"    keys:\n      - id: k\n        shared_secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n    api_key: sk_test_c\n"
	for name, start := range map[string]string{"provider-a": a + b, "provider-b": a + b + "provider_b_encryption: []\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, key := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key")
			mustWrite(t, file, start)
			mustWrite(t, key, "sk_test_new\n")
			issue := []string{"issue", "--provider", name, "--name", "one", "--api-key-file", key}
			if name == "provider-b" {
				issue = append(issue, "--secret-file", filepath.Join(dir, "secret"))
			}
			for _, args := range [][]string{{"revoke", "--provider", name, "--name", "one"}, issue, {"check"}} {
				if _, complaint, err := run(t, file, args...); err != nil {
					t.Fatalf("%v: %v, %s\n%s", args, err, complaint, mustRead(t, file))
				}
			}
		})
	}
}

// A file that is not good as it stands is not taken up, so a revocation in it has no effect; that is said.
func TestCredentials_revokeFromABadFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	mustWrite(t, file, "provider_a:\n  - {name: a, transaction_key: b, api_key: sk_test_c}\n  - {name: bad, transaction_key: b, api_key: pk_test_c}\n")
	_, note, err := run(t, file, "revoke", "--name", "a")
	if err != nil || !strings.Contains(note, "keep the last good one") {
		t.Errorf("got %q and error %v, want a note", note, err)
	}
}

// A file that cannot be edited without spoiling what a person wrote stays as it is.
func TestCredentials_leavesTheFileAlone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one line":    "provider_a: [{name: a, transaction_key: b, api_key: sk_test_c}]\n",
		"unknown key": "provider_a:\n  - {name: a, transaction_key: b, api_key: sk_test_c, colour: red}\n",
		"no yaml":     "provider_a: [\n",
		"no list":     "provider_a: 7\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "c.yaml")
			mustWrite(t, file, text)
			if _, _, err := run(t, file, "issue", "--name", "shop", "--api-key-env", "KEY"); err == nil {
				t.Error("got no error, want one")
			} else if strings.Contains(err.Error(), "sk_test_c") {
				t.Errorf("the error repeats a secret: %v", err)
			}
			if got := mustRead(t, file); got != text {
				t.Errorf("the file: got %q, want it as it was", got)
			}
		})
	}
}
