package main

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// accountsAt is a data folder with a merchant, and a host for its accounts.
type accountsAt struct {
	data, merchant string
	host           coretest.Host
}

func newAccountsAt(t *testing.T) *accountsAt {
	t.Helper()
	a := &accountsAt{data: filepath.Join(t.TempDir(), "data")}
	a.merchant = MustPrint(t, "merchants", "create", "Shop", "--data", a.data)
	serving(t, a.data, func(string) {}) // which makes the vault's keys
	return a
}

// run runs core accounts with a standard input.
func (a *accountsAt) run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, err := &programtest.Log{}, &programtest.Log{}
	m := Main{
		Args: append([]string{"accounts", "--data", a.data}, args...), Stdin: strings.NewReader(stdin), Stdout: out, Stderr: err,
		kinds: a.host.Kinds(),
	}
	code = m.Run(t.Context())
	return code, out.String(), err.String()
}

// add runs core accounts add with credentials on standard input.
func (a *accountsAt) add(t *testing.T, stdin string, more ...string) (code int, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr = a.run(t, stdin, append([]string{
		"add", "--merchant", a.merchant, "--kind", coretest.HostKind, "--currency", "usd", "--base-url", "https://host.example.com",
		"--setting", "login=shop", "--credentials", "-",
	}, more...)...)
	rest, warned := strings.CutSuffix(stderr, "core: warning: "+withoutKEK+"\n")
	if want := code == 0 && os.Getenv("CAUSEWAY_VAULT_KEK") == ""; warned != want {
		t.Errorf("add without a key-encryption key: got %d, %q, want a warning: %v", code, stderr, want)
	}
	return code, stdout, rest
}

// must returns the trimmed output of a successful run.
func must(t *testing.T, code int, stdout, stderr string) string {
	t.Helper()
	if code != 0 || stderr != "" {
		t.Fatalf("got %d, %q, %q", code, stdout, stderr)
	}
	return strings.TrimSpace(stdout)
}

func mustRun(t *testing.T, a *accountsAt, stdin string, args ...string) string {
	t.Helper()
	code, stdout, stderr := a.run(t, stdin, args...)
	return must(t, code, stdout, stderr)
}

const (
	firstCredentials = `{"key": "planted-first"}` + "\n"
	nextCredentials  = `{"key": "planted-next"}`
)

// wantListed wants two accounts in the list of their merchant only.
func (a *accountsAt) wantListed(t *testing.T, made, second string) {
	t.Helper()
	if list := mustRun(t, a, "", "list", "--merchant", "mer_0000000000001"); strings.Contains(list, made) {
		t.Errorf("the list of another merchant:\n%s", list)
	}
	list := mustRun(t, a, "", "list", "--merchant", a.merchant)
	for _, want := range []string{made, second, a.merchant, "usd", "card", "enabled", "https://host.example.com", "login=shop"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %s:\n%s", want, list)
		}
	}
}

// wantRotated rotates an account, whose host accepts the next credentials alone.
func (a *accountsAt) wantRotated(t *testing.T, made string) {
	t.Helper()
	code, _, stderr := a.run(t, firstCredentials, "rotate", made, "--credentials", "-")
	if code != 1 || !strings.Contains(stderr, "nothing was changed") {
		t.Errorf("a refused rotation: got %d, %q", code, stderr)
	}
	file := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(file, []byte(nextCredentials), 0o600); err != nil {
		t.Fatal(err)
	}
	got := mustRun(t, a, "", "rotate", made, "--credentials", file)
	if want := made + " has the new credentials: https://host.example.com"; got != want {
		t.Errorf("rotate: got %q, want %q", got, want)
	}
}

// TestAccounts follows an account from its creation to its end, by the command line.
func TestAccounts(t *testing.T) {
	t.Parallel()
	a := newAccountsAt(t)
	a.host.Accept("planted-first")
	code, stdout, stderr := a.add(t, firstCredentials)
	made := must(t, code, stdout, stderr)
	if !strings.HasPrefix(made, "acct_") {
		t.Fatalf("got %q", made)
	}
	if code, _, stderr := a.add(t, nextCredentials); code != 1 || !strings.Contains(stderr, made+" is already") || !strings.Contains(stderr, "--second") {
		t.Errorf("the same again: got %d, %q", code, stderr)
	}
	code, stdout, stderr = a.add(t, "\xef\xbb\xbf"+firstCredentials, "--second")
	second := must(t, code, stdout, stderr)
	if code, _, stderr := a.add(t, firstCredentials, "--second"); code != 1 || !strings.Contains(stderr, second+" is already the second") {
		t.Errorf("a third: got %d, %q", code, stderr)
	}
	a.wantListed(t, made, second)
	if got := mustRun(t, a, "", "check", made); got != made+" is accepted: https://host.example.com" {
		t.Errorf("check: got %q", got)
	}
	a.host.Accept("planted-next")
	if code, _, stderr := a.run(t, "", "check", made); code != 1 || !strings.Contains(stderr, "does not accept") ||
		strings.Contains(stderr, "nothing was changed") {
		t.Errorf("a failing check: got %d, %q", code, stderr)
	}
	a.wantRotated(t, made)
	const at = ": https://host.example.com"
	mustRun(t, a, "", "check", made)
	mustRun(t, a, nextCredentials, "rotate", second, "--unchecked", "--credentials", "-")
	if got := mustRun(t, a, "", "disable", made); got != made+" is disabled"+at {
		t.Errorf("disable: got %q", got)
	}
	if list := mustRun(t, a, "", "list"); strings.Count(list, "disabled") != 1 {
		t.Errorf("got\n%s", list)
	}
	mustRun(t, a, "", "enable", made)
	a.wantNoSecrets(t)
}

// TestSandboxAccounts: an account at a sandbox is marked, and no message invites an operator to add
// one for failover of live payments, or the reverse.
func TestSandboxAccounts(t *testing.T) {
	t.Parallel()
	const sandbox, production = "https://apitest.example.com", "https://api.example.com"
	for first, next := range map[string]string{sandbox: production, production: sandbox} {
		a := newAccountsAt(t)
		a.host.Accept("planted-first")
		code, made, stderr := a.add(t, firstCredentials, "--base-url", first)
		if warned := strings.Contains(stderr, "move no money"); code != 0 || warned != (first == sandbox) {
			t.Errorf("add %s: got %d, %q", first, code, stderr)
		}
		_, row, _ := strings.Cut(mustRun(t, a, "", "list"), "\n") // after the heading
		if marked := strings.Contains(row, " sandbox "); marked != (first == sandbox) {
			t.Errorf("the list marks %s as a sandbox: got %v", first, marked)
		}
		code, _, stderr = a.add(t, firstCredentials, "--base-url", next)
		if code != 1 || !strings.Contains(stderr, strings.TrimSpace(made)+" is already") ||
			strings.Contains(stderr, "--second") {
			t.Errorf("add %s after %s: got %d, %q", next, first, code, stderr)
		}
	}
}

// TestServeWithoutKEK: core warns at its start if the data folder alone opens the card vault, and
// neither command warns with a key-encryption key.
func TestServeWithoutKEK(t *testing.T) {
	for kek, want := range map[string]bool{"": true, strings.Repeat("A", 43) + "=": false} {
		t.Setenv("CAUSEWAY_VAULT_KEK", kek)
		a := &accountsAt{data: filepath.Join(t.TempDir(), "data")}
		a.merchant = MustPrint(t, "merchants", "create", "Shop", "--data", a.data)
		ctx, cancel := context.WithCancel(t.Context())
		log := &programtest.Log{}
		ended := make(chan int)
		m := Main{
			Args: []string{"serve", "--data", a.data, "--listen", "127.0.0.1:0"}, Stdout: log, Stderr: log,
			kinds: a.host.Kinds(),
		}
		go func() { ended <- m.Run(ctx) }()
		programtest.WaitFor(t, "core listens", func() bool { return strings.Contains(log.String(), "listening") })
		cancel()
		if code := <-ended; code != 0 || strings.Contains(log.String(), withoutKEK) != want {
			t.Errorf("a key-encryption key %q: got %d, %s, want a warning: %v", kek, code, log.String(), want)
		}
		a.host.Accept("planted-first")
		if code, _, stderr := a.add(t, firstCredentials); code != 0 || stderr != "" {
			t.Errorf("add: got %d, %q", code, stderr)
		}
	}
}

// TestServeFromPublicDatabase: core warns at its start if every role may connect to its database.
func TestServeFromPublicDatabase(t *testing.T) {
	t.Setenv("CAUSEWAY_VAULT_KEK", strings.Repeat("A", 43)+"=")
	at, data := pgtest.Schema(t), t.TempDir()
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // its statements have reported
	for change, want := range map[string]bool{"GRANT CONNECT ON DATABASE %I TO": true, "REVOKE ALL ON DATABASE %I FROM": false} {
		if _, err := db.ExecContext(
			t.Context(), `DO $$ BEGIN EXECUTE format('`+change+` PUBLIC', current_database()); END $$`,
		); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		log := &programtest.Log{}
		ended := make(chan int, 1)
		args := []string{
			"serve", "--data", data, "--store", at, "--listen", "127.0.0.1:0",
			"--simulator-journal", filepath.Join(data, "journal"),
		}
		m := Main{Args: args, Stdout: log, Stderr: log}
		go func() { ended <- m.Run(ctx) }()
		programtest.WaitFor(t, "core listens", func() bool { return len(ended) > 0 || strings.Contains(log.String(), "listening") })
		cancel()
		if code := <-ended; code != 0 || strings.Contains(log.String(), "every role of the database server") != want {
			t.Errorf("%s PUBLIC: got %d, %s, want a warning: %v", change, code, log.String(), want)
		}
	}
}

// wantNoSecrets wants a record of each action, and no credential in any file.
func (a *accountsAt) wantNoSecrets(t *testing.T) {
	t.Helper()
	for path, content := range coretest.Files(t, a.data) {
		if bytes.Contains(content, []byte("planted-")) {
			t.Errorf("%s has a credential", path)
		}
	}
	records := MustPrintAll(t, "audit", "list", "--data", a.data)
	for _, action := range []string{"accounts.add", "accounts.check", "accounts.rotate", "accounts.disable", "accounts.enable"} {
		if !strings.Contains(records, action) {
			t.Errorf("the audit record lacks %s", action)
		}
	}
	if strings.Contains(records, "planted-") {
		t.Error("the audit record has a credential")
	}
}

// MustPrintAll returns the lines that a command prints.
func MustPrintAll(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := run(t, args...)
	return must(t, code, stdout, stderr)
}

// TestAccountsAfterRotationAndRestore: the credentials open after a rotation of the vault, and from
// a backup.
func TestAccountsAfterRotationAndRestore(t *testing.T) {
	t.Parallel()
	a := newAccountsAt(t)
	a.host.Accept("planted-first")
	code, stdout, stderr := a.add(t, firstCredentials)
	made := must(t, code, stdout, stderr)
	if code, stdout, stderr := run(t, "vault", "rotate", "--drop-old", "--data", a.data); code != 0 || stdout != "" || !strings.Contains(stderr, "re-encrypted: 1 of 1") {
		t.Fatalf("got %d, %q, %q", code, stdout, stderr)
	}
	mustRun(t, a, "", "check", made)
	backup := filepath.Join(t.TempDir(), "backup")
	MustPrintAll(t, "backup", "--data", a.data, "--to", backup)
	restored := filepath.Join(t.TempDir(), "restored")
	MustPrintAll(t, "restore", "--from", backup, "--data", restored)
	a.data = restored
	mustRun(t, a, "", "check", made)
	for _, state := range []string{"", ", disabled"} {
		inventory := MustPrintAll(t, "keys", "inventory", "--data", a.data)
		row := regexp.MustCompile("credentials of " + made + ".* at " + coretest.HostKind + state + `\b`)
		if !row.MatchString(inventory) {
			t.Errorf("the inventory lacks %s%s:\n%s", made, state, inventory)
		}
		mustRun(t, a, "", "disable", made)
	}
	if err := os.Remove(filepath.Join(a.data, "vault.keyset")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := a.run(t, "", "check", made); code != 1 || !strings.Contains(stderr, "vault.keyset") {
		t.Errorf("without the vault's keys: got %d, %q", code, stderr)
	}
}

// TestAccountsWrongUsage: each error names the flag or field, and no credential.
func TestAccountsWrongUsage(t *testing.T) {
	t.Parallel()
	a := newAccountsAt(t)
	a.host.Accept("planted-first")
	for want, args := range map[string][]string{
		"--base-url: want an https URL":                {"--base-url", "http://host.example.com"},
		"--currency: want a lower-case":                {"--currency", "dollars"},
		"--currency: want lower case: usd":             {"--currency", "USD"},
		"--kind: want one of host":                     {"--kind", "other"},
		"--method: want card or":                       {"--method", "cash"},
		"--merchant: mer_0000000000001 does not exist": {"--merchant", "mer_0000000000001"},
		"--merchant: want the id":                      {"--merchant", "shop"},
		"--setting: want only login":                   {"--setting", "more=1"},
	} {
		if code, stdout, stderr := a.add(t, firstCredentials, args...); code != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: got %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// TestAccountsCardNumbers: no text of an account is stored that has a card number.
func TestAccountsCardNumbers(t *testing.T) {
	t.Parallel()
	a := newAccountsAt(t)
	a.host.Accept("planted-first")
	const url = "https://host.example.com/4242424242424242"
	for want, args := range map[string][]string{
		"--base-url: the base URL contains a card number":         {"--base-url", url},
		"--setting: the setting contains a card number":           {"--setting", "more=4242 4242 4242 4242"},
		"--setting: the name of a setting contains a card number": {"--setting", "4242424242424242=more"},
	} {
		code, stdout, stderr := a.add(t, firstCredentials, args...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, want) || strings.Contains(stderr, "4242") {
			t.Errorf("%v: got %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// TestAccountsWrongCredentials: the error names the file, and quotes no part of it.
func TestAccountsWrongCredentials(t *testing.T) {
	t.Parallel()
	a := newAccountsAt(t)
	for stdin, why := range map[string]string{
		"planted-text": "it is not JSON from byte 1 on", `["planted-text"]`: "it is not an object, or a value is not a text",
		`{"key": 4711}`: "it is not an object, or a value is not a text", "": "it is not JSON", "{}": "it is empty",
		`{'key': 'planted-text'}`:                             "it is not JSON from byte 2 on",
		`{"key":"` + strings.Repeat("planted-", 1<<16) + `"}`: "it has more than 262144 bytes",
	} {
		name := stdin[:min(len(stdin), 20)]
		if code, _, stderr := a.add(t, stdin); code != 1 || !strings.Contains(stderr, "--credentials -: want a JSON object of texts") ||
			!strings.Contains(stderr, why) || strings.Contains(stderr, "planted-") || strings.Contains(stderr, "4711") {
			t.Errorf("%s: got %d, %q", name, code, stderr)
		}
	}
}

// TestAccountsWrongCommands: a wrong command has the usage, and an unknown account an error.
func TestAccountsWrongCommands(t *testing.T) {
	t.Parallel()
	a := newAccountsAt(t)
	for want, args := range map[string][]string{
		`accounts "": want add`:                        {},
		"accounts add: --merchant is required":         {"add"},
		"accounts rotate: --credentials is required":   {"rotate", "acct_0000000000001"},
		"accounts check: want 1 arguments":             {"check"},
		"accounts disable: want 1 arguments":           {"disable"},
		`accounts "delete": want add`:                  {"delete", "acct_0000000000001"},
		"accounts list: want 0 arguments":              {"list", "more"},
		"accounts list: it has no flag --currency":     {"list", "--currency", "usd"},
		"accounts disable: it has no flag --unchecked": {"disable", "acct_0000000000001", "--unchecked"},
		"want NAME=VALUE":                              {"add", "--setting", "login"},
		"a is given twice":                             {"add", "--setting", "a=1", "--setting", "a=2"},
		"flag provided but not defined: -key":          {"add", "--key", "planted"},
	} {
		code, stdout, stderr := a.run(t, "", args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) || !strings.Contains(stderr, "Usage:\n  core accounts ") {
			t.Errorf("%v: got %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
		if n := strings.Count(stderr, "\n"); n > 24 || strings.Contains(stderr, "core keys") {
			t.Errorf("%v: got %d lines, want the usage of accounts alone", args, n)
		}
	}
	for _, args := range [][]string{
		{"check", "acct_0000000000001"},
		{"disable", "acct_0000000000001"},
		{"enable", "shop"},
		{"rotate", "acct_0000000000001", "--credentials", "-"},
		{"rotate", "acct_0000000000001", "--credentials", filepath.Join(a.data, "missing")},
	} {
		if code, stdout, stderr := a.run(t, firstCredentials, args...); code != 1 || stdout != "" || !strings.HasPrefix(stderr, "core: ") {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
