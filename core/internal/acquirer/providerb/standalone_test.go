package providerb_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// standalone is a running standalone: a host of provider-b, and the system that shows what moved.
type standalone struct {
	HTTP, HTTPS, CA string
	Keys            struct {
		SKTest string `json:"sk_test"`
	}
	ProviderB struct {
		MerchantID   string `json:"merchant_id"`
		KeyID        string `json:"key_id"`
		SharedSecret string `json:"shared_secret"`
	} `json:"provider_b"`
}

func startStandalone(t *testing.T) *standalone {
	t.Helper()
	out := &programtest.Log{}
	p := programtest.Start(t, programtest.Command{
		Path: filepath.Join(programtest.MustPrograms(t, "standalone"), "standalone"), Stdout: out,
		Args: []string{
			"--json", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--rate-limit", "0",
		},
	})
	line, err := p.Line(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &standalone{}
	if err := json.Unmarshal([]byte(line), s, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return s
}

// connect returns a connector to provider-b at a base address.
func (s *standalone) connect(t *testing.T, base, auth string) *providerb.Connector {
	t.Helper()
	return s.connectBy(t, base, auth, nil)
}

// connectBy is connect with a clock.
func (s *standalone) connectBy(t *testing.T, base, auth string, at clock.Clock) *providerb.Connector {
	t.Helper()
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	host, err := upstream.New(upstream.Config{BaseURL: base + "/compat/provider-b", Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	c, err := providerb.New(providerb.Config{
		MerchantID: s.ProviderB.MerchantID, KeyID: s.ProviderB.KeyID, SharedSecret: secret.New(s.ProviderB.SharedSecret),
		Auth: auth, Upstream: host, Clock: at, Missing: acquirertest.NewMissing(at),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read reads an object of v1, by its number at provider-b.
func read[T any](t *testing.T, s *standalone, kind id.Prefix, path, number string) T {
	t.Helper()
	name, err := id.Decimal(kind, number)
	if err != nil {
		t.Fatal(err)
	}
	return get[T](t, s, path+name)
}

func get[T any](t *testing.T, s *standalone, path string) T {
	t.Helper()
	var into T
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.HTTP+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Keys.SKTest)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.UnmarshalRead(response.Body, &into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: HTTP %d, %v", path, response.StatusCode, err)
	}
	return into
}

// moved checks the amounts of a payment in v1: authorized, captured and refunded.
func (s *standalone) moved(
	t *testing.T, what, number string, status v1.TransactionStatus, amounts ...int64,
) v1.Transaction {
	t.Helper()
	p := read[v1.Transaction](t, s, id.Transaction, "/v1/transactions/", number)
	got := []int64{p.AmountAuthorized, p.AmountCaptured, p.AmountRefunded}
	if p.Status != status || fmt.Sprint(got) != fmt.Sprint(amounts) {
		t.Errorf("%s: v1 has %s %v, want %s %v", what, p.Status, got, status, amounts)
	}
	return p
}

// account sends commands to a connector, and gives each a new reference.
type account struct {
	*standalone
	*providerb.Connector
}

// timed is an account whose clock a test moves.
type timed struct {
	account
	clock *clock.Fake
}

func (s *standalone) timed(t *testing.T, base string) *timed {
	t.Helper()
	at := clock.NewFake(clock.System().Now())
	return &timed{account{s, s.connectBy(t, base, providerb.AuthSignature, at)}, at}
}

// pass lets time pass, which the tags and signatures do not show.
func (a *timed) pass(d time.Duration) {
	a.clock.Advance(d)
	a.clock.Step(-d)
}

var references atomic.Int64

func newReference() string { return fmt.Sprintf("ref_%d", references.Add(1)) }

func (a *account) tag(t *testing.T) string {
	t.Helper()
	tag, err := a.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

// payment returns a payment with a Visa card.
func payment(amount int64, capture bool) acquirer.Authorize {
	return acquirer.Authorize{
		Reference: newReference(), Amount: amount, Currency: "usd", Capture: capture,
		Source: acquirer.Source{Card: acquirer.Card{Number: secret.New("4242424242424242"), ExpMonth: 12, ExpYear: 2030}},
	}
}

func (a *account) authorize(t *testing.T, r acquirer.Authorize) (acquirer.Sent, acquirer.Response) {
	t.Helper()
	r.Tag = a.tag(t)
	got, err := a.Authorize(t.Context(), r)
	if err != nil {
		t.Fatalf("authorize: %v", err)
	}
	kind := acquirer.Authorization
	if r.Capture {
		kind = acquirer.Sale
	}
	return acquirer.Sent{
		Kind: kind, Reference: r.Reference, Tag: r.Tag, ID: got.ID, Amount: r.Amount, Currency: r.Currency,
	}, got
}

// follow sends a step, which must have the outcome.
func (a *account) follow(
	t *testing.T, send func(context.Context, acquirer.Follow) (acquirer.Response, error), r acquirer.Follow, want bool,
) acquirer.Sent {
	t.Helper()
	r.Reference, r.Tag, r.Currency = newReference(), a.tag(t), r.Original.Currency
	got, err := send(t.Context(), r)
	if err != nil || got.Approved != want || want && got.Amount != r.Amount {
		t.Fatalf("got %+v and %v, want approved %t of %d", got, err, want, r.Amount)
	}
	return acquirer.Sent{Reference: r.Reference, Tag: r.Tag, ID: got.ID, Amount: r.Amount, Currency: r.Currency}
}

// take sends a capture, which must be approved.
func (a *account) take(t *testing.T, r acquirer.Follow) acquirer.Sent {
	t.Helper()
	taken := a.follow(t, a.Capture, r, true)
	taken.Kind = acquirer.Capture
	return taken
}

// TestStandalone sends every command to provider-b of a running standalone. After each
// one, v1 of that standalone must show the effect.
func TestStandalone(t *testing.T) {
	t.Parallel()
	s := startStandalone(t)
	a := &account{s, s.connect(t, s.HTTPS, providerb.AuthSignature)}
	token := &account{s, s.connect(t, s.HTTP, providerb.AuthJWT)}
	for name, test := range map[string]func(*testing.T, *account){
		"captures": captures, "sales": sales, "voids": voids, "declines": declines, "sources": sources,
		"data": data, "partial": partial, "credits": credits, "details": details, "reports": reports,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
	t.Run("JWT", func(t *testing.T) {
		t.Parallel()
		captures(t, token)
	})
	t.Run("check", func(t *testing.T) {
		t.Parallel()
		wrong := *s
		wrong.ProviderB.SharedSecret = "d3Jvbmc="
		c := wrong.connect(t, s.HTTPS, "")
		for _, good := range []*account{a, token} {
			if err := good.Check(t.Context()); err != nil {
				t.Errorf("good credentials: got %v", err)
			}
		}
		if err := c.Check(t.Context()); !errors.Is(err, acquirer.ErrLogin) {
			t.Errorf("wrong credentials: got %v, want %v", err, acquirer.ErrLogin)
		}
		if _, err := c.Authorize(t.Context(), payment(100, true)); !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("a payment with wrong credentials: got %v, want %v", err, acquirer.ErrUnavailable)
		}
	})
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		lost(t, s)
	})
	t.Run("planted", func(t *testing.T) {
		t.Parallel()
		planted(t, s)
	})
}
