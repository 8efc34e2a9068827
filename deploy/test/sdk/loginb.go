package sdk

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// LoginB is a login of a provider-b client.
type LoginB struct {
	Merchant      string
	KeyID, Secret string
	P12, Password string // the path of the key file, and its password
	portfolio     string
	named         bool // the client names its requests in a header
}

// LoginsB are the logins of the script by name. "named" is the merchant's own login with a name in
// each request. "wrong" has its merchant and key id with another secret. "stranger" is unknown.
// "plain" may not credit a card without a payment. In portfolio, a portfolio acts for the same
// logins.
type LoginsB struct {
	own, portfolio map[string]LoginB
}

// IssueB issues the logins into a file.
func IssueB(t *testing.T, logins Issuer, own LoginB, apiKey string) LoginsB {
	t.Helper()
	text, err := os.ReadFile(logins.File)
	if err != nil {
		t.Fatal(err)
	}
	// Logins for no proxy, with the certificate for encryption of the real one. It is the last part of
	// the file.
	const encryption = "provider_b_encryption:"
	_, rest, _ := strings.Cut(string(text), encryption)
	elsewhere, key := Issuer{logins.Program, filepath.Join(t.TempDir(), "elsewhere.yaml")},
		filepath.Join(t.TempDir(), "api-key")
	for path, content := range map[string]string{elsewhere.File: encryption + rest, key: apiKey + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	naming := own
	naming.named = true
	wrong := elsewhere.IssueB(t, own.Merchant, "--api-key-file", key)
	out := LoginsB{portfolio: map[string]LoginB{}, own: map[string]LoginB{
		"own": own, "named": naming, "wrong": wrong.under(own),
		"stranger": elsewhere.IssueB(t, "stranger", "--api-key-file", key),
		"plain":    logins.IssueB(t, "plain", "--api-key-file", key),
	}}
	portfolio := logins.IssueB(t, "portfolio", "--portfolio", own.Merchant+",plain")
	for name, l := range out.own {
		one := portfolio
		one.Merchant, one.portfolio, one.named = l.Merchant, portfolio.Merchant, l.named
		out.portfolio[name] = one
	}
	wrong = elsewhere.IssueB(t, "portfolio", "--portfolio", own.Merchant)
	out.portfolio["wrong"] = wrong.under(out.portfolio["own"])
	return out
}

// under returns the login with the merchant, portfolio and key id of another one.
func (l LoginB) under(other LoginB) LoginB {
	l.Merchant, l.portfolio, l.KeyID = other.Merchant, other.portfolio, other.KeyID
	return l
}

var shownFields = regexp.MustCompile(`(?m)^([a-zA-Z0-9 ]+): +(\S+)$`)

// IssueB issues one login of provider-b.
func (i Issuer) IssueB(t *testing.T, merchant string, args ...string) LoginB {
	t.Helper()
	dir := t.TempDir()
	out := i.Run(t, append([]string{
		"issue", "--provider", "provider-b", "--name", merchant, "--secret-file", filepath.Join(dir, "secret"), "--p12",
		filepath.Join(dir, merchant+".p12"),
	}, args...)...)
	shown := map[string]string{}
	for _, m := range shownFields.FindAllStringSubmatch(out, -1) {
		shown[m[1]] = m[2]
	}
	l := LoginB{
		Merchant: merchant,
		KeyID:    shown["key id"],
		Secret:   shown["shared secret"],
		P12:      shown["P12"],
		Password: shown["P12 password"],
	}
	if l.KeyID == "" || l.Secret == "" || l.P12 == "" || l.Password == "" {
		t.Fatalf("issue showed %s", out)
	}
	return l
}
