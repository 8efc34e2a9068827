package core_test

import (
	"strings"
	"testing"
)

const sealedSale = `{"amount":100,"currency":"usd","payment_method":"card"}`

// demands is the header field for a request whose response mle-filter will encrypt, and passes that
// for all others.
var (
	passes  = header("X-Svc-Int-Proof", proof)
	demands = func(b *bundle) option {
		return header("X-Svc-Int-Mle", "v1;kid=k;merchant="+b.merchant+"/test;response=required")
	}
)

// TestSealedAnswersAreNotRepeatedInTheClear: a retry without the demand for encryption does not get
// the encrypted response.
func TestSealedAnswersAreNotRepeatedInTheClear(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, filter: proof})
	for name, c := range map[string]struct{ path, body, other string }{
		"a payment":  {"/v1/transactions", sealedSale, strings.Replace(sealedSale, "100", "101", 1)},
		"a decline":  {"/v1/transactions", strings.Replace(sealedSale, `"card"`, `"pm_card_declined"`, 1), sealedSale},
		"an API key": {"/v1/api_keys", `{"kind":"secret"}`, `{"kind":"publishable"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sealed := func(key, body string) answer {
				return b.post(t, c.path, body, keyed(key), passes, demands(b))
			}
			inTheClear := func(key, body string) answer {
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
