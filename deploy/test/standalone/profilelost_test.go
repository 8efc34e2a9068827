package standalone_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestProxyDiesBeforeTheProfile kills the proxy at each call of a payment that also makes a
// profile. A retry through another proxy reports the duplicate, and the profile if it was
// incomplete. One payment and one customer with one card exist.
func TestProxyDiesBeforeTheProfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	const calls = 5 // the payment, a token, the customer, its payment method, the rest of it
	for n := int32(1); n <= calls; n++ {
		who := fmt.Sprintf("dies-%d", n)
		document := legacyDocument(p, strings.Replace(legacyPayment("authCaptureTransaction", "20.00", who), "<order>",
			"<profile><createProfile>true</createProfile></profile><order>", 1)+"<customer><id>"+who+"</id></customer>")
		way := startRelay(t, p.HTTP)
		killed := startReplica(t, way.base, logins(dir))
		way.fate, way.die = nth(n, diesAfter), killed.Kill
		if got, err := legacyPost(t.Context(), client, killed.base, document); err == nil {
			t.Fatalf("%s: the proxy responded, want it dead: %s", who, got.body)
		}
		got := mustPost(t, client, other.base, document)
		wantResult(t, who, got, "3/11")
		if made := element(got.body, "customerPaymentProfileId") != ""; made != (n < calls) {
			t.Errorf("%s: got %s, want the profile only if the first attempt left it incomplete", who, got.body)
		}
		last := mustPost(t, client, other.base, document)
		if wantResult(t, who+" again", last, "3/11"); strings.Contains(last.body, "rofile") {
			t.Errorf("%s again: got %s, want no profile", who, last.body)
		}
		if made := named(t, m, who); len(made) != 1 {
			t.Errorf("%s: payments = %d, want 1", who, len(made))
		}
		oneCustomer(t, m, who, 1)
	}
}

// TestProxyDiesBeforeTheFirstCard checks that an unfinished request of a dead proxy does not delay
// a request that stores another card under the same name.
func TestProxyDiesBeforeTheFirstCard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	for n := int32(1); n <= 2; n++ { // a token, the customer
		who := fmt.Sprintf("begun-%d", n)
		way := startRelay(t, p.HTTP)
		killed := startReplica(t, way.base, logins(dir))
		way.fate, way.die = nth(n, diesAfter), killed.Kill
		if got, err := legacyPost(t.Context(), client, killed.base, legacyProfile(p, who, "4111111111111111")); err == nil {
			t.Fatalf("%s: the proxy responded, want it dead: %s", who, got.body)
		}
		wantResult(t, who, mustPost(t, client, other.base, legacyProfile(p, who, "5424000000000015")), "I00001")
		oneCustomer(t, m, who, 1)
	}
}

// legacyProfile returns a request to store cards under a customer's name.
func legacyProfile(p *process, who string, numbers ...string) string {
	cards := ""
	for _, n := range numbers {
		cards += "<paymentProfiles><payment><creditCard><cardNumber>" + n +
			"</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment></paymentProfiles>"
	}
	return `<createCustomerProfileRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` +
		p.ProviderA.Name +
		`</name><transactionKey>` + p.ProviderA.TransactionKey +
		`</transactionKey></merchantAuthentication><profile><merchantCustomerId>` + who +
		`</merchantCustomerId>` + cards + `</profile></createCustomerProfileRequest>`
}

// TestProfilesAtOnce sends requests for one customer with different cards, or none, through two
// proxies at the same time. One stores its cards, and the others get a duplicate of that one.
func TestProfilesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	bases := []string{p.HTTP, startReplica(t, p.HTTP, logins(dir)).base}
	const visa, mastercard = "4111111111111111", "5424000000000015"
	for round := range 8 {
		who := fmt.Sprintf("race-%d", round)
		var made, duplicates atomic.Int32
		var wg sync.WaitGroup
		for i, cards := range [][]string{{visa}, {visa, mastercard}, {}, {mastercard}, {mastercard, visa}} {
			wg.Go(func() {
				a, err := legacyPost(t.Context(), client, bases[i%2], legacyProfile(p, who, cards...))
				switch {
				case err == nil && a.code == "I00001":
					made.Store(int32(len(cards)))
				case err == nil && a.code == "E00039":
					duplicates.Add(1)
				default:
					t.Errorf("%s: got %s, error %v", who, a.body, err)
				}
			})
		}
		wg.Wait()
		if duplicates.Load() != 4 {
			t.Errorf("%s: %d duplicates, want four", who, duplicates.Load())
		}
		oneCustomer(t, m, who, int(made.Load()))
	}
}

// oneCustomer checks that one complete customer exists, with the number of payment methods.
func oneCustomer(t *testing.T, m *merchant, reference string, want int) {
	t.Helper()
	type list struct {
		Data []struct {
			ID       string            `json:"id"`
			Metadata map[string]string `json:"metadata"`
		} `json:"data"`
	}
	there := mustDecode[list](t, m.must(t, http.MethodGet, "/v1/customers?reference="+reference, "", "")).Data
	if len(there) != 1 || len(there[0].Metadata) != 0 {
		t.Fatalf("%s: customers = %v, want one with all its fields", reference, there)
	}
	methods := mustDecode[list](t, m.must(t, http.MethodGet, "/v1/customers/"+there[0].ID+"/payment_methods", "", "")).Data
	if len(methods) != want {
		t.Errorf("%s: payment methods = %v, want %d", reference, methods, want)
	}
}
