package standalone_test

import (
	"net/http"
	"sync"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// lostRefund is a refund or credit whose client has no response to it.
type lostRefund struct {
	path, body string
	name       string // its transactionId
}

// lostRefunds returns each kind of refund, with transactionIds that begin with the prefix.
func lostRefunds(sale, capture, prefix string) []lostRefund {
	credit := restPayment("1.00", "USD", false, prefix+"-credit")
	return []lostRefund{
		{restPayments + "/" + sale + "/refunds", restAmount("1.00", prefix+"-sale"), prefix + "-sale"},
		{"/pts/v2/captures/" + capture + "/refunds", restAmount("1.00", prefix+"-capture"), prefix + "-capture"},
		{"/pts/v2/credits", credit, prefix + "-credit"},
	}
}

// TestRefundVoidedByName voids refunds and credits by their transactionId. INVALID_DATA means that
// the refund has moved no money, and never will.
func TestRefundVoidedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m, client := restClientOf(t, p), merchantOf(t, p), patientClient(t)
	send := func(path, body, want string) {
		t.Helper()
		sendSigned(t, client, signedRequest(t, p, p.HTTP, path, body), want)
	}
	sale := d.must(t, restPayments, restPayment("20.00", "USD", true, ""), "AUTHORIZED").ID
	held := d.must(t, restPayments, restPayment("20.00", "USD", false, ""), "AUTHORIZED").ID
	taken := d.must(t, restPayments+"/"+held+"/captures", restAmount("20.00", ""), "PENDING").ID
	undo := map[string]string{
		"/pts/v2/voids": "NOT_VOIDABLE", "/pts/v2/voids/": "NOT_VOIDABLE", "/pts/v2/reversals": "NOT_SUPPORTED",
	}
	for path, want := range undo {
		for _, r := range lostRefunds(sale, taken, "arrived"+want) {
			send(r.path, r.body, "PENDING")
			send(path, restReversal("1.00", r.name), want)
		}
		for _, r := range lostRefunds(sale, taken, "late"+want) {
			send(path, restReversal("1.00", r.name), "INVALID_DATA")
			send(r.path, r.body, "DUPLICATE_REQUEST")
			send(path, restReversal("1.00", r.name), "INVALID_DATA")
		}
	}
	if got := m.given(t); got != 6 { // the second path of voids repeats the requests of the first
		t.Errorf("refunds: got %d, want 6", got)
	}
	for _, number := range []string{sale, held} {
		if got := stored(t, m, number).AmountRefunded; got != 200 {
			t.Errorf("refunded: got %d, want 200", got)
		}
	}
	checkAgreed(t, p, dir)
}

// TestDeclinedRefundVoidedByName voids a declined refund by its transactionId. It moved no money,
// and a retry moves none.
func TestDeclinedRefundVoidedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	sale := d.must(t, restPayments, restPayment("2000.00", "USD", true, ""), "AUTHORIZED").ID
	refund := restAmount("1313.13", "declined") // the simulator's declined refund
	d.must(t, restPayments+"/"+sale+"/refunds", refund, "PROCESSOR_DECLINED")
	for _, path := range []string{"/pts/v2/voids", "/pts/v2/reversals"} {
		d.must(t, path, restReversal("1313.13", "declined"), "INVALID_DATA")
		d.must(t, restPayments+"/"+sale+"/refunds", refund, "PROCESSOR_DECLINED")
	}
	d.must(t, restPayments+"/"+sale+"/refunds", restAmount("1.00", "declined"), "DUPLICATE_REQUEST")
	if got := m.given(t); got != 0 {
		t.Errorf("refunds: got %d, want none", got)
	}
	checkAgreed(t, p, dir)
}

// given returns the number of refunds and credits that moved money.
func (m *merchant) given(t *testing.T) int {
	t.Helper()
	n := 0
	for _, r := range mustDecode[v1.RefundList](t, m.must(t, http.MethodGet, "/v1/refunds?limit=100", "", "")).Data {
		if r.Status == v1.RefundStatusSucceeded {
			n++
		}
	}
	return n
}

// TestRefundVoidedByNameAtOnce sends a refund and its void at the same time. Either the void finds
// the refund, or the refund is refused.
func TestRefundVoidedByNameAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	sale := d.must(t, restPayments, restPayment("20.00", "USD", true, ""), "AUTHORIZED").ID
	pairs := map[[2]string]int{}
	for i := range 12 {
		r := lostRefunds(sale, "", "at-once-"+string(rune('a'+i)))[0]
		var all sync.WaitGroup
		var refund, void restResponse
		all.Go(func() { refund, _ = d.do(t.Context(), http.MethodPost, r.path, r.body) })
		all.Go(func() { void, _ = d.do(t.Context(), http.MethodPost, "/pts/v2/voids", restReversal("1.00", r.name)) })
		all.Wait()
		pairs[[2]string{refund.result(), void.result()}]++
	}
	moved := pairs[[2]string{"PENDING", "NOT_VOIDABLE"}] + pairs[[2]string{"PENDING", "SERVER_TIMEOUT"}]
	if refused := pairs[[2]string{"DUPLICATE_REQUEST", "INVALID_DATA"}]; moved+refused != 12 || m.given(t) != moved {
		t.Errorf("got the responses %v and %d refunds, want each refund found or refused", pairs, m.given(t))
	}
	checkAgreed(t, p, dir)
}
