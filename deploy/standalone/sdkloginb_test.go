package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// loginB is what a client of provider-b logs in with.
type loginB struct {
	merchant, portfolio string
	keyID, secret       string
	p12, password       string // the path of the file, and what opens it
	named               bool   // it names its requests in a header
}

// issuedB are the logins of the script by name: the development merchant's own; "named", which is the same and names its requests; "wrong",
// which has its name and key id and nothing else of it; "stranger", whom nobody knows; and "plain", issued beside the running standalone, which
// may not credit a card without naming a payment. In portfolio a portfolio acts for the same ones.
type issuedB struct {
	logins, portfolio map[string]loginB
}

func issueB(t *testing.T, p *process, file string) issuedB {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, key := filepath.Join(t.TempDir(), "elsewhere.yaml"), filepath.Join(t.TempDir(), "api-key")
	for path, content := range map[string]string{elsewhere: string(text), key: p.Keys.SKTest + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := p.ProviderB
	own := loginB{merchant: b.MerchantID, keyID: b.KeyID, secret: b.SharedSecret, p12: b.P12, password: b.P12Password}
	naming := own
	naming.named = true
	wrong := loginByCommand(t, elsewhere, own.merchant, "--replace", "--api-key-file", key)
	out := issuedB{portfolio: map[string]loginB{}, logins: map[string]loginB{
		"own": own, "named": naming, "wrong": wrong.under(own),
		"stranger": loginByCommand(t, elsewhere, "stranger", "--api-key-file", key),
		"plain":    loginByCommand(t, file, "plain", "--api-key-file", key),
	}}
	portfolio := loginByCommand(t, file, "portfolio", "--portfolio", own.merchant+",plain")
	for name, l := range out.logins {
		one := portfolio
		one.merchant, one.portfolio, one.named = l.merchant, portfolio.merchant, l.named
		out.portfolio[name] = one
	}
	wrong = loginByCommand(t, elsewhere, "portfolio", "--portfolio", own.merchant)
	out.portfolio["wrong"] = wrong.under(out.portfolio["own"])
	awaitReload(t, p)
	return out
}

// under is the login with another's names.
func (l loginB) under(other loginB) loginB {
	l.merchant, l.portfolio, l.keyID = other.merchant, other.portfolio, other.keyID
	return l
}

var shownFields = regexp.MustCompile(`(?m)^([a-zA-Z0-9 ]+): +(\S+)$`)

// loginByCommand issues a login into a credentials file.
func loginByCommand(t *testing.T, file, merchant string, args ...string) loginB {
	t.Helper()
	dir := t.TempDir()
	out := credentialsOf(t, file, append([]string{
		"issue", "--provider", "provider-b", "--name", merchant, "--secret-file", filepath.Join(dir, "secret"), "--p12", filepath.Join(dir, merchant+".p12"),
	}, args...)...)
	shown := map[string]string{}
	for _, m := range shownFields.FindAllStringSubmatch(out, -1) {
		shown[m[1]] = m[2]
	}
	l := loginB{merchant: merchant, keyID: shown["key id"], secret: shown["shared secret"], p12: shown["P12"], password: shown["P12 password"]}
	if l.keyID == "" || l.secret == "" || l.p12 == "" || l.password == "" {
		t.Fatalf("issue showed %s", out)
	}
	return l
}

// awaitReload asks for a login until the proxy has looked at its file again: it does so for requests, at most once a second.
func awaitReload(t *testing.T, p *process) {
	t.Helper()
	desk := &loginDesk{p: p, proxy: &replica{base: p.HTTP, stderr: p.stderr}}
	began := time.Now() //nolint:forbidigo // the real program's time is measured
	for !strings.Contains(p.stderr.String(), "credentials: reloaded") {
		desk.charge(t, "nobody", "wrong00000000000", "none")
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the file is not read again; log:\n%s", p.stderr)
		}
		<-time.After(50 * time.Millisecond)
	}
}
