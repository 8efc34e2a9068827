package acquirertest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Approval is the provider's response to the payment that BenchmarkAuthorize sends.
type Approval struct {
	Status int
	Type   string // the media type
	Body   string
}

// Payment returns the payment of BenchmarkAuthorize: a card with a security code, a payer with an
// address, and the merchant's name for the payment.
func Payment() acquirer.Authorize {
	return acquirer.Authorize{
		Reference: "txn_01jd8m3k2q4r5", Tag: "2026-03-02T15:00:00Z", Amount: 1999, Currency: "usd",
		Source: acquirer.Source{Card: acquirer.Card{
			Number: secret.New("4111111111111111"), CVC: secret.New("900"), ExpMonth: 4, ExpYear: 2031,
		}},
		Billing: acquirer.Billing{
			FirstName: "Ana", LastName: "Lopez", AddressLine: "1 Main St", City: "Austin", State: "TX",
			PostalCode: "73301", Country: "US", Email: "ana@example.com",
		},
		Order: acquirer.Order{Reference: "order-1047", Description: "Two mugs"},
	}
}

// BenchmarkAuthorize is P14 of the design: the median time of a connector's payment, compared with
// the same bytes sent by net/http to the same host. The host responds immediately, over a loopback
// connection without TLS, so that the connector's share is the greatest possible. deploy/bench runs
// both sides in turn.
func BenchmarkAuthorize(
	b *testing.B, approval Approval, connect func(*upstream.Client) (acquirer.Acquirer, error),
) {
	host := newHost(approval)
	server := httptest.NewServer(host)
	b.Cleanup(server.Close)
	client, err := upstream.New(upstream.Config{BaseURL: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	connector, err := connect(client)
	if err != nil {
		b.Fatal(err)
	}
	authorize := func() bool {
		response, err := connector.Authorize(b.Context(), Payment())
		return err == nil && response.Approved && response.Amount == Payment().Amount
	}
	if !authorize() {
		b.Fatal("the payment was not approved")
	}
	b.Run("connector", func(b *testing.B) { median(b, authorize) })
	b.Run("bare", func(b *testing.B) {
		bare := &http.Client{Transport: &http.Transport{DisableCompression: true}}
		defer bare.CloseIdleConnections()
		median(b, func() bool { return host.repeat(b, bare, server.URL) })
	})
}

// median runs a benchmark and also reports the median time.
func median(b *testing.B, run func() bool) {
	b.Helper()
	b.ReportAllocs()
	now := clock.System().Now
	var times []time.Duration
	for b.Loop() {
		start := now()
		if !run() {
			b.Fatal("it failed")
		}
		times = append(times, now().Sub(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns/op")
}

// host approves every payment, and keeps the first request.
type host struct {
	approval Approval
	once     sync.Once
	first    *http.Request
	body     []byte
}

func newHost(a Approval) *host { return &host{approval: a} }

// ServeHTTP implements http.Handler.
func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	h.once.Do(func() { h.first, h.body = r, body })
	w.Header().Set("Content-Type", h.approval.Type)
	w.WriteHeader(h.approval.Status)
	_, _ = io.WriteString(w, h.approval.Body)
}

// repeat sends the first request again by net/http alone. It reports whether the response was the
// approval.
func (h *host) repeat(b *testing.B, client *http.Client, url string) bool {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), h.first.Method, url+h.first.URL.Path, bytes.NewReader(h.body))
	if err != nil {
		return false
	}
	r.Header = h.first.Header
	response, err := client.Do(r)
	if err != nil {
		return false
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return err == nil && response.StatusCode == h.approval.Status && string(body) == h.approval.Body
}
