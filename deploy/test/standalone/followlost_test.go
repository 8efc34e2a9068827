package standalone_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// restStep is one way to move money, on a payment of its own.
type restStep struct {
	sale bool   // the payment is a sale, else an authorization
	take bool   // it is captured first, and {capture} is that capture's number
	path string // {payment} stands for its number
	body string // {name} for the request's name
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
		take: true, path: "/pts/v2/captures/{capture}/voids", body: `{"clientReferenceInformation":{"transactionId":"{name}"}}`, want: "VOIDED",
		left: func(t v1.Transaction) bool { return t.Status == v1.TransactionStatusVoided },
	},
	"void of a sale": {
		sale: true, path: "/pts/v2/payments/{payment}/voids", body: `{"clientReferenceInformation":{"transactionId":"{name}"}}`, want: "VOIDED",
		left: func(t v1.Transaction) bool { return t.Status == v1.TransactionStatusVoided },
	},
}

// prepare makes the payment that a step is on, by a proxy that nothing happens to, and returns its number and the step's path.
func (s restStep) prepare(t *testing.T, d *restDoor) (number, path string) {
	t.Helper()
	number = d.must(t, restPayments, restPayment("20.00", "USD", s.sale, ""), "AUTHORIZED").ID
	taken := ""
	if s.take {
		taken = d.must(t, restPayments+"/"+number+"/captures", restAmount("20.00", ""), "PENDING").ID
	}
	return number, strings.NewReplacer("{payment}", number, "{capture}", taken).Replace(s.path)
}

// The proxy dies after v1 acted and before it answered. The same request again, by whatever proxy, gets the first one's answer.
func TestProxyDiesBeforeItAnswersWhatFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restDoorOf(t, p), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	for name, s := range restSteps {
		number, path := s.prepare(t, d)
		way := startRelay(t, p.HTTP)
		doomed := startReplica(t, way.base, logins(dir))
		way.fate, way.die = once(diesAfter), doomed.Kill
		body := strings.ReplaceAll(s.body, "{name}", strings.ReplaceAll(name, " ", "-"))
		if got, err := (&restDoor{doomed.base, d.key, d.http}).do(t.Context(), http.MethodPost, path, body); err == nil {
			t.Fatalf("%s: the proxy answered, want it dead: %s", name, got.Body)
		}
		again := (&restDoor{other.base, d.key, d.http}).must(t, path, body, s.want)
		third := d.must(t, path, body, s.want)
		if again.ID == "" || again.Body != third.Body {
			t.Errorf("%s: answers differ:\n%s\n%s", name, again.Body, third.Body)
		}
		if got := books(t, m, number); !s.left(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	checkAgreed(t, p, dir)
}

// The connection between the proxy and v1 breaks, wherever: the client is told what became of its request, and it became so once.
func TestConnectionToV1BreaksUnderWhatFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restDoorOf(t, p), merchantOf(t, p)
	for f, broken := range fateNames {
		way := startRelay(t, p.HTTP)
		way.fate = func(*http.Request) fate { return passes }
		proxy := restDoor{startReplica(t, way.base, logins(dir)).base, d.key, d.http}
		for name, s := range restSteps {
			number, path := s.prepare(t, d)
			way.fate = once(f)
			proxy.must(t, path, strings.ReplaceAll(s.body, "{name}", strings.ReplaceAll(name, " ", "-")+"-"+broken), s.want)
			if got := books(t, m, number); !s.left(got) {
				t.Errorf("%s, cut %s: %+v", name, broken, got)
			}
		}
	}
	checkAgreed(t, p, dir)
}

// A payment whose answer never came is taken back by the client's own name for it, and stands no more in v1.
func TestTakenBackByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restDoorOf(t, p), merchantOf(t, p)
	steps := []struct {
		name    string // of the payment
		payment string
		dies    string // the end of the path of the call to v1 that is its proxy's last
		path    string
		want    string
	}{
		{"authorization", restPayment("20.00", "USD", false, "authorization"), "/transactions", "/pts/v2/reversals/", "REVERSED"},
		{"sale", restPayment("20.00", "USD", true, "sale"), "/transactions", "/pts/v2/reversals", "REVERSED"},
		{"voided", restPayment("20.00", "USD", true, "voided"), "/transactions", "/pts/v2/voids/", "VOIDED"},
		{"cut", withAddress(restPayment("20.00", "USD", true, "cut")), "/transactions", "/pts/v2/reversals", "REVERSED"},
		{"cut-voided", withAddress(restPayment("20.00", "USD", true, "cut-voided")), "/transactions", "/pts/v2/voids", "VOIDED"},
		{"taken", withAddress(restPayment("20.00", "USD", true, "taken")), "/captures", "/pts/v2/reversals", "REVERSED"},
		{"taken-voided", withAddress(restPayment("20.00", "USD", true, "taken-voided")), "/captures", "/pts/v2/voids", "VOIDED"},
	}
	for _, s := range steps {
		way := startRelay(t, p.HTTP)
		doomed := startReplica(t, way.base, logins(dir))
		way.die = doomed.Kill
		way.fate = func(r *http.Request) fate {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, s.dies) {
				return diesAfter
			}
			return passes
		}
		if got, err := (&restDoor{doomed.base, d.key, d.http}).do(t.Context(), http.MethodPost, restPayments, s.payment); err == nil {
			t.Fatalf("%s: the proxy answered, want it dead: %s", s.name, got.Body)
		}
		back := d.must(t, s.path, restReversal("20.00", s.name), s.want)
		if again := d.must(t, s.path, restReversal("20.00", s.name), s.want); again.Body != back.Body {
			t.Errorf("%s: answers differ:\n%s\n%s", s.name, again.Body, back.Body)
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
