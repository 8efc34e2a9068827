package sdk

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// WayB is one way for a client of provider-b to log in and to be pointed here.
type WayB struct {
	Name      string
	Encrypted bool
	Without   string // the client that has no such way
	Brief     bool   // the walk is a short one: only the login differs
	settings  func(LoginB) settingsB
	at        func(base string) settingsB
	portfolio bool // who logs in acts for the merchant
}

// WaysB are all there are.
func WaysB() []WayB {
	return []WayB{
		{Name: "signature", settings: signatureB, at: dropInB},
		{Name: "prefix", settings: signatureB, at: prefixB, Brief: true},
		{Name: "secret", settings: secretB, at: dropInB, Without: "java"},
		{Name: "certificate", settings: certificateB, at: unawareB},
		{Name: "encryption", settings: encryptionB, at: prefixB, Encrypted: true, Without: "java"},
		{Name: "portfolio-signature", settings: signatureB, at: dropInB, portfolio: true, Brief: true},
		{Name: "portfolio-p12", settings: certificateB, at: dropInB, portfolio: true, Brief: true},
	}
}

// settingsB are what a merchant writes into the client's configuration, by the names that the Node client has for them.
type settingsB map[string]any

func signatureB(l LoginB) settingsB {
	s := merchantB(l)
	s["authenticationType"], s["merchantKeyId"], s["merchantsecretKey"] = "http_signature", l.KeyID, l.Secret
	return s
}

func secretB(l LoginB) settingsB {
	s := signatureB(l)
	s["authenticationType"], s["jwtKeyType"] = "jwt", "SHARED_SECRET"
	return s
}

func certificateB(l LoginB) settingsB {
	s := merchantB(l)
	s["authenticationType"], s["keyAlias"], s["keyPass"] = "jwt", cmp.Or(l.portfolio, l.Merchant), l.Password
	s["keysDirectory"], s["keyFileName"] = filepath.Dir(l.P12), strings.TrimSuffix(filepath.Base(l.P12), ".p12")
	return s
}

// merchantB says for whom a client acts, and who it is itself if that is another.
func merchantB(l LoginB) settingsB {
	s := settingsB{"merchantID": l.Merchant}
	if l.portfolio != "" {
		s["useMetaKey"], s["portfolioID"] = true, l.portfolio
	}
	return s
}

// encryptionB is certificateB with both bodies encrypted: the request to the certificate of ours in the P12, the answer to the client's own.
func encryptionB(l LoginB) settingsB {
	s := certificateB(l)
	s["enableRequestMLEForOptionalApisGlobally"], s["enableResponseMleGlobally"] = true, true
	s["responseMlePrivateKeyFilePath"], s["responseMlePrivateKeyFilePassword"] = l.P12, l.Password
	return s
}

// dropInB gives a client another host and nothing else.
func dropInB(base string) settingsB {
	return settingsB{"runEnvironment": strings.TrimPrefix(base, "https://")}
}

// prefixB gives a client another host, and a path before its own.
func prefixB(base string) settingsB {
	return settingsB{"runEnvironment": strings.TrimPrefix(base, "https://"), "intermediateHost": base + "/compat/provider-b"}
}

// unawareB has a client send here and believe that it speaks to the provider's own host. With signatures the Node client sends that name as
// Host, and Node then wants it in the certificate.
func unawareB(base string) settingsB {
	return settingsB{"runEnvironment": "apitest.cybersource.com", "intermediateHost": base + "/compat/provider-b"}
}

// ClientB is a client of provider-b, installed.
type ClientB struct {
	Client
	own   settingsB         // what its merchants set besides
	names map[string]string // its names for settings that have others
}

// NodeB is the Node client; a setting of its own tells it whom to trust.
func NodeB(t *testing.T, s *System, program string) ClientB {
	t.Helper()
	return ClientB{
		Client: Client{
			Name: "node", Command: []string{"node", cmp.Or(program, absolute(t, "providerb/node/walk.js"))},
			Env: []string{"NODE_PATH=" + InstallNode(t, "node-providerb", absolute(t, "providerb/node"))},
		},
		own: settingsB{"sslCaCert": s.CA, "logConfiguration": settingsB{"enableLog": false}},
	}
}

// PythonB is the Python client, which trusts whom the bundle of certifi has: one with the development authority behind it stands before
// the other in its path.
func PythonB(t *testing.T, s *System, program string) ClientB {
	t.Helper()
	packages, first := InstallPython(t, "python-providerb", absolute(t, "providerb/python")), t.TempDir()
	if err := os.CopyFS(filepath.Join(first, "certifi"), os.DirFS(filepath.Join(packages, "certifi"))); err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(s.CA)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := os.OpenFile(filepath.Join(first, "certifi", "cacert.pem"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bundle.Write(authority)
	if err := errors.Join(err, bundle.Close()); err != nil {
		t.Fatal(err)
	}
	return ClientB{
		Client: Client{
			Name: "python", Command: []string{"python3", cmp.Or(program, absolute(t, "providerb/python/walk.py"))},
			Env: []string{"PYTHONPATH=" + first + string(os.PathListSeparator) + packages, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"},
		},
		names: pythonNames,
	}
}

// JavaB is the Java client, whose JWTs are of the older generation. Its models leave the most out.
func JavaB(t *testing.T, s *System, program string) ClientB {
	t.Helper()
	libraries := installJava(t, "java-providerb", absolute(t, "providerb/java"))
	return ClientB{
		Client: Client{
			Name: "java", Command: javaCommand(t, s, libraries, cmp.Or(program, absolute(t, "providerb/java/Walk.java"))),
			blind: []string{"reversal_link", "void_link", "refundable", "currency", "card_type"},
		},
	}
}

// pythonNames are the settings that have other names in the Python client.
var pythonNames = map[string]string{
	"authenticationType": "authentication_type", "jwtKeyType": "jwt_key_type", "merchantID": "merchantid", "merchantKeyId": "merchant_keyid",
	"merchantsecretKey": "merchant_secretkey", "keyAlias": "key_alias", "keyPass": "key_password", "keysDirectory": "keys_directory",
	"keyFileName": "key_file_name", "useMetaKey": "use_metakey", "portfolioID": "portfolio_id", "defaultHeaders": "default_headers",
	"runEnvironment": "run_environment", "intermediateHost": "IntermediateHost",
}

// configured is the client as a merchant configures it: for each login in that way, at that base.
func (c ClientB) configured(t *testing.T, way WayB, base string, logins map[string]LoginB, steps *script) Client {
	t.Helper()
	s := c.Client
	s.Name, s.Brief = s.Name+"-"+way.Name, s.Brief || way.Brief
	all := map[string]settingsB{}
	for name, l := range logins {
		all[name] = settingsB{}
		some := []settingsB{c.own, way.settings(l), way.at(base)}
		if l.named {
			some = append(some, settingsB{"defaultHeaders": values{"v-c-idempotency-id": s.Name}})
		}
		for key, value := range merged(some...) {
			all[name][cmp.Or(c.names[key], key)] = value
		}
	}
	s.Env = append(slices.Clone(s.Env), "SDK_LOGINS="+encoded(t, all), "SDK_READS="+encoded(t, steps.Reads))
	return s
}

func merged(all ...settingsB) settingsB {
	out := settingsB{}
	for _, s := range all {
		maps.Copy(out, s)
	}
	return out
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
