package sdk

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// WayB is one way to configure the login and the host of a provider-b client.
type WayB struct {
	Name      string
	Encrypted bool
	Without   string // the client without this way
	Brief     bool   // brief walks: only the login differs
	settings  func(LoginB) settingsB
	at        func(base string) settingsB
	portfolio bool // the login acts for the merchant
	p12       bool // the client opens a P12
}

// RouteB is a way to a base URL.
type RouteB struct {
	WayB

	Base string
}

// login returns the name by which a client has the settings of a login in this way.
func (w WayB) login(name string) string { return w.Name + "/" + name }

// WaysB returns all ways.
func WaysB() []WayB {
	return []WayB{
		{Name: "signature", settings: signatureB, at: dropInB},
		{Name: "prefix", settings: signatureB, at: prefixB, Brief: true},
		{Name: "secret", settings: secretB, at: dropInB, Without: "java"},
		{Name: "certificate", settings: certificateB, at: unawareB, p12: true},
		{Name: "encryption", settings: encryptionB, at: prefixB, Encrypted: true, Without: "java", p12: true},
		{Name: "portfolio-signature", settings: signatureB, at: dropInB, portfolio: true, Brief: true},
		{Name: "portfolio-p12", settings: certificateB, at: dropInB, portfolio: true, Brief: true, p12: true},
	}
}

// settingsB are settings of the client's configuration, by the names of the Node client.
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

// merchantB returns the settings for the merchant, and for the login's own name if it differs.
func merchantB(l LoginB) settingsB {
	s := settingsB{"merchantID": l.Merchant}
	if l.portfolio != "" {
		s["useMetaKey"], s["portfolioID"] = true, l.portfolio
	}
	return s
}

// encryptionB returns certificateB with both bodies encrypted: the request to our certificate in
// the P12, the response to the client's own.
func encryptionB(l LoginB) settingsB {
	s := certificateB(l)
	s["enableRequestMLEForOptionalApisGlobally"], s["enableResponseMleGlobally"] = true, true
	s["responseMlePrivateKeyFilePath"], s["responseMlePrivateKeyFilePassword"] = l.P12, l.Password
	return s
}

// dropInB changes only the host.
func dropInB(base string) settingsB {
	return settingsB{"runEnvironment": strings.TrimPrefix(base, "https://")}
}

// prefixB changes the host, and adds a path before the client's own.
func prefixB(base string) settingsB {
	return settingsB{
		"runEnvironment":   strings.TrimPrefix(base, "https://"),
		"intermediateHost": base + "/compat/provider-b",
	}
}

// unawareB redirects a client that uses the provider's own host name. With signatures the Node
// client sends that name as Host, and Node then requires it in the certificate.
func unawareB(base string) settingsB {
	return settingsB{"runEnvironment": "apitest.cybersource.com", "intermediateHost": base + "/compat/provider-b"}
}

// ClientB is an installed client of provider-b.
type ClientB struct {
	Client
	own    settingsB         // further settings
	names  map[string]string // its names for settings that differ
	derive bool              // it derives or checks the keys of a P12 for each request or each change of the login
}

// NodeB returns the Node client; a setting names its authority.
func NodeB(t *testing.T, s *System, program string) ClientB {
	t.Helper()
	return ClientB{
		Client: node(t, "node-providerb", "providerb", program),
		own:    settingsB{"sslCaCert": s.CA, "logConfiguration": settingsB{"enableLog": false}},
	}
}

// PythonB returns the Python client, which trusts the bundle of certifi. A copy of the bundle with
// the development authority is earlier in its path.
func PythonB(t *testing.T, s *System, program string) ClientB {
	t.Helper()
	packages, first := programtest.MustInstallPython(t, "python-providerb", absolute(t, "providerb/python")), t.TempDir()
	if err := os.CopyFS(filepath.Join(first, "certifi"), os.DirFS(filepath.Join(packages, "certifi"))); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(first, "certifi", "cacert.pem")
	if err := os.WriteFile(bundle, append(mustRead(t, bundle), mustRead(t, s.CA)...), 0o600); err != nil {
		t.Fatal(err)
	}
	path := "PYTHONPATH=" + first + string(os.PathListSeparator) + packages
	return ClientB{Client: python(t, "providerb", program, path), names: pythonNames, derive: true}
}

// JavaB returns the Java client, whose JWTs are of the older generation. Its models lack more
// fields than the others'.
func JavaB(t *testing.T, s *System, program string) ClientB {
	t.Helper()
	c := java(t, s, "java-providerb", "providerb", program)
	c.blind = []string{"reversal_link", "void_link", "refundable", "currency", "card_type"}
	return ClientB{Client: c, derive: true}
}

// pythonNames are the settings with other names in the Python client.
var pythonNames = map[string]string{
	"authenticationType": "authentication_type", "jwtKeyType": "jwt_key_type", "merchantID": "merchantid",
	"merchantKeyId":     "merchant_keyid",
	"merchantsecretKey": "merchant_secretkey", "keyAlias": "key_alias", "keyPass": "key_password",
	"keysDirectory": "keys_directory",
	"keyFileName":   "key_file_name", "useMetaKey": "use_metakey", "portfolioID": "portfolio_id",
	"defaultHeaders": "default_headers",
	"runEnvironment": "run_environment", "intermediateHost": "IntermediateHost",
}

// walking returns the client under its name for a walk in one way. Outside a soak the walk is brief
// if the client derives or checks the keys of a P12 often: this takes most of its time.
func (c ClientB) walking(way WayB) Client {
	s := c.Client
	costly := way.p12 && c.derive && !programtest.Soak()
	s.Name, s.Brief = s.Name+"-"+way.Name, s.Brief || way.Brief || costly
	return s
}

// configured returns the client's settings for each login of a merchant in one way.
func (c ClientB) configured(way RouteB, logins LoginsB) map[string]settingsB {
	as, all := logins.own, map[string]settingsB{}
	if way.portfolio {
		as = logins.portfolio
	}
	for name, l := range as {
		some := []settingsB{c.own, way.settings(l), way.at(way.Base)}
		if l.named {
			some = append(some, settingsB{"defaultHeaders": values{"v-c-idempotency-id": c.walking(way.WayB).Name}})
		}
		one := settingsB{}
		for key, value := range merged(some...) {
			one[cmp.Or(c.names[key], key)] = value
		}
		all[way.login(name)] = one
	}
	return all
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
