package main

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// mainVariable makes the test binary run the program, for a test that must kill it.
const mainVariable = "CAUSEWAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) == "" {
		pgtest.Main(m)
	}
	main()
}

// MustTokens makes n tokens in a data folder and returns their values. It serves the folder only
// during the call.
func MustTokens(t *testing.T, data, key string, n int) []string {
	t.Helper()
	var ids []string
	serving(t, data, func(url string) {
		for range n {
			status, body := post(t, url+"/v1/tokens", key, `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2090,"cvc":"900"}}`)
			id := regexp.MustCompile(`"value":"(tok_[^"]+)"`).FindStringSubmatch(body)
			if status != http.StatusCreated || id == nil {
				t.Fatalf("got %d %s", status, body)
			}
			ids = append(ids, id[1])
		}
	})
	return ids
}

func serving(t *testing.T, data string, fn func(url string)) {
	t.Helper()
	c, err := core.Open(t.Context(), core.Config{Data: data, RateLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(c.Handler())
	fn(server.URL)
	server.Close()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func post(t *testing.T, url, key, body string) (status int, response string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // its text was read
	text, err := bufio.NewReader(resp.Body).ReadString(0)
	if text == "" {
		t.Fatal(err)
	}
	return resp.StatusCode, text
}

// TestKilledRotation kills a rotation after its first commit, repeatedly. The next rotation
// continues with the same new key. At the end every secret opens, and the old key can be dropped.
func TestKilledRotation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "--data", data, "create", "Shop")
	key := MustPrint(t, "keys", "--data", data, "create", "--merchant", merchant)
	tokens := MustTokens(t, data, key, 450)
	db := coretest.MustInspect(t, filepath.Join(data, "causeway.db"))
	number := func(query string, args ...any) (n int64) {
		if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	old := number("SELECT DISTINCT vault_key FROM tokens")
	for _, want := range []int64{200, 400} {
		c := exec.CommandContext(t.Context(), os.Args[0], "vault", "rotate", "--data", data)
		c.Env = append(os.Environ(), mainVariable+"=1")
		c.Stderr = fullPipe(t) // so that it blocks at its first output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		programtest.WaitFor(t, "the next tokens are encrypted", func() bool {
			return number("SELECT COUNT(*) FROM tokens WHERE vault_key <> ?", old) >= want
		})
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		if got := number("SELECT COUNT(*) FROM tokens WHERE vault_key <> ?", old); got != want {
			t.Errorf("re-encrypted: got %d, want %d", got, want)
		}
	}
	if got := number("SELECT COUNT(DISTINCT vault_key) FROM tokens"); got != 2 {
		t.Errorf("got %d keys, want the old and one new", got)
	}
	code, stdout, stderr := run(t, "vault", "--data", data, "--drop-old", "rotate")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "50 of 50") || !strings.Contains(stderr, "; 0 older keys are kept") {
		t.Fatalf("got %d, %q, %q", code, stdout, stderr)
	}
	serving(t, data, func(url string) {
		for _, token := range tokens {
			body := `{"amount":1,"currency":"usd","payment_method":"` + token + `"}`
			if status, response := post(t, url+"/v1/transactions", key, body); status != http.StatusCreated || !strings.Contains(response, `"cvc":"match"`) {
				t.Fatalf("got %d %s", status, response)
			}
		}
	})
}

// TestCommandsWithoutTheKEK: a command without the key-encryption key makes no keys of the vault,
// because core would then not start with it. Each message names the variables or the repair.
func TestCommandsWithoutTheKEK(t *testing.T) {
	t.Parallel()
	a := &accountsAt{data: filepath.Join(t.TempDir(), "data")}
	a.merchant = MustPrint(t, "merchants", "create", "Shop", "--data", a.data)
	a.host.Accept("planted-first")
	wantError := func(when string) {
		t.Helper()
		code, stdout, stderr := a.add(t, firstCredentials)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "set CAUSEWAY_VAULT_KEK or CAUSEWAY_VAULT_KEK_FILE") {
			t.Errorf("%s: got %d, %q, %q", when, code, stdout, stderr)
		}
	}
	wantError("before the first start")
	if _, err := os.Stat(filepath.Join(a.data, "vault.keyset")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v, want no keys of the vault", err)
	}
	withKEK := core.Config{Data: a.data, RateLimit: -1, VaultKEK: secret.New(strings.Repeat("A", 43) + "=")}
	c, err := core.Open(t.Context(), withKEK)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wantError("after a start with the key")
	derived := newAccountsAt(t)
	withKEK.Data = derived.data
	if _, err := core.Open(t.Context(), withKEK); err == nil || !strings.Contains(err.Error(), "CAUSEWAY_VAULT_KEK is not the key") ||
		!strings.Contains(err.Error(), "core vault rewrap") {
		t.Errorf("a start with the key: got %v", err)
	}
}

// fullPipe returns the write end of a pipe that is full.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4096, 1} {
		var full error
		if err := raw.Write(func(fd uintptr) bool {
			for full == nil {
				_, full = syscall.Write(int(fd), make([]byte, size))
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(full, syscall.EAGAIN) {
			t.Fatal(full)
		}
	}
	return w
}

func TestVaultUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"vault"}, {"vault", "open"}, {"vault", "rotate", "more"}, {"vault", "rotate", "--nonsense"}, {"vault", "rewrap", "--drop-old"}} {
		if code, stdout, stderr := run(t, args...); code != 2 || stdout != "" || !strings.Contains(stderr, "Usage:") {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
	data := t.TempDir()
	if code, _, stderr := run(t, "migrate", "--data", data); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := run(t, "vault", "rotate", "--data", data); code != 1 || !strings.Contains(stderr, "no keys yet") {
		t.Errorf("before the first start: got %d, %q", code, stderr)
	}
	serving(t, data, func(string) {})
	for _, args := range [][]string{{"vault", "rotate", "--data", data}, {"vault", "--data", data, "rotate"}, {"vault", "rotate", "--drop-old", "--data", data}} {
		if code, stdout, stderr := run(t, args...); code != 0 || stdout != "" || !strings.Contains(stderr, "everything is encrypted by key") {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
