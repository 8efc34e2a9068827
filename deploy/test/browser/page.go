package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Service is a v1 service with which a page pays.
type Service struct {
	URL                 string       // as the browser reaches it
	Client              *http.Client // of the merchant's server
	Secret, Publishable string       // API keys of one merchant in test mode
}

// Pay opens core's sample page at another origin and pays there, with an encrypted card. The page
// shows a decline. Its script also finds a payment that was made before, and makes a token of a
// card in the clear.
func Pay(t *testing.T, b *Tab, s Service) {
	t.Helper()
	shop := httptest.NewServer(&shopServer{t, s, samplePage(t, s)})
	t.Cleanup(shop.Close)
	b.Open(t, shop.URL)
	if got := b.submit(t, "4000 0000 0000 0002"); strings.HasPrefix(got, "Paid") || got == "" {
		t.Errorf("a declined card: the page shows %q, want the reason", got)
	}
	b.Open(t, shop.URL)
	got := b.submit(t, "4111 1111 1111 1111")
	id, paid := strings.CutPrefix(got, "Paid: ")
	if !paid {
		t.Fatalf("the page shows %q, want a payment", got)
	}
	var payment v1.Transaction
	s.mustSend(t, http.MethodGet, "/v1/transactions/"+id, "", &payment)
	if payment.Status != v1.TransactionStatusCaptured || payment.AmountCaptured != 1250 {
		t.Errorf("the payment: got %+v, want 1250 captured", payment)
	}
	const card = `{number: "4111111111111111", exp_month: 4, exp_year: 2031}`
	var order v1.Transaction
	s.mustSend(t, http.MethodPost, "/v1/transactions", `{"amount":1250,"currency":"usd","confirm":false}`, &order)
	again := `Causeway.pay({key, encrypt: true, card: ` + card + `, transaction: "` + order.ID + `", clientSecret: "` +
		order.ClientSecret.Reveal() + `"}).then((t) => t.id + " " + t.status)`
	for range 2 { // the second attempt finds the payment of the first
		if got, want := Read[string](t, b, again), order.ID+" captured"; got != want {
			t.Errorf("a second attempt: got %q, want %q", got, want)
		}
	}
	token := Read[string](t, b, `Causeway.createToken({key, card: `+card+`}).then((t) => t.value)`)
	if !strings.HasPrefix(token, "tok_") {
		t.Errorf("a token: got %q", token)
	}
	const empty = `Causeway.createToken({key, encrypt: true, card: {}})`
	refused := Read[string](t, b, empty+`.catch((e) => e.code + " " + e.param)`)
	if refused != "missing_field card.number" {
		t.Errorf("no card: got %q, want the code and the field of the encrypted refusal", refused)
	}
}

// submit types a card into the page and returns its text after the payment.
func (b *Tab) submit(t *testing.T, number string) string {
	t.Helper()
	for field, value := range map[string]string{"number": number, "month": "4", "year": "2031", "code": "123"} {
		b.Run(t, chromedp.SendKeys(chromedp.CSS(`[name="`+field+`"]`), value))
	}
	b.Run(t, chromedp.Click(chromedp.CSS("button")), chromedp.Poll[chromedp.Void]("status.textContent !== ''"))
	return Read[string](t, b, "document.querySelector('[role=status]').textContent")
}

// samplePage returns core's sample page for a service. The test runs in a folder beside this one.
func samplePage(t *testing.T, s Service) string {
	t.Helper()
	page, err := os.ReadFile("../../../core/internal/browser/page.html")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("https://pay.example.com", s.URL, "pk_test_your_publishable_key", s.Publishable).
		Replace(string(page))
}

// shopServer is a merchant's server.
type shopServer struct {
	t       *testing.T
	service Service
	page    string
}

func (s *shopServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(s.page))
	case "/orders":
		var made v1.Transaction
		if !s.service.send(r.Context(), s.t, http.MethodPost, "/v1/transactions",
			`{"amount":1250,"currency":"usd","confirm":false}`, &made) {
			http.Error(w, "no transaction", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"` + made.ID + `","client_secret":"` + made.ClientSecret.Reveal() + `"}`))
	default:
		http.NotFound(w, r)
	}
}

// mustSend sends a request with the secret key and decodes the response.
func (s Service) mustSend(t *testing.T, method, path, body string, out any) {
	t.Helper()
	if !s.send(t.Context(), t, method, path, body, out) {
		t.FailNow()
	}
}

// send is mustSend for the goroutines of a server. It returns false after an error of the test.
func (s Service) send(ctx context.Context, t *testing.T, method, path, body string, out any) bool {
	t.Helper()
	q, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return false
	}
	q.Header.Set("Authorization", "Bearer "+s.Secret)
	q.Header.Set("Content-Type", "application/json")
	resp, err := s.Client.Do(q)
	if err != nil {
		t.Error(err)
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.UnmarshalRead(resp.Body, out); err != nil || resp.StatusCode >= http.StatusBadRequest {
		t.Errorf("%s %s: got %d, %v", method, path, resp.StatusCode, err)
		return false
	}
	return true
}
