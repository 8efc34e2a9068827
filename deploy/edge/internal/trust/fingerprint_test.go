package trust_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// openssl runs a command line with a certificate as its input.
func openssl(t *testing.T, der []byte, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "set -e; "+line)
	cmd.Stdin = bytes.NewReader(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSpace(string(out))
}

// check compares the published form of a certificate with openssl's output.
func check(t *testing.T, got v1.TrustCertificate, der []byte) {
	t.Helper()
	const spki = "openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | " +
		"openssl base64"
	_, colons, _ := strings.Cut(openssl(t, der, "openssl x509 -noout -fingerprint -sha256"), "=")
	_, serial, _ := strings.Cut(openssl(t, der, "openssl x509 -noout -serial"), "=")
	pin := openssl(t, der, spki)
	x5t := openssl(t, der,
		"openssl x509 -outform DER | openssl dgst -sha256 -binary | openssl base64 | tr +/ -_ | tr -d =")
	for name, pair := range map[string][2]string{
		"fingerprint": {got.CertificateSha256Colons, colons},
		"hex":         {got.CertificateSha256, strings.ToLower(strings.ReplaceAll(colons, ":", ""))},
		"x5t#S256":    {got.X5TS256, x5t}, "SPKI": {got.SpkiSha256, pin}, "curl": {got.Pins.Curl, "sha256//" + pin},
		"OkHttp":   {got.Pins.Okhttp, "sha256/" + pin},
		"RFC 7469": {got.Pins.Rfc7469, `pin-sha256="` + pin + `"`},
		"Android":  {got.Pins.Android, `<pin digest="SHA-256">` + pin + `</pin>`},
		"Apple":    {got.Pins.Apple, "<key>SPKI-SHA256-BASE64</key><string>" + pin + "</string>"},
		"serial":   {strings.TrimLeft(got.SerialNumber, "0"), strings.TrimLeft(serial, "0")},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %s, openssl prints %s", name, pair[0], pair[1])
		}
	}
	for name, at := range map[string]time.Time{"-enddate": got.NotAfter.Time, "-startdate": got.NotBefore.Time} {
		if _, date, _ := strings.Cut(openssl(t, der, "openssl x509 -noout "+name),
			"="); at.Format("Jan _2 15:04:05 2006 GMT") != date {
			t.Errorf("%s: got %s, openssl prints %s", name, at, date)
		}
	}
}

// TestFingerprints compares the published ECDSA and RSA leaves, present and next, and an
// intermediate authority with openssl's output.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	s := begin(t)
	middle := newAuthority(t, "Intermediate", s.ca)
	first, second := middle.issue(t, rsaKey(t), birth, middle, s.ca), middle.issue(t, newKey(t), birth, middle, s.ca)
	s.live(t, first, second)
	after := s.ca.issue(t, newKey(t), birth, s.ca)
	s.next(t, birth.Add(day), after)
	got := s.fingerprints(t)
	if len(got.Current) != 2 || len(got.Next) != 1 || len(got.IssuingCas) != 2 {
		t.Fatalf("got %+v", got)
	}
	for i, want := range []*x509.Certificate{second.Certificate.Leaf, first.Certificate.Leaf} { // ECDSA first
		check(t, got.Current[i], want.Raw)
		if pin := openssl(t, middle.cert.Raw,
			"openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | "+
				"openssl base64"); *got.Current[i].IssuerSpkiSha256 != pin {
			t.Errorf("issuer: got %s, want %s", *got.Current[i].IssuerSpkiSha256, pin)
		}
	}
	check(t, got.Next[0], after.Certificate.Leaf.Raw)
	for _, ca := range []*authority{middle, s.ca} {
		i := slices.IndexFunc(got.IssuingCas, func(c v1.TrustCertificate) bool {
			return c.Subject == ca.cert.Subject.String()
		})
		check(t, got.IssuingCas[i], ca.cert.Raw)
	}
	if c := got.Current[0]; c.KeyAlgorithm != "ECDSA P-256" || c.Subject != "CN=api.example.com" ||
		!slices.Equal(c.Names, s.cfg.Hosts) || !strings.Contains(c.Issuer, "CN=Intermediate") {
		t.Errorf("got %+v", c)
	}
	if got.Current[1].KeyAlgorithm != "RSA 2048" || got.Rotation.Status != v1.TrustRotationStatusAnnounced ||
		!got.Rotation.EffectiveAt.Equal(birth.Add(day)) ||
		got.CalendarURL != "https://trust.example.com/calendar.ics" || !strings.Contains(got.Advice, "backup") {
		t.Errorf("got %+v", got)
	}
}

// TestIssuerFromOutside checks that an authority missing in the chain is published if it is
// configured. A certificate with only the same name is not taken for it.
func TestIssuerFromOutside(t *testing.T) {
	t.Parallel()
	impostor := newAuthority(t, "Test CA", nil)
	s := begin(t)
	s.cfg.Authorities = []*x509.Certificate{impostor.cert}
	s.open(t)
	s.live(t, s.ca.issue(t, newKey(t), birth))
	if got := s.fingerprints(t); len(got.IssuingCas) != 0 || got.Current[0].IssuerSpkiSha256 != nil {
		t.Errorf("got %+v", got)
	}
	s.cfg.Authorities = append(s.cfg.Authorities, s.ca.cert)
	s.open(t)
	s.live(t, s.ca.issue(t, newKey(t), birth))
	if got := s.fingerprints(t); len(got.IssuingCas) != 1 ||
		*got.Current[0].IssuerSpkiSha256 != got.IssuingCas[0].SpkiSha256 {
		t.Errorf("got %+v", got)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.live(t, s.pair(t))
	kinds := map[string]string{
		"/v1/trust": "application/json", "/v1/trust/fingerprints": "application/json",
		"/v1/trust/calendar.ics": "text/calendar; charset=utf-8", "/calendar.ics": "text/calendar; charset=utf-8",
	}
	for path, kind := range kinds {
		response, body := s.get(t, path)
		h := response.Header()
		if response.Code != 200 || h.Get("Content-Type") != kind ||
			!strings.HasPrefix(h.Get("Cache-Control"), "public, max-age=") || len(h.Get("Request-Id")) != 17 {
			t.Errorf("%s: got %d %v", path, response.Code, h)
		}
		if head, empty := s.do(t, http.MethodHead, path); head.Code != 200 || empty != "" ||
			head.Header().Get("Content-Length") != h.Get("Content-Length") || head.Header().Get("ETag") != h.Get("ETag") {
			t.Errorf("HEAD %s: got %d %v %q", path, head.Code, head.Header(), empty)
		}
		for tags, want := range map[string]int{
			h.Get("ETag"): 304, `"other", W/` + h.Get("ETag"): 304, "*": 304,
			`"other"`: 200,
		} {
			if again, text := s.get(t, path, "If-None-Match", tags); again.Code != want || (want == 304) != (text == "") ||
				want == 200 && text != body {
				t.Errorf("%s with %s: got %d, want %d", path, tags, again.Code, want)
			}
		}
		if post, refused := s.do(t, http.MethodPost, path); post.Code != 405 || post.Header().Get("Allow") != "GET, HEAD" ||
			post.Header().Get("Cache-Control") != "no-store" ||
			!strings.Contains(refused, `"code":"method_not_allowed"`) ||
			!strings.Contains(refused, post.Header().Get("Request-Id")) {
			t.Errorf("POST %s: got %d %v %s", path, post.Code, post.Header(), refused)
		}
	}
	for _, path := range []string{"/v1/trust/", "/v1/trust/other", "/", "/v1/transactions", "/v1/trust/fingerprints/"} {
		if response, body := s.get(t, path); response.Code != 404 ||
			!strings.Contains(body, `"type":"invalid_request_error","code":"route_not_found"`) ||
			!strings.Contains(body, `"doc_url":"/docs#error-route_not_found"`) {
			t.Errorf("%s: got %d %s", path, response.Code, body)
		}
	}
	before, _ := s.get(t, "/v1/trust/fingerprints")
	s.live(t, s.pair(t))
	if response, _ := s.get(t, "/v1/trust/fingerprints", "If-None-Match",
		before.Header().Get("ETag")); response.Code != 200 {
		t.Errorf("after a rotation: got %d, want another state", response.Code)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	good := trust.Config{Folder: t.TempDir(), Hosts: []string{"a.example"}, URL: "https://a.example"}
	for name, change := range map[string]func(*trust.Config){
		"no folder":  func(c *trust.Config) { c.Folder = "" },
		"no hosts":   func(c *trust.Config) { c.Hosts = nil },
		"plain HTTP": func(c *trust.Config) { c.URL = "http://a.example" },
		"no host":    func(c *trust.Config) { c.URL = "https:///x" },
		"a query":    func(c *trust.Config) { c.URL = "https://a.example/?x" },
	} {
		cfg := good
		change(&cfg)
		if _, err := trust.Open(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := trust.Open(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Live(context.Background()); err == nil {
		t.Error("nothing is served: no error")
	}
}

// TestAPIVersion checks that a page names the version of v1, and that a request for another one is
// refused.
func TestAPIVersion(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.live(t, s.pair(t))
	for version, want := range map[string]int{"2026-11-01": 200, "2026-11-02": 400} {
		response, body := s.get(t, "/v1/trust", "Causeway-Version", version)
		if response.Code != want || response.Header().Get("Causeway-Version") != "2026-11-01" ||
			(want == 400) != strings.Contains(body, `"code":"unknown_version"`) {
			t.Errorf("version %s: got %d %v %s, want %d", version, response.Code, response.Header(), body, want)
		}
	}
}
