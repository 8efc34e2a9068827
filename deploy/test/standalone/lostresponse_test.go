package standalone_test

import (
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// legacyStep is a step of a payment.
type legacyStep struct {
	before []string // the steps that make its payment: "sale", "authorize" or "settle"
	send   string
	again  string // the result of a retry
	want   func(v1.Transaction) bool
}

var legacySteps = map[string]legacyStep{
	"sale": {
		send: "sale", again: "3/11",
		want: func(t v1.Transaction) bool {
			return t.Status == v1.TransactionStatusCaptured && t.AmountCaptured == 2000
		},
	},
	"authorize": {
		send: "authorize", again: "3/11",
		want: func(t v1.Transaction) bool {
			return t.Status == v1.TransactionStatusAuthorized && t.AmountAuthorized == 2000 && t.AmountCaptured == 0
		},
	},
	"capture": {
		before: []string{"authorize"}, send: "capture", again: "1/311",
		want: func(t v1.Transaction) bool {
			return t.Status == v1.TransactionStatusCaptured && t.AmountCaptured == 500
		},
	},
	"void": {
		before: []string{"authorize"}, send: "void", again: "1/310",
		want: func(t v1.Transaction) bool { return t.Status == v1.TransactionStatusVoided && t.AmountCaptured == 0 },
	},
	"refund": {
		before: []string{"sale", "settle"}, send: "refund", again: "3/11",
		want: func(t v1.Transaction) bool { return t.AmountCaptured == 2000 && t.AmountRefunded == 250 },
	},
}

// legacySend returns the document of a kind of step on the payment of an invoice and number.
func legacySend(p *process, kind, invoice, number string) string {
	switch kind {
	case "sale":
		return legacyDocument(p, legacyPayment("authCaptureTransaction", "20.00", invoice))
	case "authorize":
		return legacyDocument(p, legacyPayment("authOnlyTransaction", "20.00", invoice))
	case "capture":
		return legacyDocument(p,
			"<transactionType>priorAuthCaptureTransaction</transactionType><amount>5.00</amount><refTransId>"+number+
				"</refTransId>")
	case "void":
		return legacyDocument(p, "<transactionType>voidTransaction</transactionType><refTransId>"+number+"</refTransId>")
	}
	return legacyDocument(p, legacyRefund("2.50", number))
}

// prepare makes the payment for a step through an undisturbed proxy, and returns its number.
func (s legacyStep) prepare(t *testing.T, p *process, client *http.Client, invoice string) string {
	t.Helper()
	number := ""
	for _, kind := range s.before {
		if kind == "settle" {
			settle(t, merchantOf(t, p), txn(t, number))
			continue
		}
		got := mustPost(t, client, p.HTTP, legacySend(p, kind, invoice, ""))
		wantResult(t, kind, got, "1/1")
		number = got.number
	}
	return number
}

func settle(tb testing.TB, m *merchant, id string) {
	tb.Helper()
	if got := m.must(tb, http.MethodPost,
		"/v1/test_helpers/transactions/"+id+"/settle", "", ""); got.status != http.StatusOK {
		tb.Fatalf("settle = %d %s", got.status, got.body)
	}
}

// oneEffect checks that v1 has the payment of an invoice once, in the state after the step.
func (s legacyStep) oneEffect(t *testing.T, p *process, invoice string) {
	t.Helper()
	if made := named(t, merchantOf(t, p), invoice); len(made) != 1 || !s.want(made[0]) {
		t.Errorf("%s: payments = %d, want one, charged once: %+v", invoice, len(made), made)
	}
}

// once applies a fate to the first call that acts; all others pass.
func once(f fate) func(*http.Request) fate { return nth(1, f) }

// checkAgreed compares the acquirer's own journal with v1.
func checkAgreed(t *testing.T, p *process, dir string) {
	t.Helper()
	wrong, err := crash.Agree(t.Context(), crash.Folder(dir), p.HTTP,
		crash.Keys{Secret: p.Keys.SKTest, Publishable: p.Keys.PKTest})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestProxyDiesBeforeTheResponse kills the proxy after v1 acted and before the response. A retry
// through any proxy reports that the request has taken effect already.
func TestProxyDiesBeforeTheResponse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client := patientClient(t)
	other := startReplica(t, p.HTTP, logins(dir))
	for name, s := range legacySteps {
		invoice := "dies-" + name
		number := s.prepare(t, p, client, invoice)
		way := startRelay(t, p.HTTP)
		killed := startReplica(t, way.base, logins(dir))
		way.fate, way.die = once(diesAfter), killed.Kill
		document := legacySend(p, s.send, invoice, number)
		if got, err := legacyPost(t.Context(), client, killed.base, document); err == nil {
			t.Fatalf("%s: the proxy responded, want it dead: %s", name, got.body)
		}
		wantResult(t, name+", by another proxy", mustPost(t, client, other.base, document), s.again)
		restarted := startReplica(t, way.base, logins(dir))
		wantResult(t, name+", after a restart", mustPost(t, client, restarted.base, document), s.again)
		restarted.Kill()
		s.oneEffect(t, p, invoice)
	}
	checkAgreed(t, p, dir)
}

// TestConnectionToV1Breaks breaks the connection between the proxy and v1 at each point. The client
// gets the outcome of its request, which has one effect.
func TestConnectionToV1Breaks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client := patientClient(t)
	ways := map[fate]*relay{}
	proxies := map[fate]*replica{}
	for f := range fateNames {
		ways[f] = startRelay(t, p.HTTP)
		ways[f].fate = func(*http.Request) fate { return passes }
		proxies[f] = startReplica(t, ways[f].base, logins(dir))
	}
	for name, s := range legacySteps {
		for f, broken := range fateNames {
			invoice := "cut-" + name + "-" + broken
			number := s.prepare(t, p, client, invoice)
			document := legacySend(p, s.send, invoice, number)
			ways[f].fate = once(f)
			wantResult(t, name+", cut "+broken, mustPost(t, client, proxies[f].base, document), "1/1")
			ways[f].wantBroken(t, name+", cut "+broken)
			wantResult(t, name+" again, cut "+broken, mustPost(t, client, proxies[f].base, document), s.again)
			s.oneEffect(t, p, invoice)
		}
	}
	checkAgreed(t, p, dir)
}

// fateNames are the fates that leave the proxy running.
var fateNames = map[fate]string{cutBefore: "before", cutAmid: "amid", cutAfter: "after"}
