package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/dropin"
)

const least = "hosts: [a.example]\ncertificates: {folder: certs}\nextproc: {address: 'unix:mle.sock'}\n"

// TestExample checks that the values in the file that explains the keys are the defaults.
func TestExample(t *testing.T) {
	t.Parallel()
	got, err := config.Load("../../../../configs/edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := config.Decode("d",
		[]byte("hosts: [api.example.com]\ntrust: {url: https://trust.example.com}\nadmin: 127.0.0.1:9084\n"+
			"certificates: {folder: data/edge/certificates}\nextproc: {address: 'unix:data/mle/extproc.sock'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got.TLS.CipherSuites = nil // the file has an empty list
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestDefaultRate checks that a file without limits has a rate limit, and that the limit can be
// changed and removed.
func TestDefaultRate(t *testing.T) {
	t.Parallel()
	for more, want := range map[string][2]int{
		"": {200, 1000}, "limits: {max_body: 65536}": {200, 1000}, "limits: {rate: 7}": {7, 35},
		"limits: {rate: 1000000}": {1_000_000, 5_000_000}, "limits: {rate: 7, burst: 8}": {7, 8}, "limits: {rate: 0}": {},
	} {
		c, err := config.Decode("c", []byte(least+more))
		if err != nil {
			t.Errorf("%s: %v", more, err)
		}
		if got := [2]int{c.Limits.Rate, c.Limits.Burst}; got != want {
			t.Errorf("%s: got %v, want %v", more, got, want)
		}
	}
}

func TestDefaultTrust(t *testing.T) {
	t.Parallel()
	c, err := config.Decode("c", []byte(least))
	if err != nil {
		t.Fatal(err)
	}
	if c.Trust.URL != "https://a.example/v1/trust" || c.CalendarPath() != "/v1/trust/calendar.ics" ||
		len(c.Names()) != 1 || c.TrustPort() != 443 {
		t.Errorf("got %q, %q, %q, %d", c.Trust.URL, c.CalendarPath(), c.Names(), c.TrustPort())
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	pem := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(pem, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ more, key, why string }{
		"NoUpstream": {"routes: [{path: /v1/**, upstream: cor}]", "routes[0].upstream", `"cor" is not in upstreams`},
		"Shadowed": {
			"routes: [{path: /v1/**, upstream: core}, {path: '/v1/{x}/y', upstream: core}]",
			"routes[1].path", "routes[0] (/v1/**)",
		},
		"SamePath": {
			"routes: [{path: /a, upstream: core}, {path: /a, upstream: core}]", "routes[1].path",
			"never matched",
		},
		"OurPath":       {"routes: [{path: /v1/trust/x, upstream: core}]", "routes[0].path", "the edge serves"},
		"Escaped":       {"routes: [{path: /a%2fb, upstream: core}]", "routes[0].path", "want letters"},
		"Dots":          {"routes: [{path: /a/../b, upstream: core}]", "routes[0].path", `segment ".."`},
		"Slashes":       {"routes: [{path: /a//b, upstream: core}]", "routes[0].path", "empty segment"},
		"TrailingSlash": {"routes: [{path: /a/, upstream: core}]", "routes[0].path", "empty segment"},
		"Relative":      {"routes: [{path: a, upstream: core}]", "routes[0].path", "begins with /"},
		"StarInside":    {"routes: [{path: /a/*/b, upstream: core}]", "routes[0].path", "only at the end"},
		"Level":         {"routes: [{path: /a, upstream: core, mle: on}]", "routes[0].mle", "not one of off"},
		"Unannounced":   {"routes: [{path: /a, upstream: core, mle: required}]", "routes[0].mle", "core mle announce"},
		"Address": {
			"upstreams: {core: {address: 127.0.0.1}, compat: {address: 'a:1'}, mle: {address: 'a:2'}}",
			"upstreams.core.address", "unix:PATH or host:port",
		},
		"Port":        {"listen: {https: '0.0.0.0:70000'}", "listen.https", "65535"},
		"ListenName":  {"listen: {https: 'localhost:443'}", "listen.https", "IP address"},
		"SameAddress": {"listen: {https: '0.0.0.0:8000'}", "listen.http", "also the address of listen.https"},
		"WithinAll":   {"listen: {http: '127.0.0.1:8443'}", "listen.http", "also the address of listen.https"},
		"WithinAllIPv6": {
			"listen: {https: '[::]:8443', http: '127.0.0.1:8443'}", "listen.http", "also the address of listen.https",
		},
		"AdminWithin": {"admin: localhost:8443", "admin", "also the address of listen.https"},
		"Mapped": {
			"listen: {https: '127.0.0.1:8443', http: '[::ffff:127.0.0.1]:8443'}", "listen.http",
			"also the address of listen.https",
		},
		"UpstreamWithin": {"listen: {http: '0.0.0.0:8080'}", "upstreams.core.address", "the address of listen.http"},
		"UpstreamOurs":   {"http: 127.0.0.1:8081", "upstreams.compat.address", "the address of http"},
		"UpstreamSocket": {"upstreams: {core: {address: 'a:1'}, compat: {address: 'unix:data/edge/http.sock'}, mle: " +
			"{address: 'a:2'}}", "upstreams.compat.address", "the address of http"},
		"ExtProcOurs":   {"extproc: {address: 'unix:data/edge/xds.sock'}", "extproc.address", "the address of xds.listen"},
		"SameSocket":    {"http: 'unix:data/edge/xds.sock'", "http", "also the address of xds.listen"},
		"Weaker":        {"tls: {minimum_version: '1.1'}", "tls", "weaker"},
		"WeakerSuite":   {"tls: {cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]}", "tls", "weaker"},
		"TwoHosts":      {"hosts: [a.example, a.example]", "hosts[1]", "twice"},
		"UpperHost":     {"hosts: [A.example]", "hosts[0]", "not a host name"},
		"Wildcard":      {"hosts: ['*.example']", "hosts[0]", "name each host"},
		"NoHost":        {"hosts: []", "hosts", "at least one"},
		"Trust":         {"trust: {url: 'http://t.example'}", "trust.url", "https://"},
		"TrustPath":     {"trust: {url: 'https://t.example/a/../b'}", "trust.url", "want a path without {}"},
		"TrustPort":     {"trust: {url: 'https://t.example:99999'}", "trust.url", "65535"},
		"TrustPortZero": {"trust: {url: 'https://t.example:0'}", "trust.url", "65535"},
		"BothSources": {
			"certificates: {folder: a, acme: {directory: 'https://a.example/d'}}", "certificates",
			"both set",
		},
		"NoSource":      {"certificates: {publish_ahead: 1h}", "certificates", "want folder or acme"},
		"ACMEDirectory": {"certificates: {acme: {directory: 'http://a'}}", "certificates.acme.directory", "https://"},
		"ACMEOld": {
			"certificates: {acme: {directory: 'https://a.example/d', renew_after: 2400h}}",
			"certificates.acme.renew_after", "90 days",
		},
		"ACMEChallenge": {
			"certificates: {acme: {directory: 'https://a.example/d', challenges: [dns-01]}}",
			"certificates.acme.challenges[0]", "want tls-alpn-01 or",
		},
		"ACMENoHTTP": {"listen: {http: ''}\ncertificates: {acme: {directory: 'https://a.example/d', challenges: " +
			"[http-01]}}", "certificates.acme.challenges[0]", "set listen.http"},
		"Reserved": {"upstreams: {core: {address: 'a:1'}, compat: {address: 'a:1'}, mle: {address: 'a:2'}, edge: " +
			"{address: 'a:3'}}", "upstreams.edge", "are reserved"},
		"CA": {"upstreams: {core: {address: 'a:1', ca: " + pem +
			"}, compat: {address: 'a:1'}, mle: {address: 'a:2'}}", "upstreams.core.ca", "want a PEM file with a certificate"},
		"ServerName": {"upstreams: {core: {address: 'a:1', server_name: b}, compat: {address: 'a:1'}, mle: " +
			"{address: 'a:2'}}", "upstreams.core.server_name", "no TLS"},
		"XDSWithoutTLS":    {"xds: {listen: '127.0.0.1:1'}", "xds.client_ca", "private keys"},
		"XDSSocketWithTLS": {"xds: {certificate: a}", "xds.certificate", "no TLS"},
		"MaxBody":          {"limits: {max_body: 1}", "limits.max_body", "want 1024"},
		"BurstAlone":       {"limits: {rate: 0, burst: 1}", "limits.burst", "set limits.rate"},
		"BurstBelowRate":   {"limits: {rate: 10, burst: 1}", "limits.burst", "at least limits.rate"},
		"Timeout":          {"limits: {timeout: 1ms}", "limits.timeout", "want 1s"},
		"MessageTimeout":   {"extproc: {address: 'unix:a', message_timeout: 1ms}", "extproc.message_timeout", "want 100ms"},
		"NoExtProc":        {"extproc: {address: ''}", "routes[8].mle", "no program decrypts"},
		"LongSocket":       {"http: 'unix:" + strings.Repeat("a", 108) + "'", "http", "107"},
		"Operator":         {"operator: 'ftp://a'", "operator", "http:// or https://"},
		"HealthNotNormal": {"upstreams: {core: {address: 'a:1', health: /a/**}, compat: {address: 'a:1'}, mle: {address: " +
			"'a:2'}}", "upstreams.core.health", "want a path without {}"},
		"SeveralUnasked": {
			"upstreams: {core: {address: 'a:1, a:2'}, compat: {address: 'a:1'}, mle: {address: 'a:2'}}",
			"upstreams.core.health", "because there are several addresses",
		},
		"SeveralTwice": {"upstreams: {core: {address: 'a:1,a:1', health: /a}, compat: {address: 'a:1'}, mle: " +
			"{address: 'a:2'}}", "upstreams.core.address", "twice"},
		"SeveralMixed": {"upstreams: {core: {address: 'a:1,unix:/a', health: /a}, compat: {address: 'a:1'}, mle: " +
			"{address: 'a:2'}}", "upstreams.core.address", "cannot be mixed"},
		"SeveralUnnamed": {"upstreams: {core: {address: 'a:1,b:1', health: /a, ca: " + pem +
			"}, compat: {address: 'a:1'}, mle: {address: 'a:2'}}", "upstreams.core.server_name", "several"},
		"SeveralProcessors": {"extproc: {address: 'unix:a,unix:a'}", "extproc.address", "twice"},
		"SecondMeetsOurs": {
			"admin: 127.0.0.1:9\nextproc: {address: 'unix:a,127.0.0.1:9'}", "extproc.address",
			"the address of",
		},
		"NameOfAnUpstream": {"upstreams: {Core: {address: 'a:1'}, core: {address: 'a:1'}, compat: {address: 'a:1'}, mle: " +
			"{address: 'a:2'}}", "upstreams.Core", "lower-case"},
		"PublishAheadBelow": {"certificates: {folder: a, publish_ahead: -1h}", "certificates.publish_ahead", "want 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := tt.more + "\n"
			for line := range strings.Lines(least) {
				key, _, _ := strings.Cut(line, ":")
				if !strings.Contains("\n"+tt.more, "\n"+key+":") {
					text += line
				}
			}
			_, err := config.Decode("c.yaml", []byte(text))
			var refused *config.FaultsError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want a refusal", err)
			}
			for _, f := range refused.Faults {
				if f.Key == tt.key && strings.Contains(f.Why, tt.why) {
					return
				}
			}
			t.Errorf("got %v\nwant %s: …%s…", err, tt.key, tt.why)
		})
	}
}

// TestAddressesApart checks that listeners on other machines, or on other addresses of this one, do
// not conflict.
func TestAddressesApart(t *testing.T) {
	t.Parallel()
	pem := filepath.Join(t.TempDir(), "c.pem")
	if err := os.WriteFile(pem, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := "certificate: " + pem + ", private_key: " + pem + ", client_ca: " + pem
	for name, more := range map[string]string{
		"OtherAddress": "listen: {https: '127.0.0.1:443', http: '127.0.0.2:443'}\nadmin: 127.0.0.3:443\n",
		"UpstreamElsewhere": "listen: {https: '0.0.0.0:443'}\nupstreams: {core: {address: '10.0.0.5:443'}, compat: " +
			"{address: 'compat:443'}, mle: {address: 'mle:443'}}\n",
		"EnvoyElsewhere": "listen: {https: '0.0.0.0:8443'}\nadmin: 0.0.0.0:8443\nhttp: 10.0.0.9:8080\nxds: {listen: " +
			"'10.0.0.9:8081', " + files + "}\n",
	} {
		if _, err := config.Decode("c", []byte(least+more)); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestEmpty checks that an empty file lacks exactly the required keys.
func TestEmpty(t *testing.T) {
	t.Parallel()
	_, err := config.Decode("c", []byte("# nothing\n"))
	var refused *config.FaultsError
	if !errors.As(err, &refused) || refused.Faults[0].Key != "hosts" || refused.Faults[1].Key != "certificates" {
		t.Fatalf("got %v", err)
	}
	for _, f := range refused.Faults[2:] {
		if !strings.HasSuffix(f.Key, ".mle") { // the default routes need a processor
			t.Errorf("got %+v", f)
		}
	}
}

// TestRefusesAll checks that all faults are reported together, an unknown key with its line.
func TestRefusesAll(t *testing.T) {
	t.Parallel()
	_, err := config.Decode("c.yaml",
		[]byte("listen: {https: x}\ntls: {minimum_version: '1.0'}\nroutes: [{path: x, upstream: y}]\n"))
	if lines := strings.Split(err.Error(), "\n"); len(lines) < 7 {
		t.Errorf("got %d faults: %v", len(lines), err)
	}
	_, err = config.Decode("c.yaml", []byte(least+"htttp: x\n"))
	if err == nil || !strings.Contains(err.Error(), `c.yaml:4: unknown key "htttp"`) {
		t.Errorf("got %v", err)
	}
}

// TestLoginInURL checks that an error about a URL with a login does not show its password.
func TestLoginInURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://core:planted@core.example", "http://core:planted%@core.example"} {
		_, err := config.Decode("c", fmt.Appendf(nil, "hosts: [a.example]\noperator: '%s'\n", url))
		if err == nil || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "c: operator: ") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

// TestLegacyRoutes checks that compat-proxy gets all families of provider-b, as in the standalone.
// Its clients cannot read Envoy's own errors.
func TestLegacyRoutes(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"../../../../configs/edge.yaml", "../../../on/kubernetes/compat-sidecar/config/edge.yaml",
	} {
		c, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range dropin.FamiliesB() {
			if !slices.ContainsFunc(c.Routes, func(r config.Route) bool {
				return r.Path == "/"+family+"/**" && r.Upstream == "compat"
			}) {
				t.Errorf("%s: no route of %s", path, family)
			}
		}
	}
}
