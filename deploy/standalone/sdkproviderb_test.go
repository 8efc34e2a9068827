package main_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestClients_providerB sends unmodified clients of provider-b through the days of a merchant, side by side, over HTTPS by the development
// authority: by every way that each has to log in, and to be pointed here.
func TestClients_providerB(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	logins := mapLoginsB(t, p, filepath.Join(data, "compat-credentials.yaml"))
	steps := script(t, "sdktest/providerb/steps.json")
	for _, way := range []wayB{
		{name: "signature", settings: signatureB, at: dropInB},
		{name: "prefix", settings: signatureB, at: prefixB},
		{name: "secret", settings: secretB, at: dropInB},
		{name: "certificate", settings: certificateB, at: unawareB},
		{name: "encryption", settings: encryptionB, at: prefixB},
	} {
		t.Run("node-"+way.name, func(t *testing.T) {
			t.Parallel()
			walk(t, p, nodeClientB(t, p, way, logins, steps), steps, providerB{})
		})
	}
}

// wayB is one way for a client to log in and to be pointed here.
type wayB struct {
	name     string
	settings func(loginB) settingsB
	at       func(p *process) settingsB
}

// settingsB are what a merchant writes into the client's configuration, by the names that the Node client has for them.
type settingsB map[string]any

// loginB is what a client logs in with.
type loginB struct {
	merchant, keyID, secret string
	p12, password           string // the path of the file, and what opens it
}

func signatureB(l loginB) settingsB {
	return settingsB{"authenticationType": "http_signature", "merchantID": l.merchant, "merchantKeyId": l.keyID, "merchantsecretKey": l.secret}
}

func secretB(l loginB) settingsB {
	return settingsB{
		"authenticationType": "jwt", "jwtKeyType": "SHARED_SECRET", "merchantID": l.merchant, "merchantKeyId": l.keyID, "merchantsecretKey": l.secret,
	}
}

func certificateB(l loginB) settingsB {
	return settingsB{
		"authenticationType": "jwt", "merchantID": l.merchant, "keyAlias": l.merchant, "keyPass": l.password,
		"keysDirectory": filepath.Dir(l.p12), "keyFileName": strings.TrimSuffix(filepath.Base(l.p12), ".p12"),
	}
}

// encryptionB is certificateB with both bodies encrypted: the request to the certificate of ours in the P12, the answer to the client's own.
func encryptionB(l loginB) settingsB {
	s := certificateB(l)
	s["enableRequestMLEForOptionalApisGlobally"], s["enableResponseMleGlobally"] = true, true
	s["responseMlePrivateKeyFilePath"], s["responseMlePrivateKeyFilePassword"] = l.p12, l.password
	return s
}

// dropInB gives a client another host and nothing else.
func dropInB(p *process) settingsB {
	return settingsB{"runEnvironment": strings.TrimPrefix(p.HTTPS, "https://")}
}

// prefixB gives a client another host, and a path before its own.
func prefixB(p *process) settingsB {
	return settingsB{"runEnvironment": strings.TrimPrefix(p.HTTPS, "https://"), "intermediateHost": p.HTTPS + "/compat/provider-b"}
}

// unawareB has a client send here and believe that it speaks to the provider's own host. With signatures the Node client sends that name as
// Host, and Node then wants it in the certificate.
func unawareB(p *process) settingsB {
	return settingsB{"runEnvironment": "apitest.cybersource.com", "intermediateHost": p.HTTPS + "/compat/provider-b"}
}

func nodeClientB(t *testing.T, p *process, way wayB, logins map[string]loginB, s *sdkScript) sdk {
	t.Helper()
	settings := map[string]settingsB{}
	for name, l := range logins {
		settings[name] = settingsB{"sslCaCert": p.CA, "logConfiguration": settingsB{"enableLog": false}}
		for _, some := range []settingsB{way.settings(l), way.at(p)} {
			for key, value := range some {
				settings[name][key] = value
			}
		}
	}
	return sdk{
		name: "node-" + way.name, command: []string{"node", absolute(t, "sdktest/providerb/node/walk.js")},
		env: []string{
			"NODE_PATH=" + installNode(t, "node-providerb", "sdktest/providerb/node"),
			"SDK_LOGINS=" + encoded(t, settings), "SDK_READS=" + encoded(t, s.Reads),
		},
	}
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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

// providerB is what clients of provider-b have in common.
type providerB struct{}

func (providerB) number() string { return "id" }

func (providerB) complete(_ *sdkWalk, step string, send values) (sent, want values) {
	send["step"], send["login"] = step, cmp.Or(send["login"], "own")
	return send, nil
}

// check wants no payments of the client's in v1 beside those whose numbers it read.
func (providerB) check(t *testing.T, w *sdkWalk, payments map[string]v1.Transaction) {
	t.Helper()
	known := map[string]bool{}
	for number := range w.ids {
		known[txn(t, number)] = true
	}
	for _, x := range payments {
		if x.Reference != nil && strings.HasPrefix(*x.Reference, w.name+"-") && !known[x.ID] {
			t.Errorf("%s: v1 has a payment %s, %s, of which the client does not know", *x.Reference, x.ID, x.Status)
		}
	}
}
