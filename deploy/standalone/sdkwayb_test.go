package main_test

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

// wayB is one way for a client of provider-b to log in and to be pointed here.
type wayB struct {
	name      string
	settings  func(loginB) settingsB
	at        func(base string) settingsB
	portfolio bool // who logs in acts for the merchant
	encrypted bool
	without   string // the client that has no such way
	brief     bool   // the walk is a short one: only the login differs
}

// settingsB are what a merchant writes into the client's configuration, by the names that the Node client has for them.
type settingsB map[string]any

func signatureB(l loginB) settingsB {
	s := merchantB(l)
	s["authenticationType"], s["merchantKeyId"], s["merchantsecretKey"] = "http_signature", l.keyID, l.secret
	return s
}

func secretB(l loginB) settingsB {
	s := signatureB(l)
	s["authenticationType"], s["jwtKeyType"] = "jwt", "SHARED_SECRET"
	return s
}

func certificateB(l loginB) settingsB {
	s := merchantB(l)
	s["authenticationType"], s["keyAlias"], s["keyPass"] = "jwt", cmp.Or(l.portfolio, l.merchant), l.password
	s["keysDirectory"], s["keyFileName"] = filepath.Dir(l.p12), strings.TrimSuffix(filepath.Base(l.p12), ".p12")
	return s
}

// merchantB says for whom a client acts, and who it is itself if that is another.
func merchantB(l loginB) settingsB {
	s := settingsB{"merchantID": l.merchant}
	if l.portfolio != "" {
		s["useMetaKey"], s["portfolioID"] = true, l.portfolio
	}
	return s
}

// encryptionB is certificateB with both bodies encrypted: the request to the certificate of ours in the P12, the answer to the client's own.
func encryptionB(l loginB) settingsB {
	s := certificateB(l)
	s["enableRequestMLEForOptionalApisGlobally"], s["enableResponseMleGlobally"] = true, true
	s["responseMlePrivateKeyFilePath"], s["responseMlePrivateKeyFilePassword"] = l.p12, l.password
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

// clientB is a client of provider-b, installed.
type clientB struct {
	sdk
	own   settingsB         // what its merchants set besides
	names map[string]string // its names for settings that have others
}

// nodeClientB is the Node client; a setting of its own tells it whom to trust.
func nodeClientB(t *testing.T, p *process, program string) clientB {
	t.Helper()
	return clientB{
		sdk: sdk{
			name: "node", command: []string{"node", absolute(t, program)},
			env: []string{"NODE_PATH=" + installNode(t, "node-providerb", "sdktest/providerb/node")},
		},
		own: settingsB{"sslCaCert": p.CA, "logConfiguration": settingsB{"enableLog": false}},
	}
}

// pythonClientB is the Python client, which trusts whom the bundle of certifi has: one with the development authority behind it stands before
// the other in its path.
func pythonClientB(t *testing.T, p *process, program string) clientB {
	t.Helper()
	packages, first := installPython(t, "python-providerb", "sdktest/providerb/python"), t.TempDir()
	if err := os.CopyFS(filepath.Join(first, "certifi"), os.DirFS(filepath.Join(packages, "certifi"))); err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(p.CA)
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
	return clientB{
		sdk: sdk{
			name: "python", command: []string{"python3", absolute(t, program)},
			env: []string{"PYTHONPATH=" + first + string(os.PathListSeparator) + packages, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"},
		},
		names: pythonNames,
	}
}

// javaClientB is the Java client, whose JWTs are of the older generation. Its models leave the most out.
func javaClientB(t *testing.T, p *process, program string) clientB {
	t.Helper()
	return clientB{
		sdk: sdk{
			name: "java", command: javaCommand(t, p, installJava(t, "java-providerb", "sdktest/providerb/java"), program),
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
func (c clientB) configured(t *testing.T, way wayB, base string, logins map[string]loginB, steps *sdkScript) sdk {
	t.Helper()
	s := c.sdk
	s.name, s.brief = s.name+"-"+way.name, way.brief
	all := map[string]settingsB{}
	for name, l := range logins {
		all[name] = settingsB{}
		some := []settingsB{c.own, way.settings(l), way.at(base)}
		if l.named {
			some = append(some, settingsB{"defaultHeaders": values{"v-c-idempotency-id": s.name}})
		}
		for key, value := range merged(some...) {
			all[name][cmp.Or(c.names[key], key)] = value
		}
	}
	s.env = append(slices.Clone(s.env), "SDK_LOGINS="+encoded(t, all), "SDK_READS="+encoded(t, steps.Reads))
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
