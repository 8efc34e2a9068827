package standalone_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// restStep is a step of a payment.
type restStep struct {
	sale bool   // the payment is a sale, otherwise an authorization
	take bool   // it is captured first, and {capture} is the number of that capture
	path string // {payment} stands for its number
	body string // {name} stands for the request's name
	want string
	left func(v1.Transaction) bool
}

var restSteps = map[string]restStep{
	"capture": {
		path: "/pts/v2/payments/{payment}/captures", body: restAmount("5.00", "{name}"), want: "PENDING",
		left: func(t v1.Transaction) bool { return t.AmountCaptured == 500 },
	},
	"reversal": {
		path: "/pts/v2/payments/{payment}/reversals", body: restReversal("20.00", "{name}"), want: "REVERSED",
		left: func(t v1.Transaction) bool { return t.Status == v1.TransactionStatusVoided },
	},
	"refund": {
		sale: true, path: "/pts/v2/payments/{payment}/refunds", body: restAmount("2.50", "{name}"), want: "PENDING",
		left: func(t v1.Transaction) bool { return t.AmountCaptured == 2000 && t.AmountRefunded == 250 },
	},
	"refund of a capture": {
		take: true, path: "/pts/v2/captures/{capture}/refunds", body: restAmount("2.50", "{name}"), want: "PENDING",
		left: func(t v1.Transaction) bool { return t.AmountCaptured == 2000 && t.AmountRefunded == 250 },
	},
	"void of a capture": {
		take: true, path: "/pts/v2/captures/{capture}/voids",
		body: `{"clientReferenceInformation":{"transactionId":"{name}"}}`, want: "VOIDED",
		left: func(t v1.Transaction) bool { return t.Status == v1.TransactionStatusVoided },
	},
	"void of a sale": {
		sale: true, path: "/pts/v2/payments/{payment}/voids",
		body: `{"clientReferenceInformation":{"transactionId":"{name}"}}`, want: "VOIDED",
		left: func(t v1.Transaction) bool { return t.Status == v1.TransactionStatusVoided },
	},
}

// prepare makes the payment for a step through an undisturbed proxy. It returns its number and the
// step's path.
func (s restStep) prepare(t *testing.T, d *restClient) (number, path string) {
	t.Helper()
	number = d.must(t, restPayments, restPayment("20.00", "USD", s.sale, ""), "AUTHORIZED").ID
	taken := ""
	if s.take {
		taken = d.must(t, restPayments+"/"+number+"/captures", restAmount("20.00", ""), "PENDING").ID
	}
	return number, strings.NewReplacer("{payment}", number, "{capture}", taken).Replace(s.path)
}

// TestProxyDiesBeforeTheResponseToAStep kills the proxy after v1 acted and before the response. A
// retry through any proxy gets the response to the first request.
func TestProxyDiesBeforeTheResponseToAStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	for name, s := range restSteps {
		number, path := s.prepare(t, d)
		way := startRelay(t, p.HTTP)
		killed := startReplica(t, way.base, logins(dir))
		way.fate, way.die = once(diesAfter), killed.Kill
		body := strings.ReplaceAll(s.body, "{name}", strings.ReplaceAll(name, " ", "-"))
		if got, err := (&restClient{killed.base, d.key, d.http}).do(t.Context(), http.MethodPost, path, body); err == nil {
			t.Fatalf("%s: the proxy responded, want it dead: %s", name, got.Body)
		}
		again := (&restClient{other.base, d.key, d.http}).must(t, path, body, s.want)
		third := d.must(t, path, body, s.want)
		if again.ID == "" || again.Body != third.Body {
			t.Errorf("%s: responses differ:\n%s\n%s", name, again.Body, third.Body)
		}
		if got := stored(t, m, number); !s.left(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	checkAgreed(t, p, dir)
}

// TestConnectionToV1BreaksUnderAStep breaks the connection between the proxy and v1 at each point.
// The client gets the outcome of its request, which has one effect.
func TestConnectionToV1BreaksUnderAStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	for f, broken := range fateNames {
		way := startRelay(t, p.HTTP)
		way.fate = func(*http.Request) fate { return passes }
		proxy := restClient{startReplica(t, way.base, logins(dir)).base, d.key, d.http}
		for name, s := range restSteps {
			number, path := s.prepare(t, d)
			way.fate = once(f)
			proxy.must(t, path, strings.ReplaceAll(s.body, "{name}", strings.ReplaceAll(name, " ", "-")+"-"+broken), s.want)
			way.wantBroken(t, name+", cut "+broken)
			if got := stored(t, m, number); !s.left(got) {
				t.Errorf("%s, cut %s: %+v", name, broken, got)
			}
		}
	}
	checkAgreed(t, p, dir)
}

// TestReversedByName reverses a payment without a response by the client's own name for it. v1 then
// holds no money for it.
func TestReversedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	const reversals, voids = "/pts/v2/reversals", "/pts/v2/voids"
	sale := func(name string) string { return restPayment("20.00", "USD", true, name) }
	steps := []struct {
		name    string // of the payment
		payment string
		dies    string // the end of the path of the v1 call at which the proxy dies
		path    string
		want    string
	}{
		{"held", restPayment("20.00", "USD", false, "held"), "/transactions", reversals + "/", "REVERSED"},
		{"sale", sale("sale"), "/transactions", reversals, "REVERSED"},
		{"voided", sale("voided"), "/transactions", voids + "/", "VOIDED"},
		{"cut", withAddress(sale("cut")), "/transactions", reversals, "REVERSED"},
		{"cut-voided", withAddress(sale("cut-voided")), "/transactions", voids, "VOIDED"},
		{"taken", withAddress(sale("taken")), "/captures", reversals, "REVERSED"},
		{"taken-voided", withAddress(sale("taken-voided")), "/captures", voids, "VOIDED"},
	}
	for _, s := range steps {
		way := startRelay(t, p.HTTP)
		killed := startReplica(t, way.base, logins(dir))
		way.die = killed.Kill
		way.fate = func(r *http.Request) fate {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, s.dies) {
				return diesAfter
			}
			return passes
		}
		client := &restClient{killed.base, d.key, d.http}
		if got, err := client.do(t.Context(), http.MethodPost, restPayments, s.payment); err == nil {
			t.Fatalf("%s: the proxy responded, want it dead: %s", s.name, got.Body)
		}
		back := d.must(t, s.path, restReversal("20.00", s.name), s.want)
		if again := d.must(t, s.path, restReversal("20.00", s.name), s.want); again.Body != back.Body {
			t.Errorf("%s: responses differ:\n%s\n%s", s.name, again.Body, back.Body)
		}
	}
	d.must(t, "/pts/v2/reversals", restReversal("20.00", "never-sent"), "INVALID_DATA")
	all := m.transactions(t)
	if len(all) != len(steps) {
		t.Errorf("payments: got %d, want %d", len(all), len(steps))
	}
	for _, x := range all {
		if x.Status != v1.TransactionStatusVoided || x.AmountCaptured != 0 {
			t.Errorf("%s: %s, want voided", x.ID, x.Status)
		}
	}
	checkAgreed(t, p, dir)
}
