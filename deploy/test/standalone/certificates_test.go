package standalone_test

import (
	"context"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/hook"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// handshake returns the fingerprint of the leaf in a handshake with the process.
func handshake(t *testing.T, p *process, roots *x509.CertPool) string {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{RootCAs: roots}}
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.HTTPS, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only the handshake matters
	sum := sha256.Sum256(c.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	return hex.EncodeToString(sum[:])
}

// fetch reads a public document.
func fetch(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	return fetchWith(t.Context(), t, client, url)
}

func fetchWith(ctx context.Context, t *testing.T, client *http.Client, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", url, response.StatusCode, body, err)
	}
	return string(body)
}

func fingerprints(t *testing.T, p *process) (out v1.TrustFingerprints) {
	t.Helper()
	if err := json.Unmarshal([]byte(fetch(t, http.DefaultClient, p.HTTP+"/v1/trust/fingerprints")), &out,
		json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTrust compares the published development certificate with the one of a handshake, on both
// listeners. A restart changes neither.
func TestTrust(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	pem, err := os.ReadFile(p.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	got := fingerprints(t, p)
	if len(got.Current) != 1 || got.Current[0].CertificateSha256 != handshake(t, p, roots) || len(got.IssuingCas) != 1 ||
		!strings.HasPrefix(got.IssuingCas[0].Subject, "CN=Causeway development CA") ||
		got.CalendarURL != p.HTTPS+"/v1/trust/calendar.ics" || got.Rotation == nil ||
		got.Rotation.Status != v1.TrustRotationStatusPlanned {
		t.Errorf("got %+v", got)
	}
	calendar := fetch(t, trusting(t, p, &tls.Config{RootCAs: roots}), got.CalendarURL)
	if !strings.Contains(calendar, "UID:tls-"+got.Rotation.ID+"-live@127.0.0.1\r\n") {
		t.Errorf("got %s", calendar)
	}
	if index := fetch(t, http.DefaultClient, p.HTTP+"/v1/trust"); !strings.Contains(index,
		`"tls_policy":{"versions":["1.2","1.3"]`) {
		t.Errorf("got %s", index)
	}
	p.Stop(t)
	p = start(t, dir)
	if again := fingerprints(t, p); again.Rotation.ID != got.Rotation.ID ||
		!again.Rotation.EffectiveAt.Equal(got.Rotation.EffectiveAt.Time) {
		t.Errorf("after a restart: got %+v, want %+v", again.Rotation, got.Rotation)
	}
	if events := platformEvents(t, p); len(events) != 0 {
		t.Errorf("events: got %+v, want none: nothing rotated", events)
	}
}

// TestOwnCertificates serves a user's pair, then another one after its files are written, without a
// restart or a lost connection. An invalid pair is not served, and the log has the reason.
// Merchants get one event of the rotation, by a webhook that the official library verifies. They
// also get one of the policy that another release changed.
func TestOwnCertificates(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	ca := certtest.Root(t)
	middle := ca.Intermediate(t)
	middle.Issue(t).Write(t, folder, "server")
	p := startNew(t, nil, dir, "--certificates", folder, allowPrivate)
	if p.CA != "" || !strings.HasPrefix(p.HTTPS, "https://localhost:") {
		t.Errorf("ready: got CA %q and %s", p.CA, p.HTTPS)
	}
	before := fingerprints(t, p)
	if first := handshake(t, p, ca.Pool()); before.Current[0].CertificateSha256 != first ||
		before.IssuingCas[0].Subject != middle.Certificate.Subject.String() {
		t.Errorf("published %+v, served %s", before.Current, first)
	}
	kept := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}}}
	t.Cleanup(kept.CloseIdleConnections)
	fetch(t, kept, p.HTTPS+"/v1/health")

	m, receiver := merchantOf(t, p), hook.Start(t)
	receiver.Trust(t, m.hook(t, receiver.URL).Secret.Reveal())
	next := middle.IssueFor(t, certtest.ECDSA(t, elliptic.P256()))
	files := next.Write(t, folder, "server")
	programtest.WaitFor(t, "the new certificate is published", func() bool {
		return fingerprints(t, p).Current[0].CertificateSha256 != before.Current[0].CertificateSha256
	})
	now := fingerprints(t, p)
	wantServed(t, p, ca.Pool(), now)
	wantKept(t, kept, p)
	programtest.WaitFor(t, "the webhook is there", func() bool { return len(receiver.All(t)) == 1 })
	checkRotated(t, receiver.All(t)[0], before, now)
	if err := os.WriteFile(files.Key, certtest.Root(t).Issue(t).KeyPEM(t), 0o600); err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "the bad pair is refused", func() bool {
		return strings.Contains(p.Log.String(), "is not the key of the certificate")
	})
	wantServed(t, p, ca.Pool(), now)
	next.Write(t, folder, "server")
	p.Stop(t)
	olderPolicy(t, dir)
	p = start(t, dir, "--certificates", folder, allowPrivate)
	programtest.WaitFor(t, "the changed policy is published", func() bool { return len(receiver.All(t)) == 2 })
	checkPolicyChanged(t, receiver.All(t)[1])
	if events := platformEvents(t, p); len(events) != 2 {
		t.Errorf("events: got %d, want one of each kind", len(events))
	}
}

// wantKept checks that a client's connection is still open.
func wantKept(t *testing.T, client *http.Client, p *process) {
	t.Helper()
	reused := false
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused },
	})
	if fetchWith(traced, t, client, p.HTTPS+"/v1/health"); !reused {
		t.Error("the rotation has closed a connection")
	}
}

// wantServed checks that the certificate of a handshake is the present one, and still published.
func wantServed(t *testing.T, p *process, roots *x509.CertPool, want v1.TrustFingerprints) {
	t.Helper()
	served, published := handshake(t, p, roots), fingerprints(t, p).Current[0].CertificateSha256
	if want := want.Current[0].CertificateSha256; served != want || published != want {
		t.Errorf("served %s, published %s, want %s", served, published, want)
	}
}

// checkPolicyChanged checks that a delivery has the change from the policy of olderPolicy.
func checkPolicyChanged(t *testing.T, delivery hook.Delivery) {
	t.Helper()
	if !delivery.Verified || !strings.Contains(delivery.Body, `"type":"tls.cipher_policy.changed"`) ||
		!strings.Contains(delivery.Body, `"removed":{"versions":[],"cipher_suites":["TLS_OLD"]`) {
		t.Errorf("got %+v", delivery)
	}
}

// checkRotated checks that a delivery has the rotation from one state to another.
func checkRotated(t *testing.T, delivery hook.Delivery, before, now v1.TrustFingerprints) {
	t.Helper()
	var event struct {
		Type string
		Data struct{ Object v1.CertificateRotation }
	}
	if err := json.Unmarshal([]byte(delivery.Body), &event, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	o := event.Data.Object
	if !delivery.Verified || event.Type != "certificate.rotated" || o.Rotation != before.Rotation.ID ||
		o.Previous[0].CertificateSha256 != before.Current[0].CertificateSha256 ||
		o.Current[0].CertificateSha256 != now.Current[0].CertificateSha256 ||
		*o.Current[0].IssuerSpkiSha256 != before.IssuingCas[0].SpkiSha256 {
		t.Errorf("got %+v", delivery)
	}
}

// olderPolicy changes the history as if another release had allowed one more suite.
func olderPolicy(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "edge", "trust.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), `"cipher_suites": [`, `"cipher_suites": ["TLS_OLD",`, 1)
	if changed == string(data) {
		t.Fatalf("no suites in %s", data)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOwnCertificatesRefused checks that a start with an invalid pair reports the reason.
func TestOwnCertificatesRefused(t *testing.T) {
	t.Parallel()
	empty, bad := t.TempDir(), t.TempDir()
	files := certtest.Root(t).Issue(t).Write(t, bad, "server")
	if err := os.WriteFile(files.Key, certtest.Root(t).Issue(t).KeyPEM(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		empty: "contains no *.crt", bad: "is not the key of the certificate",
		filepath.Join(empty, "none"): "no such file",
	} {
		stdout, stderr, code := output(t, "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0",
			"--certificates", folder)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "--certificates "+folder) ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q, want %q", folder, code, stdout, stderr, want)
		}
	}
}

// TestTrustHistoryThatCannotBeRead checks that an unreadable history stops the start.
func TestTrustHistoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, dir).Stop(t)
	path := filepath.Join(dir, "edge", "trust.json")
	if err := os.WriteFile(path, []byte("spilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := output(t, "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
	if left, err := os.ReadFile(path); code != 1 || !strings.Contains(stderr, path) || err != nil ||
		string(left) != "spilt" {
		t.Errorf("exit code %d, %q, the file holds %q", code, stderr, left)
	}
}

// platformEvents returns the events about the platform, without the ones about the merchant's own
// objects.
func platformEvents(t *testing.T, p *process) []v1.Event {
	t.Helper()
	return slices.DeleteFunc(merchantOf(t, p).events(t), func(e v1.Event) bool {
		return strings.HasPrefix(string(e.Type), "api_key.")
	})
}
