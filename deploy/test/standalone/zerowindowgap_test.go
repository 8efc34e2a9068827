package standalone_test

import (
	"net/http"
	"sync"
	"testing"
)

// TestZeroWindowAfterAGap sends two equal payments with a window of 0 at the same time. The earlier
// one never reaches v1. A later request with a window is a duplicate of the other one.
func TestZeroWindowAfterAGap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	way := startRelay(t, p.HTTP)
	var mu sync.Mutex
	var lost string // the Idempotency-Key of the payment that never reaches v1
	entered, release := make(chan struct{}), make(chan struct{})
	way.fate = func(r *http.Request) fate {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/transactions" {
			return passes
		}
		key := r.Header.Get("Idempotency-Key")
		mu.Lock()
		first := lost == ""
		if first {
			lost = key
		}
		cuts := key == lost
		mu.Unlock()
		if first {
			close(entered)
			<-release
		}
		if cuts {
			return cutBefore
		}
		return passes
	}
	proxy := startReplica(t, way.base, logins(dir))
	inner := legacyPayment("authCaptureTransaction", "20.00", "zero-gap")
	document := legacyDocument(p, zeroWindow(inner))

	var both sync.WaitGroup
	both.Go(func() { _, _ = legacyPost(t.Context(), client, proxy.base, document) }) // the request has no effect
	<-entered
	wantResult(t, "the other payment", mustPost(t, client, proxy.base, document), "1/1")
	close(release)
	both.Wait()
	wantResult(t, "one with a window", mustPost(t, client, p.HTTP, legacyDocument(p, inner)), "3/11")
	if got := len(named(t, m, "zero-gap")); got != 1 {
		t.Errorf("payments = %d, want 1", got)
	}
	checkAgreed(t, p, dir)
}

// TestDuplicateBeforeARefusal checks that a refund is a duplicate of an equal one, although v1 has
// refused a third one in between and stored that refusal.
func TestDuplicateBeforeARefusal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	payment := legacyPayment("authOnlyTransaction", "60.00", "refused-refund")
	number := mustPost(t, client, p.HTTP, legacyDocument(p, payment)).number
	id := txn(t, number)
	capture := func(amount string) {
		t.Helper()
		path, body := "/v1/transactions/"+id+"/captures", `{"final":false,"amount":`+amount+`}`
		got := m.must(t, http.MethodPost, path, "capture-"+amount, body)
		if got.status != http.StatusCreated {
			t.Fatalf("capture = %d %s", got.status, got.body)
		}
		settle(t, m, id)
	}
	refund := legacyRefund("15.00", number)
	without, with := legacyDocument(p, zeroWindow(refund)), legacyDocument(p, refund)

	capture("1000")
	wantResult(t, "more than was captured", mustPost(t, client, p.HTTP, without), "3/55")
	capture("1500")
	wantResult(t, "the refund", mustPost(t, client, p.HTTP, without), "1/1")
	wantResult(t, "more than is left", mustPost(t, client, p.HTTP, without), "3/55")
	capture("3500")
	wantResult(t, "one with a window", mustPost(t, client, p.HTTP, with), "3/11")
	if got := named(t, m, "refused-refund")[0].AmountRefunded; got != 1500 {
		t.Errorf("refunded = %d, want 1500", got)
	}
	checkAgreed(t, p, dir)
}
