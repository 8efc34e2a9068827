package standalone_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// raceBench is a platform with a second proxy. Before v1 gets a request of that proxy, another
// client acts.
type raceBench struct {
	client, proxy *restClient
	m             *merchant
	next          *atomic.Pointer[func()] // runs once before the next request
}

// startRace starts one. next runs before a request of the proxy whose path ends with suffix.
func startRace(t *testing.T, suffix string) raceBench {
	t.Helper()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	way, next := startRelay(t, p.HTTP), &atomic.Pointer[func()]{}
	way.fate = func(r *http.Request) fate {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, suffix) {
			if meanwhile := next.Swap(nil); meanwhile != nil {
				(*meanwhile)()
			}
		}
		return passes
	}
	client := restClientOf(t, p)
	return raceBench{
		client: client,
		proxy:  &restClient{base: startReplica(t, way.base, logins(dir)).base, key: client.key, http: client.http},
		m:      merchantOf(t, p),
		next:   next,
	}
}

// TestReversalLeavesAnotherWorkersCapture captures while a proxy that has read "authorized" is
// about to void. The capture was acknowledged and stays. The reversal and its retry are refused
// alike, with a name and without.
func TestReversalLeavesAnotherWorkersCapture(t *testing.T) {
	t.Parallel()
	b := startRace(t, "/void")
	for _, name := range []string{"rev-1", ""} {
		number := b.client.must(t, restPayments, restPayment("20.00", "USD", false, ""), "AUTHORIZED").ID
		capture := func() { b.client.must(t, restPayments+"/"+number+"/captures", restAmount("20.00", ""), "PENDING") }
		b.next.Store(&capture)
		path, want := restPayments+"/"+number+"/reversals", "TRANSACTION_ALREADY_REVERSED_OR_SETTLED"
		for range 2 {
			b.proxy.must(t, path, restReversal("20.00", name), want)
		}
		if x := stored(t, b.m, number); x.Status != v1.TransactionStatusCaptured || x.AmountCaptured != 2000 {
			t.Errorf("reversal named %q: the payment is %s with %d captured, want 2000", name, x.Status, x.AmountCaptured)
		}
	}
}

// TestVoidOfAHeldSaleLeavesACapture captures a part of a sale that waits for its review. Meanwhile
// a proxy that has read "authorized" is about to void the sale by its name.
func TestVoidOfAHeldSaleLeavesACapture(t *testing.T) {
	t.Parallel()
	b := startRace(t, "/void")
	sale := strings.Replace(withAddress(restPayment("20.00", "USD", true, "held-1")), "73301", "46205", 1)
	number := b.client.must(t, restPayments, sale, "AUTHORIZED_PENDING_REVIEW").ID
	capture := func() { b.client.must(t, restPayments+"/"+number+"/captures", restAmount("5.00", ""), "PENDING") }
	b.next.Store(&capture)
	b.proxy.must(t, "/pts/v2/voids", `{"clientReferenceInformation":{"transactionId":"held-1"}}`, "NOT_VOIDABLE")
	if x := stored(t, b.m, number); x.Status != v1.TransactionStatusPartiallyCaptured || x.AmountCaptured != 500 {
		t.Errorf("the payment is %s with %d captured, want 500", x.Status, x.AmountCaptured)
	}
}

// TestVoidOfAnAuthorizationLeavesACapture captures a part of an authorization. Meanwhile a proxy
// that has read "authorized" is about to void it by its number.
func TestVoidOfAnAuthorizationLeavesACapture(t *testing.T) {
	t.Parallel()
	b := startRace(t, "/void")
	number := b.client.must(t, restPayments, restPayment("20.00", "USD", false, ""), "AUTHORIZED").ID
	capture := func() { b.client.must(t, restPayments+"/"+number+"/captures", restAmount("5.00", ""), "PENDING") }
	b.next.Store(&capture)
	b.proxy.must(t, restPayments+"/"+number+"/voids", `{}`, "NOT_VOIDABLE")
	if x := stored(t, b.m, number); x.Status != v1.TransactionStatusPartiallyCaptured || x.AmountCaptured != 500 {
		t.Errorf("the payment is %s with %d captured, want 500", x.Status, x.AmountCaptured)
	}
}

// TestTimeoutReversalOvertakesItsPayment lets a payment reach v1 after its reversal or void by name
// found none. The payment and its retry are refused, and no money is held.
func TestTimeoutReversalOvertakesItsPayment(t *testing.T) {
	t.Parallel()
	b := startRace(t, "/v1/transactions")
	for _, path := range []string{"/pts/v2/reversals", "/pts/v2/voids"} {
		name := "late" + strings.ReplaceAll(path, "/", "-")
		undo := func() {
			for range 2 {
				b.client.must(t, path, `{"clientReferenceInformation":{"transactionId":"`+name+`"}}`, "INVALID_DATA")
			}
		}
		b.next.Store(&undo)
		for range 2 {
			b.proxy.must(t, restPayments, restPayment("20.00", "USD", true, name), "DUPLICATE_REQUEST")
		}
	}
	if made := b.m.transactions(t); len(made) != 0 {
		t.Errorf("got %d payments, want none", len(made))
	}
}
