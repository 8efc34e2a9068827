package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
)

// loginB is what a client logs in with.
type loginB struct {
	merchant, keyID, secret string
	p12, password           string // the path of the file, and what opens it
}

// mapLoginsB returns the logins of the script by name: the development merchant's own; "wrong", which has its name and key id; "stranger", whom
// nobody knows; and "plain", mapped here beside the running standalone, which may not credit a card without naming a payment.
func mapLoginsB(t *testing.T, p *process, file string) map[string]loginB {
	t.Helper()
	own := p.ProviderB
	wrong, _ := newLoginB(t, own.MerchantID)
	wrong.keyID = own.KeyID
	stranger, _ := newLoginB(t, "stranger")
	plain, keys := newLoginB(t, "plain")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const encryption = "provider_b_encryption:\n"
	merchants, encryptions, found := strings.Cut(string(text), encryption)
	if !found {
		t.Fatalf("no %s in %s", encryption, text)
	}
	merchants += "  - merchant_id: plain\n" +
		"    keys: [{id: " + plain.keyID + ", shared_secret: " + plain.secret + "}]\n" +
		"    certificates: [" + quoted(keys.Certificate) + "]\n" +
		"    response_keys: [{certificate: " + quoted(keys.Certificate) + "}]\n" +
		"    api_key: " + p.Keys.SKTest + "\n"
	encryptions += "  - {key: " + quoted(keys.EncryptionKey.Reveal()) + ", certificate: " + quoted(keys.EncryptionCertificate) + "}\n"
	if err := os.WriteFile(file, []byte(merchants+encryption+encryptions), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitReload(t, p)
	return map[string]loginB{
		"own":   {merchant: own.MerchantID, keyID: own.KeyID, secret: own.SharedSecret, p12: own.P12, password: own.P12Password},
		"wrong": wrong, "stranger": stranger, "plain": plain,
	}
}

// quoted is a text as YAML has it on one line.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, "\n", `\n`) + `"` }

// newLoginB makes a login of that name, its P12 in a file.
func newLoginB(t *testing.T, merchant string) (loginB, compatproxy.ProviderBKeys) {
	t.Helper()
	keys, err := compatproxy.NewProviderBKeys(merchant, time.Now()) //nolint:forbidigo // clients look at the real time
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), merchant+".p12")
	if err := os.WriteFile(file, keys.P12, 0o600); err != nil {
		t.Fatal(err)
	}
	return loginB{
		merchant: merchant, keyID: keys.KeyID, secret: keys.SharedSecret.Reveal(), p12: file, password: keys.P12Password.Reveal(),
	}, keys
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
