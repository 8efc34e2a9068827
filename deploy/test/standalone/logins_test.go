package standalone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
)

// issuer issues logins into a file, with the real program.
func issuer(file string) sdk.Issuer {
	return sdk.Issuer{Program: filepath.Join(bin, "compat-proxy"), File: file}
}

// credentialsOf runs a credentials command on a file, and returns its output.
func credentialsOf(t *testing.T, file string, args ...string) string {
	t.Helper()
	return issuer(file).Run(t, args...)
}

var issuedKey = regexp.MustCompile(`(?m)^transaction key: (\S+)$`)

// TestLoginsComeAndGo checks that a running proxy accepts a newly issued or mapped login without a
// restart, and refuses a revoked one.
func TestLoginsComeAndGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, filepath.Join(dir, "data"))
	file, apiKey, oldKey := filepath.Join(dir, "logins.yaml"), filepath.Join(dir, "api-key"), filepath.Join(dir, "old-key")
	for path, text := range map[string]string{
		file: "provider_a: []\n", apiKey: p.Keys.SKTest + "\n",
		oldKey: "clientsOwnKey001\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	proxy := startReplica(t, p.HTTP, file)
	l := &loginDesk{p: p, proxy: proxy}
	if got := l.charge(t, "shop-eu", "wrong00000000000", "none"); got != "E00007" {
		t.Errorf("before it was issued = %s, want E00007", got)
	}

	match := issuedKey.FindStringSubmatch(
		credentialsOf(t, file, "issue", "--name", "shop-eu", "--api-key-file", apiKey, "--currency", "eur"))
	if match == nil {
		t.Fatal("issue showed no key")
	}
	l.until(t, "shop-eu", match[1], "1/1")
	credentialsOf(t, file, "map", "--name", "oldshop", "--transaction-key-file", oldKey, "--api-key-file", apiKey)
	l.until(t, "oldshop", "clientsOwnKey001", "1/1")
	if got := credentialsOf(t, file, "list"); !strings.Contains(got, "oldshop ") || !strings.Contains(got, "shop-eu ") {
		t.Errorf("list = %q, want both names", got)
	}
	credentialsOf(t, file, "revoke", "--name", "shop-eu")
	l.until(t, "shop-eu", match[1], "E00007")
	if got := l.charge(t, "oldshop", "clientsOwnKey001", "last"); got != "1/1" {
		t.Errorf("the other login after that = %s, want 1/1", got)
	}
	for _, x := range merchantOf(t, p).transactions(t) {
		if want := map[bool]string{
			true:  "eur",
			false: "usd",
		}[strings.HasPrefix(*x.Reference, "shop-eu")]; x.Currency != want {
			t.Errorf("%s: currency = %s, want %s", *x.Reference, x.Currency, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), match[1]) ||
		strings.Contains(string(text), "clientsOwnKey001") {
		t.Errorf("the file holds a key: %s %v", text, err)
	}
}

// TestIssuedLoginOutlivesARestart: a login that is issued into the standalone's own file stays
// valid, although the standalone writes that file at every start.
func TestIssuedLoginOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	apiKey := filepath.Join(t.TempDir(), "api-key")
	if err := os.WriteFile(apiKey, []byte(p.Keys.SKTest+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	match := issuedKey.FindStringSubmatch(
		credentialsOf(t, logins(dir), "issue", "--name", "shop-eu", "--api-key-file", apiKey))
	if match == nil {
		t.Fatal("issue showed no key")
	}
	for _, what := range []string{"running", "restarted"} {
		(&loginDesk{p: p, proxy: &replica{Program: p.Program, base: p.HTTP}}).until(t, "shop-eu", match[1], "1/1")
		if what == "running" {
			p.Stop(t)
			p = start(t, dir)
		}
	}
}

// loginDesk tries logins at a proxy.
type loginDesk struct {
	p     *process
	proxy *replica
}

func (l *loginDesk) charge(t *testing.T, name, key, what string) string {
	t.Helper()
	document := legacyDocument(&process{ready: l.as(name, key)},
		legacyPayment("authCaptureTransaction", "3.00", name+"-"+what))
	return mustPost(t, patientClient(t), l.proxy.base, document).result()
}

func (l *loginDesk) as(name, key string) ready {
	r := l.p.ready
	r.ProviderA.Name, r.ProviderA.TransactionKey = name, key
	return r
}

// until charges, each time another payment, until it gets the wanted result. The proxy may need a
// second for that, but not many.
func (l *loginDesk) until(t *testing.T, name, key, want string) {
	t.Helper()
	began := time.Now() //nolint:forbidigo // the real program's time is measured
	for n := 0; ; n++ {
		got := l.charge(t, name, key, fmt.Sprintf("%.1s%d", want, n))
		if got == want {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("%s got %s, want %s; log:\n%s", name, got, want, l.proxy.Log)
		}
		<-time.After(50 * time.Millisecond)
	}
}
