package edge_test

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/edge/acmetest"
	"github.com/causeway-pay/causeway/deploy/test/hook"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// underLoad returns the least number of requests during the rotations. None may fail.
func underLoad() int64 {
	if programtest.Soak() {
		return 10_000
	}
	return 2000
}

// TestEdgeRotation replaces the certificate under load: twice from files, and once from an ACME
// authority, for which the edge restarts. Each time the published fingerprints must equal openssl's
// for the certificate of a handshake.
func TestEdgeRotation(t *testing.T) {
	t.Parallel()
	r := newDeployment(t)
	authority := acmetest.New(t, acmetest.Options{Address: net.ParseIP(r.ip), HTTP: 8080, TLS: 8443})
	if !r.roots.AppendCertsFromPEM(authority.RootsPEM(t)) {
		t.Fatal("the authority has no root")
	}
	certtest.Replace(t, r.path("acme-ca.pem"), authority.TrustPEM())
	first := r.serve(t)
	r.awaitLive(t, first.Leaf)
	hooks := r.receive(t)
	l := r.load(t, 3)
	before := r.calendar(t)
	if again := r.calendar(t); again.text != before.text {
		t.Errorf("nothing happened, and the calendar changed:\n%s\n%s", before.text, again.text)
	}
	live := []*x509.Certificate{first.Leaf}
	for range 2 {
		next := r.install(t)
		r.shows(t, next.Leaf)
		r.awaitLive(t, next.Leaf)
		live = append(live, next.Leaf)
	}
	byFile := r.calendar(t)
	r.configure(t, r.folder(), "tls: {minimum_version: '1.3'}", r.ip)
	programtest.WaitFor(t, "the changed policy is announced", func() bool {
		return len(hooks.Of(t, "tls.cipher_policy.changed")) == 1
	})

	r.edge.Stop(t)
	r.configure(t, fmt.Sprintf(`{publish_ahead: 0s, acme: {directory: %q, ca: %s, listen: "unix:%s"}}`,
		authority.Directory(), r.path("acme-ca.pem"), r.path("acme.sock")),
		"tls: {minimum_version: '1.3'}")
	r.startEdge(t)
	var last *x509.Certificate
	programtest.WaitFor(t, "a new handshake shows the authority's certificate", func() bool {
		var err error
		last, err = r.leaf(t)
		return err == nil && strings.Contains(last.Issuer.CommonName, "Pebble")
	})
	r.awaitLive(t, last)
	live = append(live, last)
	l.check(t, underLoad())
	r.checkCalendars(t, before, byFile, r.calendar(t))
	checkHooks(t, hooks, live)
}

// awaitLive waits until a certificate is published as live, and compares the published fingerprints
// with openssl's.
func (r *deployment) awaitLive(t *testing.T, leaf *x509.Certificate) {
	t.Helper()
	client, want := r.client(t, nil), openssl(t, leaf)
	var got v1.TrustFingerprints
	programtest.WaitFor(t, "the certificate is published as live", func() bool {
		a := send(t, client, http.MethodGet, "https://"+trustHost+"/v1/trust/fingerprints", "")
		got = v1.TrustFingerprints{}
		return a.status == http.StatusOK && json.Unmarshal([]byte(a.body), &got) == nil && len(got.Current) == 1 &&
			got.Current[0].CertificateSha256 == want.fingerprint
	})
	if c := got.Current[0]; c.SpkiSha256 != want.spki || !strings.Contains(c.Pins.Curl, want.spki) || len(got.Next) != 0 {
		t.Errorf("published %+v, openssl prints %+v", c, want)
	}
}

// calendar is the calendar of the trust host, with its events by UID.
type calendar struct {
	text   string
	events map[string]string
}

func (r *deployment) calendar(t *testing.T) calendar {
	t.Helper()
	got := send(t, r.client(t, nil), http.MethodGet, "https://"+trustHost+"/calendar.ics", "")
	if got.status != http.StatusOK {
		t.Fatalf("calendar: %d %s", got.status, got.body)
	}
	c := calendar{got.body, map[string]string{}}
	for _, event := range strings.Split(got.body, "BEGIN:VEVENT\r\n")[1:] {
		event, _, _ = strings.Cut(event, "END:VEVENT")
		_, uid, _ := strings.Cut(event, "UID:")
		uid, _, _ = strings.Cut(uid, "\r\n")
		c.events[uid] = event
	}
	return c
}

// checkCalendars fails the test unless past events keep their bytes in every later calendar, and an
// independent library reads the last calendar.
func (r *deployment) checkCalendars(t *testing.T, before, byFile, last calendar) {
	t.Helper()
	kept := 0
	for uid, event := range byFile.events {
		if !strings.Contains(event, "SUMMARY:TLS certificate changed on") {
			continue
		}
		kept++
		if last.events[uid] != event {
			t.Errorf("%s was %q and is %q", uid, event, last.events[uid])
		}
	}
	if kept != 2 || len(before.events) != 1 {
		t.Errorf("events: got %v, then %v", before.events, byFile.events)
	}
	folder, err := filepath.Abs("../../edge/internal/trust/calendartest")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", filepath.Join(folder, "read.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+programtest.MustInstallPython(t, "icalendar", folder),
		"PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin, cmd.Stderr = strings.NewReader(last.text), os.Stderr
	var read struct {
		Events []struct {
			UID     string `json:"uid"`
			Summary string `json:"summary"`
		} `json:"events"`
	}
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(out), &read)
	}
	if err != nil {
		t.Fatalf("the library cannot read the calendar: %v\n%s", err, last.text)
	}
	past, policy := 0, 0
	for _, e := range read.Events {
		if strings.HasPrefix(e.Summary, "TLS certificate changed on") {
			past++
		} else if !strings.HasPrefix(e.Summary, "TLS certificate changes on") {
			policy++
		}
		if last.events[e.UID] == "" {
			t.Errorf("the library reads an event %q of which we know nothing", e.UID)
		}
	}
	if past != 3 || policy != 1 || len(read.Events) != len(last.events) {
		t.Errorf("read %+v", read)
	}
	t.Logf("%d events, %d of rotations, %d of the policy", len(read.Events), past, policy)
}

// checkHooks fails the test unless each rotation has one signed event, in order, and the cipher
// policy's change has one.
func checkHooks(t *testing.T, hooks *hook.Receiver, live []*x509.Certificate) {
	t.Helper()
	programtest.WaitFor(t, "every rotation is delivered", func() bool {
		return len(hooks.Of(t, "certificate.rotated")) >= len(live)-1
	})
	rotated, seen := hooks.Of(t, "certificate.rotated"), map[string]bool{}
	if len(rotated) != len(live)-1 {
		t.Errorf("certificate.rotated: got %d, want %d", len(rotated), len(live)-1)
	}
	for _, d := range append(rotated, hooks.Of(t, "tls.cipher_policy.changed")...) {
		if !d.Verified || seen[d.ID] {
			t.Errorf("got %+v", d)
		}
		seen[d.ID] = true
	}
	for i, leaf := range live[1:] {
		if i < len(rotated) && !strings.Contains(rotated[i].Body, openssl(t, leaf).fingerprint) {
			t.Errorf("rotation %d: got %s", i, rotated[i].Body)
		}
	}
	if d := hooks.Of(t, "tls.cipher_policy.changed"); len(d) != 1 ||
		!strings.Contains(d[0].Body, `"removed":{"versions":["1.2"]`) {
		t.Errorf("tls.cipher_policy.changed: got %+v", d)
	}
}
