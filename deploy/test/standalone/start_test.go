package standalone_test

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestReadyLine(t *testing.T) {
	t.Parallel()
	p := start(t, filepath.Join(t.TempDir(), "new", "folder"))
	for name, c := range map[string]struct{ got, prefix string }{
		"http": {p.HTTP, "http://127.0.0.1:"}, "https": {p.HTTPS, "https://127.0.0.1:"}, "ca": {p.CA, "/"},
		"sk_test": {p.Keys.SKTest, "sk_test_"}, "pk_test": {p.Keys.PKTest, "pk_test_"},
		"sk_live": {p.Keys.SKLive, "sk_live_"}, "pk_live": {p.Keys.PKLive, "pk_live_"},
		"name": {p.ProviderA.Name, "dev-"}, "transaction_key": {p.ProviderA.TransactionKey, ""},
		"merchant_id": {p.ProviderB.MerchantID, "dev_"}, "key_id": {p.ProviderB.KeyID, ""},
		"shared_secret": {p.ProviderB.SharedSecret, ""},
		"p12":           {p.ProviderB.P12, "/"}, "p12_password": {p.ProviderB.P12Password, ""},
	} {
		if !strings.HasPrefix(c.got, c.prefix) || len(c.got) <= len(c.prefix) {
			t.Errorf("%s = %q, want %q and more", name, c.got, c.prefix)
		}
	}
	p.Stop(t)
	if got, want := strings.Count(p.stdout.String(), "\n"), 1; got != want {
		t.Errorf("lines = %d, want %d", got, want)
	}
}

func TestSecondStartPrintsTheSameCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startNew(t, nil, dir)
	merchantOf(t, first).must(t, http.MethodPost, "/v1/transactions", "one",
		`{"amount":1250,"currency":"usd","payment_method":"card"}`)
	first.Stop(t)
	second := start(t, dir)
	if got, want := second.Keys, first.Keys; got != want {
		t.Errorf("keys = %v, want %v", got, want)
	}
	if got, want := second.ProviderA, first.ProviderA; got != want {
		t.Errorf("provider_a = %v, want %v", got, want)
	}
	if got, want := second.ProviderB, first.ProviderB; got != want {
		t.Errorf("provider_b = %v, want %v", got, want)
	}
	if got, want := second.CA, first.CA; got != want {
		t.Errorf("ca = %s, want %s", got, want)
	}
	if got, want := len(merchantOf(t, second).transactions(t)), 1; got != want {
		t.Errorf("transactions = %d, want %d", got, want)
	}
}

func TestFirstStartThatDiedHeals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startNew(t, nil, dir).Kill()
	// The state after a death between the creation of the keys and their storage.
	for _, name := range []string{"credentials.json", "compat-credentials.yaml"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, dir)
	if got, want := merchantOf(t, p).must(t, http.MethodGet, "/v1/transactions", "", "").status,
		http.StatusOK; got != want {
		t.Errorf("status with the healed key = %d, want %d", got, want)
	}
	p.Stop(t)
	if again := start(t, dir); again.Keys != p.Keys {
		t.Error("the healed keys did not last")
	}
}

func TestRemovedStoreHeals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startNew(t, nil, dir).Stop(t)
	if err := os.RemoveAll(filepath.Join(dir, "core")); err != nil {
		t.Fatal(err)
	}
	if got, want := merchantOf(t, start(t, dir)).must(t, http.MethodGet, "/v1/transactions", "", "").status,
		http.StatusOK; got != want {
		t.Errorf("status = %d, want %d", got, want)
	}
}

func TestHTTPSByTheDevelopmentAuthority(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := trusting(t, p, &tls.Config{MinVersion: version, MaxVersion: version})
		for _, base := range []string{p.HTTPS, strings.Replace(p.HTTPS, "127.0.0.1", "localhost", 1)} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/health", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(r)
			if err != nil {
				t.Errorf("%s %s: %v", tls.VersionName(version), base, err)
				continue
			}
			_ = response.Body.Close() // only the head matters
			if got, want := response.StatusCode, http.StatusOK; got != want {
				t.Errorf("%s: status = %d, want %d", base, got, want)
			}
			if response.Header.Get("Strict-Transport-Security") == "" {
				t.Errorf("%s: no HSTS", base)
			}
		}
	}
}

func TestUnknownPathSpeaksV1(t *testing.T) {
	t.Parallel()
	m := merchantOf(t, start(t, t.TempDir()))
	for _, path := range []string{"/v2", "/v2/transactions", "/compatible", "/favicon.ico"} {
		got := m.must(t, http.MethodGet, path, "", "")
		if got.status != http.StatusNotFound {
			t.Errorf("%s: status = %d, want %d", path, got.status, http.StatusNotFound)
			continue
		}
		if e := mustDecode[v1.ErrorBody](t, got).Error; e.Status != http.StatusNotFound || e.RequestID == "" {
			t.Errorf("%s: error = %+v, want a v1 error", path, e)
		}
	}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	_, stderr, code := output(t, "--json", "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
	if got, want := code, 1; got != want {
		t.Errorf("exit code = %d, want %d", got, want)
	}
	if !strings.Contains(stderr, dir) || !strings.Contains(stderr, "another service") {
		t.Errorf("stderr = %q, want the folder and the reason", stderr)
	}
	p.Kill()
	start(t, dir).Stop(t) // a death leaves no lock
}

func TestFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	running := start(t, filepath.Join(dir, "running"))
	taken := strings.TrimPrefix(running.HTTP, "http://")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const noPort = "127.0.0.1:99999"
	a, b, c, d := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), filepath.Join(dir, "d")
	for name, tt := range map[string]struct {
		args []string
		code int
		want []string // on stderr
	}{
		"unknown flag":     {[]string{"--date", dir}, 2, []string{"-date", "--help"}},
		"missing value":    {[]string{"--data"}, 2, []string{"-data"}},
		"stray argument":   {[]string{"serve"}, 2, []string{`"serve"`}},
		"address, no port": {[]string{"--listen", "localhost"}, 2, []string{"--listen", "host:port"}},
		"tls address":      {[]string{"--listen-tls", "8443"}, 2, []string{"--listen-tls", "host:port"}},
		"log level":        {[]string{"--log", "loud"}, 2, []string{"--log", "info, warn or error"}},
		"no folder":        {[]string{"--data", ""}, 2, []string{"--data"}},
		"folder is a file": {[]string{"--data", file}, 1, []string{"--data", file}},
		"port taken":       {[]string{"--data", a, "--listen", taken}, 1, []string{"--listen " + taken}},
		"tls port taken": {
			[]string{"--data", b, "--listen", "127.0.0.1:0", "--listen-tls", taken}, 1, []string{"--listen-tls " + taken},
		},
		"no such port":        {[]string{"--data", c, "--listen", noPort}, 1, []string{"--listen " + noPort}},
		"rate limit":          {[]string{"--rate-limit", "-1"}, 2, []string{"--rate-limit"}},
		"no simulator":        {[]string{"--data", d, "--configs", dir}, 1, []string{"--configs", "simulator.yaml"}},
		"help":                {[]string{"--help"}, 0, nil},
		"help with others":    {[]string{"--json", "-h"}, 0, nil},
		"help in the middle":  {[]string{"--data", dir, "--help"}, 0, nil},
		"json with no folder": {[]string{"--json", "--data="}, 2, []string{"--data"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := output(t, tt.args...)
			if got, want := code, tt.code; got != want {
				t.Errorf("exit code = %d, want %d; stderr: %s", got, want, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr = %q, want %q in it", stderr, want)
				}
			}
			if got, want := strings.Contains(stdout, "--listen-tls ADDR"), tt.code == 0; got != want {
				t.Errorf("help on stdout = %v, want %v", got, want)
			}
		})
	}
}

// TestBusyPortLeavesNoFolder: a start that fails on a port in use creates no data folder.
func TestBusyPortLeavesNoFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := strings.TrimPrefix(start(t, filepath.Join(dir, "running")).HTTP, "http://")
	for _, listener := range []string{"--listen", "--listen-tls", "--admin"} {
		data := filepath.Join(dir, listener)
		args := []string{"--data", data, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", listener, taken}
		if _, stderr, code := output(t, args...); code != 1 || !strings.Contains(stderr, listener+" "+taken+": ") ||
			!strings.Contains(stderr, "make run ARGS='--listen 127.0.0.1:0 --listen-tls 127.0.0.1:0'") {
			t.Errorf("%s: got exit code %d, %s", listener, code, stderr)
		}
		if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the data folder exists: %v", listener, err)
		}
	}
}

// TestFaultyConfigs: the error names --configs, the file and the line.
func TestFaultyConfigs(t *testing.T) {
	t.Parallel()
	configs := t.TempDir()
	if err := os.WriteFile(filepath.Join(configs, "simulator.yaml"), []byte("cards: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := output(t, "--data", t.TempDir(), "--configs", configs)
	if code != 1 || !strings.Contains(stderr, "--configs "+configs) ||
		!strings.Contains(stderr, "simulator.yaml:1: not valid YAML") || strings.Contains(stderr, "--data") {
		t.Errorf("got exit code %d, %s", code, stderr)
	}
}

// TestInsecureHTTP checks that the program serves plain HTTP for other machines with the flag only.
func TestInsecureHTTP(t *testing.T) {
	t.Parallel()
	for _, listener := range [][]string{{"--listen", "0.0.0.0:0"}, {"--admin", ":0"}} {
		_, stderr, code := output(t, append(listener, "--data", t.TempDir())...)
		if want := strings.Join(listener, " "); code != 2 || !strings.Contains(stderr, want) ||
			!strings.Contains(stderr, "--insecure-http") {
			t.Errorf("%s: got exit code %d, %s", want, code, stderr)
		}
	}
	p := start(t, t.TempDir(), "--listen", "0.0.0.0:0", "--insecure-http")
	if got := merchantOf(t, p).must(t, http.MethodGet, "/v1/health", "", ""); got.status != http.StatusOK {
		t.Errorf("status = %d, want %d: %s", got.status, http.StatusOK, got.body)
	}
}

func TestConfigsFolder(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--configs", "../../../configs")
	got := merchantOf(t, p).
		must(t, http.MethodPost, "/v1/transactions", "one", `{"amount":1250,"currency":"usd","payment_method":"card"}`)
	if got.status != http.StatusCreated {
		t.Errorf("status = %d, want %d: %s", got.status, http.StatusCreated, got.body)
	}
}
