package on_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const patience = programtest.Patience

// machine is a folder in which the programs run as the systemd units describe: with their command
// lines, environments and settings. The folder replaces the root of the file system, and each
// machine has its own loopback address.
type machine struct {
	dir, address string
	from         string                      // the address of its clients
	logs         map[string]*programtest.Log // by unit
	programs     map[string]*programtest.Program
	dropIns      string   // pattern of the drop-ins' paths, with %s for the unit's name; "" for none
	env          []string // of commands, added to the units' environment
	authority    *certtest.Authority
	client       *http.Client // connects to Envoy
	envoy        *envoytest.Envoy
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "m") //nolint:usetesting // the names of sockets must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &machine{
		dir: dir, address: programtest.Host(t), from: programtest.Host(t), logs: map[string]*programtest.Log{},
		programs: map[string]*programtest.Program{},
	}
	for _, folder := range []string{
		"etc/causeway/certificates", "etc/causeway/secrets", "run/causeway/edge",
		"run/causeway/mle", "run/causeway/envoy", "var/lib/causeway",
	} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"compat-credentials", "compat-proxy", "edge", "envoy", "mle-filter"} {
		write(t, m.path("/etc/causeway/"+name+".yaml"),
			[]byte(m.here(string(mustRead(t, "deploy/on/systemd/config/"+name+".yaml")))))
	}
	for _, name := range []string{
		"vault-kek", "mle-kek", "filter-secret", "deduplication-secret", "filter-token",
		"hop-secret",
	} {
		m.secret(t, name, programtest.Secret())
	}
	m.authority = certtest.Root(t).Intermediate(t)
	m.authority.Issue(t, certtest.Hosts("api.example.com", "trust.example.com")).
		Write(t, m.path("/etc/causeway/certificates"), "edge")
	m.client = &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: m.authority.Pool(), MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			from := &net.TCPAddr{IP: net.ParseIP(m.from)}
			return (&net.Dialer{LocalAddr: from}).DialContext(ctx, network, m.address+":8443")
		},
	}}
	t.Cleanup(m.client.CloseIdleConnections)
	return m
}

func (m *machine) path(of string) string { return filepath.Join(m.dir, of) }

func (m *machine) secret(t *testing.T, name, value string) {
	t.Helper()
	write(t, m.path("/etc/causeway/secrets/"+name), []byte(value+"\n"))
}

// here replaces the folders and addresses in a text by the machine's.
func (m *machine) here(text string) string {
	text = strings.NewReplacer("127.0.0.1:", m.address+":", "0.0.0.0:", m.address+":", "address: 127.0.0.1\n",
		"address: "+m.address+"\n",
		"address: 0.0.0.0\n", "address: "+m.address+"\n", "/usr/local/lib/causeway", bin).Replace(text)
	for _, folder := range []string{"/etc/causeway", "/run/causeway", "/var/lib/causeway"} {
		text = strings.ReplaceAll(strings.ReplaceAll(text, m.path(folder), "\x00"), folder, "\x00")
		text = strings.ReplaceAll(text, "\x00", m.path(folder))
	}
	return text
}

// unit returns the command line and the environment of a unit, and makes its folders.
func (m *machine) unit(t *testing.T, name string) (words, env []string) {
	t.Helper()
	env = []string{"PATH=/usr/bin:/bin"}
	shipped := string(mustRead(t, "deploy/on/systemd/causeway-"+name+".service"))
	if changed, err := os.ReadFile(filepath.Join(root, fmt.Sprintf(m.dropIns, name))); m.dropIns != "" && err == nil {
		shipped += string(changed)
	}
	text := strings.NewReplacer("%S", m.path("/var/lib"), "%d", m.path("/etc/causeway/secrets")).Replace(shipped)
	for line := range strings.Lines(m.here(text)) {
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, "Environment="); ok {
			env = append(env, value)
		}
		if value, ok := strings.CutPrefix(line, "ExecStart="); ok {
			words = strings.Fields(value)
		}
		for prefix, parent := range map[string]string{"StateDirectory=": "/var/lib", "RuntimeDirectory=": "/run"} {
			if value, ok := strings.CutPrefix(line, prefix); ok {
				write(t, filepath.Join(m.path(parent), value, ".made"), nil)
			}
		}
	}
	if len(words) == 0 {
		t.Fatalf("the unit %s starts nothing", name)
	}
	return words, env
}

// start starts a unit and waits until its operators' port responds. At the end of the test it stops
// the unit, which must end without an error.
func (m *machine) start(t *testing.T, name, port string) {
	t.Helper()
	words, env := m.unit(t, name)
	p := programtest.Start(t, programtest.Command{Path: words[0], Args: words[1:], Env: env, Bare: true, Dir: m.dir})
	m.logs[name], m.programs[name] = p.Log, p
	t.Cleanup(func() {
		if err := p.Terminate(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, p.Log)
		}
	})
	p.MustListen(t, m.address+":"+port)
}

// run runs a command line of one of our programs on the machine.
func (m *machine) run(t *testing.T, line string) (string, error) {
	t.Helper()
	words := strings.Fields(m.here(line))
	stdout, stderr, err := programtest.Output(t.Context(), programtest.Command{
		Path: filepath.Join(bin, words[0]), Args: words[1:], Env: m.env, Dir: m.dir,
	})
	return strings.TrimSpace(stdout + stderr), err
}

func (m *machine) must(t *testing.T, line string) string {
	t.Helper()
	out, err := m.run(t, line)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

// call sends a request: through Envoy for https, otherwise directly.
func (m *machine) call(t *testing.T, method, url, key, body string) (status int, response string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, m.here(url), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	client := m.client
	if strings.HasPrefix(url, "http:") {
		client = http.DefaultClient
	}
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range got.Header {
		if client == m.client && strings.HasPrefix(name, "X-Svc-Int-") {
			t.Errorf("%s %s: the client got the field %s", method, url, name)
		}
	}
	return got.StatusCode, string(text)
}

// startAll starts all units like systemctl start causeway.target, with a real Envoy.
func (m *machine) startAll(t *testing.T) {
	t.Helper()
	m.start(t, "core", "9080")
	m.start(t, "mle-filter", "9082")
	m.start(t, "compat-proxy", "9081")
	m.start(t, "edge", "9084")
	words, _ := m.unit(t, "envoy")
	m.envoy = envoytest.Start(t, words[2], "--service-node", "of-this-test")
	m.envoy.Wait(t, "does not listen", func() bool { return programtest.Listening(t.Context(), m.address+":8443") })
}

const payment = `{"amount": 1250, "currency": "usd", "payment_method": "card"}`

const legacyPayment = `<?xml version="1.0" encoding="utf-8"?>
<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">
<merchantAuthentication><name>shop</name><transactionKey>unused</transactionKey></merchantAuthentication>
<transactionRequest><transactionType>authCaptureTransaction</transactionType><amount>12.50</amount>
<payment><creditCard><cardNumber>4111111111111111</cardNumber>
<expirationDate>2031-04</expirationDate></creditCard></payment></transactionRequest></createTransactionRequest>`

// TestChain checks that the units take payments by every listener, and that each program logs the
// address of the client. Core rejects a payment that did not pass mle-filter. The health command of
// each program succeeds.
func TestChain(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.startAll(t)
	merchant := m.must(t, "core merchants create Shop --data /var/lib/causeway/core")
	key := m.must(t, "core keys create --data /var/lib/causeway/core --merchant "+merchant)
	for name, endpoint := range map[string]struct{ url, body, want string }{
		"v1":         {"https://api.example.com/v1/transactions", payment, `"status":"captured"`},
		"provider-a": {"https://api.example.com/compat/provider-a/xml", legacyPayment, "<responseCode>1</responseCode>"},
		"drop-in": {
			"https://api.example.com/xml/v1/request.api", strings.Replace(legacyPayment, "12.50", "12.51", 1),
			"<responseCode>1</responseCode>",
		},
	} {
		status, response := m.call(t, http.MethodPost, endpoint.url, key, endpoint.body)
		if status > 201 || !strings.Contains(response, endpoint.want) {
			t.Errorf("%s: got %d %s, want %s", name, status, response, endpoint.want)
		}
	}
	m.checkTraced(t, key)
	for url, want := range map[string]int{
		"https://api.example.com/v1/health":             200,
		"https://api.example.com/v1/mle/keys/current":   200,
		"https://api.example.com/v1/trust/fingerprints": 200,
		"https://trust.example.com/calendar.ics":        200,
		"https://api.example.com/admin/v1/merchants":    404,
		"https://api.example.com/metrics":               404,
		"http://127.0.0.1:9902/ready":                   200,
		"http://127.0.0.1:9902/config_dump":             404,
		"http://127.0.0.1:9902/quitquitquit":            404,
	} {
		if got, response := m.call(t, http.MethodGet, url, key, ""); got != want {
			t.Errorf("%s: got %d %s, want %d", url, got, response, want)
		}
	}
	m.checkAdministration(t)
	if status, response := m.call(t, http.MethodPost,
		"http://127.0.0.1:8080/v1/transactions", key, payment); status < 400 {
		t.Errorf("core accepted a request that did not pass mle-filter: %d %s", status, response)
	}
	for _, line := range []string{
		"core health --admin 127.0.0.1:9080", "mle-filter health --admin 127.0.0.1:9082",
		"compat-proxy health --admin 127.0.0.1:9081",
		"edge health --admin 127.0.0.1:9084", "edge check --config /etc/causeway/edge.yaml",
	} {
		m.must(t, line)
	}
	if out, err := m.run(t, "core health --admin 127.0.0.1:8081"); err == nil {
		t.Errorf("health of nothing: %s", out)
	}
}

// checkAdministration checks that only Envoy's user can connect to its administration.
func (m *machine) checkAdministration(t *testing.T) {
	t.Helper()
	socket, err := os.Stat(m.path(strings.TrimPrefix(administration, "unix:")))
	if err != nil || socket.Mode().Perm() != 0o600 {
		t.Errorf("Envoy's administration: got %v, %v, want a socket of mode 0600", socket, err)
	}
}

// TestPlaceholdersStartNothing checks that an installation with any placeholder secret does not
// start, and reports the reason.
func TestPlaceholdersStartNothing(t *testing.T) {
	t.Parallel()
	secrets := mustBuild(t, filepath.Join(root, "deploy/on/kubernetes/base")).secrets
	of := map[string]string{
		"vault-kek": "the vault's key-encryption key", "filter-secret": "filter secret", "filter-token": "filter token",
		"mle-kek":              "key-encryption key",
		"deduplication-secret": "deduplication_secret", "hop-secret": "CAUSEWAY_HOP_SECRET",
	}
	for secret, unit := range map[string]string{
		"vault-kek": "core", "filter-secret": "core", "filter-token": "core", "mle-kek": "mle-filter",
		"deduplication-secret": "compat-proxy", "hop-secret": "edge",
	} {
		t.Run(secret, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			placeholder := ""
			for _, s := range secrets {
				placeholder += string(s.Data[secret])
			}
			if !strings.Contains(placeholder, "CHANGE-ME") { // an empty file is refused for another reason
				t.Fatalf("the placeholder of %s is %q", secret, placeholder)
			}
			m.secret(t, secret, placeholder)
			words, env := m.unit(t, unit)
			stdout, stderr, err := programtest.Output(t.Context(),
				programtest.Command{Path: words[0], Args: words[1:], Env: env, Bare: true, Dir: m.dir})
			out := stdout + stderr
			if programtest.ExitCode(err) != 1 {
				t.Errorf("%s started with %s unchanged, or did not say so: %v\n%s", unit, secret, err, out)
			}
			if !strings.Contains(out, of[secret]) {
				t.Errorf("%s does not say that %s is wrong: %s", unit, secret, out)
			}
			if strings.Contains(out, "CHANGE-ME") {
				t.Errorf("%s shows the secret: %s", unit, out)
			}
		})
	}
}
