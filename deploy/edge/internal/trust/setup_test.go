package trust_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const day = 24 * time.Hour

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func sign(tb testing.TB, template *x509.Certificate, key crypto.Signer, by *authority) *x509.Certificate {
	tb.Helper()
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		tb.Fatal(err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func newKey(tb testing.TB) crypto.Signer {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func rsaKey(tb testing.TB) crypto.Signer {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func newAuthority(tb testing.TB, name string, by *authority) *authority {
	tb.Helper()
	key := newKey(tb)
	return &authority{sign(tb, &x509.Certificate{
		Subject:   pkix.Name{CommonName: name, Organization: []string{"Größe, Trust; \"Ltd\""}, Country: []string{"AT"}},
		NotBefore: birth.Add(-time.Hour),
		NotAfter:  birth.Add(3650 * day), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, key, by), key}
}

// issue returns a pair that is valid for 90 days from the given time. above are the authorities in
// its chain.
func (a *authority) issue(tb testing.TB, key crypto.Signer, from time.Time, above ...*authority) *certfile.Pair {
	tb.Helper()
	leaf := sign(tb, &x509.Certificate{
		Subject: pkix.Name{CommonName: "api.example.com"}, NotBefore: from, NotAfter: from.Add(90 * day),
		DNSNames:    []string{"api.example.com", "trust.example.com"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key, a)
	p := &certfile.Pair{Certificate: tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}}
	for _, up := range above {
		p.Certificate.Certificate = append(p.Certificate.Certificate, up.cert.Raw)
	}
	return p
}

func sum(p *certfile.Pair) string {
	s := sha256.Sum256(p.Certificate.Certificate[0])
	return hex.EncodeToString(s[:])
}

// published is a publisher with a clock and an authority.
type published struct {
	*trust.Publisher
	cfg   trust.Config
	clock *clock.Fake
	ca    *authority
}

func begin(tb testing.TB, change ...func(*trust.Config)) *published {
	tb.Helper()
	c := clock.NewFake(birth)
	cfg := trust.Config{
		Folder: filepath.Join(tb.TempDir(), "edge"), Hosts: []string{"api.example.com", "trust.example.com"},
		URL: "https://trust.example.com/", Ahead: day, Clock: c,
	}
	for _, f := range change {
		f(&cfg)
	}
	s := &published{cfg: cfg, clock: c, ca: newAuthority(tb, "Test CA", nil)}
	s.open(tb)
	return s
}

// open opens the history, or reopens it like a restart.
func (s *published) open(tb testing.TB) {
	tb.Helper()
	publisher, err := trust.Open(s.cfg)
	if err != nil {
		tb.Fatal(err)
	}
	s.Publisher = publisher
}

func (s *published) pair(tb testing.TB) *certfile.Pair {
	tb.Helper()
	return s.ca.issue(tb, newKey(tb), s.clock.Now(), s.ca)
}

func (s *published) live(tb testing.TB, pairs ...*certfile.Pair) {
	tb.Helper()
	if err := s.Live(context.Background(), pairs...); err != nil {
		tb.Fatal(err)
	}
}

func (s *published) next(tb testing.TB, at time.Time, pairs ...*certfile.Pair) {
	tb.Helper()
	if err := s.Next(context.Background(), at, pairs...); err != nil {
		tb.Fatal(err)
	}
}

// replan does the periodic update of the planned rotation.
func (s *published) replan(tb testing.TB) {
	tb.Helper()
	if err := s.Replan(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// get sends a request to the handler.
func (s *published) get(tb testing.TB, path string,
	fields ...string,
) (response *httptest.ResponseRecorder, body string) {
	tb.Helper()
	return s.do(tb, http.MethodGet, path, fields...)
}

func (s *published) do(tb testing.TB, method, path string,
	fields ...string,
) (response *httptest.ResponseRecorder, body string) {
	tb.Helper()
	response = httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), method, path, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	s.Handler().ServeHTTP(response, r)
	return response, response.Body.String()
}

func (s *published) fingerprints(tb testing.TB) (out v1.TrustFingerprints) {
	tb.Helper()
	_, body := s.get(tb, "/v1/trust/fingerprints")
	if err := json.Unmarshal([]byte(body), &out, json.RejectUnknownMembers(true)); err != nil {
		tb.Fatal(err)
	}
	return out
}

// event is an event of the calendar, as the icalendar library reads it.
type event struct {
	UID, Status, Summary, Description, URL string
	Sequence                               int
	Stamp, Start, End                      string
	Categories                             []string
}

type calendar struct {
	Name, Method, Source, Version string
	RefreshSeconds                float64 `json:"refresh_seconds"`
	Events                        []event
	text                          string
}

// calendar reads the calendar with an independent library.
func (s *published) calendar(tb testing.TB) (out calendar) {
	tb.Helper()
	_, out.text = s.get(tb, "/calendar.ics")
	cmd := exec.CommandContext(context.Background(), "python3", "calendartest/read.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+programtest.MustInstallPython(tb, "icalendar", "calendartest"))
	cmd.Stdin = strings.NewReader(out.text)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	read, err := cmd.Output()
	if err != nil {
		tb.Fatalf("read the calendar: %v\n%s\n%s", err, &stderr, out.text)
	}
	if err := json.Unmarshal(read, &out, json.MatchCaseInsensitiveNames(true)); err != nil {
		tb.Fatal(err)
	}
	return out
}

// raw returns the text of each event, by UID.
func (c calendar) raw() map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(c.text, "BEGIN:VEVENT\r\n")[1:] {
		uid, _, _ := strings.Cut(strings.ReplaceAll(part, "\r\n ", ""), "\r\n")
		body, _, _ := strings.Cut(part, "END:VEVENT\r\n")
		out[strings.TrimPrefix(uid, "UID:")] = body
	}
	return out
}
