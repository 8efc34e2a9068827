package main_test

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pkcs12 "software.sslmate.com/src/go-pkcs12"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
)

// openedB returns the API key of a provider-b key for a merchant, "" if it may not act for it.
func openedB(t *testing.T, file, keyID, merchant string) string {
	t.Helper()
	store, err := credentials.Open(file, clock.System(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, known := store.ProviderBKey(t.Context(), keyID)
	if !known {
		return ""
	}
	granted, _ := key.Login.Grant(merchant)
	return granted.APIKey.Reveal()
}

var shownB = regexp.MustCompile(`(?s)merchant id: +(\S+)\nkey id: +(\S+)\nshared secret: (\S+)\n` +
	`P12: +(\S+)\nP12 password: +(\S+)\n`)

func TestCredentials_providerB(t *testing.T) {
	t.Parallel()
	shipped := mustRead(t, "../../../configs/compat-credentials.yaml")
	for name, start := range map[string]string{
		"none": "", "shipped": shipped,
		"block": "provider_b:\n  # the first\n" +
			"  - {merchant_id: old, api_key: sk_test_old, " +
			"keys: [{id: old-key, shared_secret: b2xkLW9sZC1vbGQtb2xkLQ}]} # kept\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, apiKey := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key")
			mustWrite(t, apiKey, "sk_test_new\n")
			if start != "" {
				mustWrite(t, file, start)
			}
			testProviderB(t, dir, file, apiKey)
			if got := mustRead(t, file); got != start {
				t.Errorf("the credentials file: got %q, want it as it was", got)
			}
			if name == "block" && openedB(t, file, "old-key", "old") != "sk_test_old" {
				t.Error("the earlier login is missing")
			}
		})
	}
}

func testProviderB(t *testing.T, dir, file, apiKey string) {
	t.Helper()
	b := []string{"--provider", "provider-b", "--name"}
	issue := append(append([]string{"issue"}, b...), "shop", "--api-key-file", apiKey, "--secret-file",
		filepath.Join(dir, "secret"), "--p12", filepath.Join(dir, "p12"))
	out, stderr, err := run(t, file, issue...)
	shown := shownB.FindStringSubmatch(out)
	if err != nil || shown == nil {
		t.Fatalf("issue: %v, %s, %s", err, stderr, out)
	}
	if secret, err := base64.StdEncoding.DecodeString(shown[3]); err != nil || len(secret) != 32 ||
		mustRead(t, filepath.Join(dir, "secret")) != shown[3]+"\n" {
		t.Errorf("secret = %q, %v, want base64 of 32 bytes, as in its file", shown[3], err)
	}
	_, certificate, err := pkcs12.Decode([]byte(mustRead(t, shown[4])), shown[5])
	if err != nil || certificate.Subject.CommonName != "shop" {
		t.Fatalf("P12: %v, want the certificate of shop", err)
	}
	for _, key := range []string{shown[2], certificate.Subject.SerialNumber} {
		if got, want := openedB(t, file, key, "shop"), "sk_test_new"; got != want {
			t.Errorf("key %s maps to %q, want %q", key, got, want)
		}
	}
	if strings.Contains(written(t, file), shown[3]) {
		t.Error("the file holds the secret")
	}
	if _, _, err := run(t, file, issue...); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: got error %v, want that the secret's file is there", err)
	}

	_, stderr, err = run(t, file, append(append([]string{"map"}, b...), "group", "--key-id", "theirs", "--secret-file",
		filepath.Join(dir, "secret"), "--portfolio", "shop", "--signature-age", "11h30m")...)
	if err != nil {
		t.Fatalf("map: %v, %s", err, stderr)
	}
	if got, own := openedB(t, file, "theirs", "shop"), openedB(t, file, "theirs", "group"); got != "sk_test_new" ||
		own != "" {
		t.Errorf("the portfolio's key maps to %q and %q, want the member's and none", got, own)
	}
	if !strings.Contains(written(t, file), "signature_age: 11h30m") {
		t.Errorf("the file has no signature_age:\n%s", written(t, file))
	}
	if names, _, err := run(t, file, "list", "--provider", "provider-b"); err != nil ||
		!listed(names, "shop") || !listed(names, "group") {
		t.Errorf("list: %q, %v, want both", names, err)
	}
	if names, _, err := run(t, file, "list"); err != nil || !listed(names, "shop") || !listed(names, "group") {
		t.Errorf("list without a provider: %q, %v, want both", names, err)
	}
	if names, _, err := run(t, file, "list", "--provider", "provider-a"); err != nil || listed(names, "shop") {
		t.Errorf("list of the other provider: %q, %v, want none", names, err)
	}
	for _, name := range []string{"group", "shop"} {
		if _, _, err := run(t, file, append(append([]string{"revoke"}, b...), name)...); err != nil {
			t.Errorf("revoke %s: %v", name, err)
		}
	}
	if got := openedB(t, file, shown[2], "shop"); got != "" {
		t.Errorf("a revoked key maps to %q, want nothing", got)
	}
	if _, _, err := run(t, file, "check"); err != nil {
		t.Errorf("check: %v", err)
	}
}

func TestCredentials_providerBRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	for name, args := range map[string][]string{
		"no name":             {"issue", "--api-key-env", "A", "--secret-file", secret},
		"no API key":          {"issue", "--name", "a", "--secret-file", secret},
		"nothing to issue":    {"issue", "--name", "a", "--api-key-env", "A"},
		"issue with a key":    {"issue", "--name", "a", "--api-key-env", "A", "--secret-file", secret, "--key-id", "k"},
		"a name with a space": {"issue", "--name", "a b", "--api-key-env", "A", "--secret-file", secret},
		"a currency of none": {
			"issue", "--name", "a", "--api-key-env", "A", "--secret-file", secret, "--currency",
			"zzz",
		},
		"an age beyond v1's": {
			"issue", "--name", "a", "--api-key-env", "A", "--secret-file", secret, "--signature-age",
			"12h",
		},
		"map without either":     {"map", "--name", "a", "--api-key-env", "A"},
		"map without a secret":   {"map", "--name", "a", "--api-key-env", "A", "--key-id", "k"},
		"map without a key id":   {"map", "--name", "a", "--api-key-env", "A", "--secret-env", "S"},
		"map with a P12":         {"map", "--name", "a", "--api-key-env", "A", "--p12", secret},
		"map of no certificate":  {"map", "--name", "a", "--api-key-env", "A", "--certificate-file", "credentialsb_test.go"},
		"map of a missing file":  {"map", "--name", "a", "--api-key-env", "A", "--certificate-file", "nowhere"},
		"revoke what is missing": {"revoke", "--name", "a"},
	} {
		file := filepath.Join(dir, name)
		if out, _, err := run(t, file, append(args, "--provider", "provider-b")...); err == nil || out != "" {
			t.Errorf("%s: got %q and error %v, want an error alone", name, out, err)
		}
		for _, path := range []string{file, secret} {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s was made: %v", name, path, err)
			}
		}
	}
	if _, stderr, err := run(t, secret, "list", "--provider", "provider-c"); err == nil || stderr == "" {
		t.Errorf("provider-c: got error %v and %q, want both", err, stderr)
	}
}
