package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// proof is the filter's secret in the tests.
const proof = "ZmlsdGVyLWZpbHRlci1maWx0ZXItZmlsdGVyLWZpbHQ="

// TestBehindAFilter: a core that stands behind a filter takes nothing that did not come through it.
func TestBehindAFilter(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, filter: proof})
	const sale = `{"amount":100,"currency":"usd","payment_method":"card"}`
	refused := refusal{403, v1.ErrorTypePermissionError, "not_through_filter", ""}
	wantRefusal(t, b.post(t, "/v1/transactions", sale), refused)
	for _, values := range [][]string{{""}, {"x"}, {proof + "x"}, {proof, proof}, {"x", proof}} {
		wantRefusal(t, b.post(t, "/v1/transactions", sale, header("X-Svc-Int-Proof", values...)), refused)
	}
	b.MustHealth(t)
	if a := b.get(t, "/v1/transactions", header("X-Svc-Int-Proof", proof)); a.status != 200 || !strings.Contains(string(a.body), `"data":[]`) {
		t.Errorf("through the filter: got %d %s, want an empty list", a.status, a.body)
	}
	log := b.logs.String()
	if strings.Contains(log, proof) {
		t.Error("the log holds the filter's secret")
	}
	operations := httptest.NewServer(b.core.Operations())
	t.Cleanup(operations.Close)
	series, _ := read(t, operations.URL+"/metrics")
	for reason, want := range map[string]int{"filter_secret_missing": 2, "filter_secret_wrong": 4} {
		if !strings.Contains(series, fmt.Sprintf("causeway_refused_requests_total{reason=%q} %d\n", reason, want)) {
			t.Errorf("the metrics lack %d requests for %s:\n%s", want, reason, series)
		}
		if got := strings.Count(log, `"outcome":"`+reason+`"`); got != want {
			t.Errorf("%s: got %d lines of the log, want %d", reason, got, want)
		}
	}
	if _, err := core.Open(t.Context(), core.Config{Data: t.TempDir(), FilterSecret: secret.New("short")}); err == nil {
		t.Error("a secret that can be guessed was taken")
	}
}

// TestWarnsWithoutFilterSecret: a start without the filter secret is a warning in the log and in
// the health document, and a start with it is neither.
func TestWarnsWithoutFilterSecret(t *testing.T) {
	t.Parallel()
	for given, warned := range map[string]bool{"": true, proof: false} {
		b := openBundle(t, &bundle{rateLimit: -1, filter: given})
		health := b.MustHealth(t)
		if got := strings.Contains(string(health.body), `"warnings":["filter_secret_not_set"]`); got != warned {
			t.Errorf("secret %q: got %s, want a warning: %v", given, health.body, warned)
		}
		log := b.logs.String()
		if got := strings.Contains(log, "CAUSEWAY_FILTER_SECRET is not set"); got != warned {
			t.Errorf("secret %q: the log warns: got %v, want %v\n%s", given, got, warned, log)
		}
	}
}

// TestSealedBodies: a body that mle-filter should have decrypted is refused, also where bodies are
// not read.
func TestSealedBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	for method, path := range map[string]string{
		http.MethodPost: "/v1/transactions", http.MethodGet: "/v1/transactions/" + txn, http.MethodDelete: "/v1/customers/x", http.MethodPatch: "/v1/customers/x",
	} {
		for _, kind := range []string{"application/jose", "Application/JOSE; charset=utf-8"} {
			r, err := http.NewRequestWithContext(t.Context(), method, b.server.URL+path, io.MultiReader(strings.NewReader("a.b.c.d.e")))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+b.key)
			r.Header.Set("Content-Type", kind)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			if err != nil || response.Body.Close() != nil || response.StatusCode != 415 || !strings.Contains(string(text), `"unsupported_media_type"`) {
				t.Errorf("%s %s: got %d %s, %v, want 415", method, path, response.StatusCode, text, err)
			}
		}
	}
	wantRefusal(t, b.post(t, "/v1/transactions/"+txn+"/void", "a.b.c.d.e", header("Content-Type", "application/jose")),
		refusal{415, v1.ErrorTypeInvalidRequestError, "unsupported_media_type", "Content-Type"})
}

// TestFilterReadsMerchantOfPublishableKey: only our filter gets the response, and no other holder
// of the key.
func TestFilterReadsMerchantOfPublishableKey(t *testing.T) {
	t.Parallel()
	b, _ := operated(t)
	pk := b.publishable(t)
	const current = "/v1/api_keys/current"
	got := MustDecode[v1.APIKey](t, b.get(t, current, pk, header("X-Svc-Int-Asks", token)), 200)
	if got.Merchant != b.merchant || got.Kind != v1.APIKeyKindPublishable {
		t.Errorf("got %+v", got)
	}
	refused := refusal{403, v1.ErrorTypePermissionError, "publishable_key_not_allowed", ""}
	wantRefusal(t, b.get(t, current, pk), refused)
	for _, values := range [][]string{{""}, {"x"}, {token + "x"}, {token, token}} {
		wantRefusal(t, b.get(t, current, pk, header("X-Svc-Int-Asks", values...)), refused)
	}
	wantRefusal(t, b.get(t, "/v1/transactions", pk, header("X-Svc-Int-Asks", token)), refused)
	without := openBundle(t, &bundle{rateLimit: -1})
	wantRefusal(t, without.get(t, current, without.publishable(t), header("X-Svc-Int-Asks", "")), refused)
}

const sealedSale = `{"amount":100,"currency":"usd","payment_method":"card"}`

// demands is the header field for a request whose response mle-filter will encrypt, and passes that
// for all others.
var (
	passes  = header("X-Svc-Int-Proof", proof)
	demands = func(b *bundle) option {
		return header("X-Svc-Int-Mle", "v1;kid=k;merchant="+b.merchant+"/test;response=required")
	}
)

// TestEncryptedResponsesAreNotReplayedInTheClear: a retry without the demand for encryption does
// not get the encrypted response.
func TestEncryptedResponsesAreNotReplayedInTheClear(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, filter: proof})
	for name, c := range map[string]struct{ path, body, other string }{
		"a payment":  {"/v1/transactions", sealedSale, strings.Replace(sealedSale, "100", "101", 1)},
		"a decline":  {"/v1/transactions", strings.Replace(sealedSale, `"card"`, `"pm_card_declined"`, 1), sealedSale},
		"an API key": {"/v1/api_keys", `{"kind":"secret"}`, `{"kind":"publishable"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sealed := func(key, body string) response {
				return b.post(t, c.path, body, keyed(key), passes, demands(b))
			}
			inTheClear := func(key, body string) response {
				return b.post(t, c.path, body, keyed(key), passes)
			}
			first := sealed(name, c.body)
			wantReplay(t, sealed(name, c.body), first)
			wantKeyReused(t, inTheClear(name, c.body))
			wantKeyReused(t, b.post(t, c.path, c.body, keyed(name), passes, header("X-Svc-Int-Mle", "v1;kid=k;merchant=m")))
			wantKeyReused(t, sealed(name, c.other))
			wantReplay(t, sealed(name, c.body), first) // the refusals have taken nothing away

			open := inTheClear(name+", open", c.body)
			wantReplay(t, sealed(name+", open", c.body), open) // the client gets no less than it demands
			wantReplay(t, inTheClear(name+", open", c.body), open)
			wantKeyReused(t, sealed(name+", open", c.other))
		})
	}
}

// TestSealedIsTheFiltersWord: a demand from any other client is ignored, and a response from before
// the demand is repeated to both.
func TestSealedIsTheFiltersWord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", sealedSale, keyed("k"), demands(b))
	wantReplay(t, b.post(t, "/v1/transactions", sealedSale, keyed("k")), first)
	b.filter = proof
	b.restart(t)
	wantReplay(t, b.post(t, "/v1/transactions", sealedSale, keyed("k"), passes, demands(b)), first)
	wantReplay(t, b.post(t, "/v1/transactions", sealedSale, keyed("k"), passes), first)
}

// TestInner: our programs call a core behind mle-filter directly, and cannot speak for the filter.
func TestInner(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"", proof} {
		b := openBundle(t, &bundle{rateLimit: -1, filter: filter, inner: true})
		first := b.post(t, "/v1/transactions", sealedSale, keyed("k"), demands(b))
		wantReplay(t, b.post(t, "/v1/transactions", sealedSale, keyed("k")), first)
	}
}
