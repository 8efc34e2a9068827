package main_test

import (
	"cmp"
	"errors"
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
	encrypted bool
}

// settingsB are what a merchant writes into the client's configuration, by the names that the Node client has for them.
type settingsB map[string]any

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

// pythonNames are the settings that have other names in the Python client.
var pythonNames = map[string]string{
	"authenticationType": "authentication_type", "jwtKeyType": "jwt_key_type", "merchantID": "merchantid", "merchantKeyId": "merchant_keyid",
	"merchantsecretKey": "merchant_secretkey", "keyAlias": "key_alias", "keyPass": "key_password", "keysDirectory": "keys_directory",
	"keyFileName": "key_file_name", "runEnvironment": "run_environment", "intermediateHost": "IntermediateHost",
}

// configured is the client as a merchant configures it: for each login in that way, at that base.
func (c clientB) configured(t *testing.T, way wayB, base string, logins map[string]loginB, steps *sdkScript) sdk {
	t.Helper()
	all := map[string]settingsB{}
	for name, l := range logins {
		all[name] = settingsB{}
		for _, some := range []settingsB{c.own, way.settings(l), way.at(base)} {
			for key, value := range some {
				all[name][cmp.Or(c.names[key], key)] = value
			}
		}
	}
	s := c.sdk
	s.name += "-" + way.name
	s.env = append(slices.Clone(s.env), "SDK_LOGINS="+encoded(t, all), "SDK_READS="+encoded(t, steps.Reads))
	return s
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
