package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/browser"
)

// publicKey is a merchant's key for encrypted requests: the base point of P-256.
const publicKey = `{"kid":"k","alg":"ECDH-ES+A256KW","jwk":{"kty":"EC","crv":"P-256",` +
	`"x":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY","y":"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"}}`

// payments is a v1 with a response for each id of a transaction.
type payments struct {
	mu   sync.Mutex
	keys map[string][]string // the Idempotency-Keys of each path; guarded by mu
}

// refusals are the responses to the first confirmations of a transaction, by its id up to a dash.
var refusals = map[string][]struct {
	status int
	code   string
}{
	"lost": {
		{504, "outcome_unknown"},
		{502, "response_lost"},
		{504, "response_timeout"}, // these two are the edge's
		{409, "idempotency_key_in_use"},
		{409, "operation_in_progress"},
	},
	"busy": {{429, "rate_limited"}, {503, "service_unavailable"}},
	"down": {{503, "service_unavailable"}, {503, "service_unavailable"}, {503, "service_unavailable"}},
}

func (p *payments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.keys[r.URL.Path] = append(p.keys[r.URL.Path], r.Header.Get("Idempotency-Key"))
	sent := len(p.keys[r.URL.Path])
	p.mu.Unlock()
	w.Header().Set("Retry-After", "0.01")
	refuse := func(status int, code, more string) {
		w.WriteHeader(status)
		fields := `"status":` + strconv.Itoa(status) + `,"code":"` + code + `"` + more
		_, _ = io.WriteString(w, `{"error":{"message":"refused",`+fields+`}}`)
	}
	transaction, confirm := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/confirm"), "/v1/transactions/")
	name, _, _ := strings.Cut(transaction, "-")
	switch status, done := strings.CutPrefix(transaction, "ended-"); {
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><script src="/v1/js/causeway-1.js"></script>`)
	case r.URL.Path == "/reviews": // a customer's review holds the image
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><img name="currentScript" src="/thief/v1/js/x.png">`+
			`<script src="/v1/js/causeway-1.js"></script>`)
	case strings.HasPrefix(r.URL.Path, "/v1/js/"):
		http.ServeFile(w, r, "../../../core/internal/browser/causeway-1.js")
	case r.URL.Path == "/v1/mle/keys/current":
		_, _ = io.WriteString(w, publicKey)
	case r.URL.Path == "/v1/tokens" && r.Header.Get("X-SVC-MLE-Response") == "required":
		refuse(http.StatusConflict, "transaction_not_confirmable", `,"decline_code":"d","transaction":{"status":"captured"}`)
	case r.URL.Path == "/v1/tokens":
		_, _ = io.WriteString(w, `{"id":"tok_1","value":"tok_2"}`)
	case !confirm:
		http.NotFound(w, r)
	case done:
		refuse(http.StatusConflict, "transaction_not_confirmable", `,"transaction":{"id":"t","status":"`+status+`"}`)
	case sent <= len(refusals[name]):
		refuse(refusals[name][sent-1].status, refusals[name][sent-1].code, "")
	default:
		_, _ = io.WriteString(w, `{"id":"t","status":"captured"}`)
	}
}

// TestBrowserScript: the page's script awaits an outcome that is not known yet, and finds a payment
// that an earlier attempt made. It repeats a request without an effect twice. It works in a page
// without HTTPS too, but encrypts nothing there. Markup in the page cannot move it to another host.
func TestBrowserScript(t *testing.T) {
	t.Parallel()
	p := &payments{keys: map[string][]string{}}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	at := strings.TrimPrefix(server.URL, "http://")
	first := browser.Start(t, "MAP shop.example:8080 "+at)
	for _, origin := range []string{server.URL, "http://shop.example:8080"} {
		b, plain := first.NewTab(t), origin != server.URL
		b.Open(t, origin)
		if secure := browser.Read[bool](t, b, "isSecureContext"); secure == plain {
			t.Fatalf("%s: got a secure page: %v", origin, secure)
		}
		pay := func(transaction, encrypt string) string {
			t.Helper()
			return browser.Read[string](t, b, `Causeway.pay({key: "pk", clientSecret: "s", card: {}, encrypt: `+encrypt+
				`, transaction: "`+transaction+`"}).then((t) => t.id + " " + t.status, (e) => e.name + " " + e.code)`)
		}
		suffix := map[bool]string{true: "-plain"}[plain]
		for transaction, want := range map[string]string{
			"lost" + suffix: "t captured", "busy" + suffix: "t captured",
			"down" + suffix:  "CausewayError service_unavailable",
			"ended-captured": "t captured", "ended-authorized": "t authorized",
			"ended-voided": "CausewayError transaction_not_confirmable",
		} {
			if got := pay(transaction, "false"); got != want {
				t.Errorf("%s, %s: got %q, want %q", origin, transaction, got, want)
			}
		}
		if !plain { // an error in the clear can be from any program in between
			got := browser.Read[string](t, b, `Causeway.createToken({key: "pk", card: {}, encrypt: true}).catch((e) => `+
				`[e.code, e.transaction, e.declineCode].join(" "))`)
			if want := "transaction_not_confirmable  "; got != want {
				t.Errorf("an error in the clear: got %q, want %q", got, want)
			}
		}
		keys := p.of("/v1/transactions/lost" + suffix + "/confirm")
		if len(keys) != 6 || len(keys[0]) < 20 || strings.Count(strings.Join(keys, " "), keys[0]) != 6 {
			t.Errorf("%s: got the keys %v, want the same six times", origin, keys)
		}
		if plain {
			if got, want := pay("encrypted", "true"), "CausewayError insecure_page"; got != want {
				t.Errorf("encrypted: got %q, want %q", got, want)
			}
		}
	}
	wantNoThief(t, first.NewTab(t), p, server.URL)
	keys := p.of("/v1/tokens")
	slices.Sort(keys)
	if got := len(slices.Compact(keys)); got != 14 {
		t.Errorf("got %d keys of tokens, want 14: each request has another", got)
	}
}

// wantNoThief makes a token in a page that has an image named currentScript, of another address.
func wantNoThief(t *testing.T, shop *browser.Tab, p *payments, url string) {
	t.Helper()
	shop.Open(t, url+"/reviews")
	token := `Causeway.createToken({key: "pk", card: {}}).then((t) => t.value, (e) => e.name + " " + e.code)`
	if got := browser.Read[string](t, shop, token); got != "tok_2" || len(p.of("/thief/v1/tokens")) > 0 {
		t.Errorf("with an image named currentScript: got %q, want a token from the service only", got)
	}
}

// of returns the Idempotency-Keys of a path.
func (p *payments) of(path string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.keys[path]...)
}
