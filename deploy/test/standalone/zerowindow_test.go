package standalone_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

// zeroWindow returns a transaction that is never a duplicate.
func zeroWindow(inner string) string {
	return inner + "<transactionSettings><setting><settingName>duplicateWindow</settingName>" +
		"<settingValue>0</settingValue></setting></transactionSettings>"
}

// TestZeroWindow checks that each of several concurrent requests with a window of 0 is charged, by
// any proxy. A later request with a window is a duplicate.
func TestZeroWindow(t *testing.T) {
	t.Parallel()
	const clients = 24
	dir := t.TempDir()
	p := start(t, dir, "--configs", filepath.Dir(crash.QuickCatalogue(t)))
	client, m := patientClient(t), merchantOf(t, p)
	proxies := []*replica{startReplica(t, p.HTTP, logins(dir)), startReplica(t, p.HTTP, logins(dir))}
	const sale = "authCaptureTransaction"
	documents := map[string]string{ // by invoice; one card is approved slowly
		"zero":      legacyPayment(sale, "12.34", "zero"),
		"zero-slow": strings.Replace(legacyPayment(sale, "12.34", "zero-slow"), "4111111111111111", "4000000000000077", 1),
	}
	for invoice, inner := range documents {
		document := legacyDocument(p, zeroWindow(inner))
		responses, errs := make([]legacyResponse, clients), make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { responses[i], errs[i] = legacyPost(t.Context(), client, proxies[i%2].base, document) })
		}
		all.Wait()
		numbers := map[string]bool{}
		for i, a := range responses {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			wantResult(t, invoice, a, "1/1")
			numbers[a.number] = true
		}
		if made := named(t, m, invoice); len(made) != clients || len(numbers) != clients {
			t.Errorf("%s: payments = %d and numbers = %d, want %d", invoice, len(made), len(numbers), clients)
		}
		proxies[0].Kill()
		proxies[0] = startReplica(t, p.HTTP, logins(dir))
		wantResult(t, invoice+", with a window, after a restart",
			mustPost(t, client, proxies[0].base, legacyDocument(p, inner)), "3/11")
		wantResult(t, invoice+", without, after a restart", mustPost(t, client, proxies[0].base, document), "1/1")
	}

	number := mustPost(t, client, p.HTTP, legacyDocument(p, legacyPayment(sale, "20.00", "zero-refund"))).number
	settle(t, m, txn(t, number))
	refund := legacyRefund("2.00", number)
	for i, r := range proxies {
		wantResult(t, "a refund without a window", mustPost(t, client, r.base, legacyDocument(p, zeroWindow(refund))), "1/1")
		if got, want := named(t, m, "zero-refund")[0].AmountRefunded, int64(200*(i+1)); got != want {
			t.Errorf("refunded = %d, want %d", got, want)
		}
	}
	wantResult(t, "a refund with a window", mustPost(t, client, p.HTTP, legacyDocument(p, refund)), "3/11")
	checkAgreed(t, p, dir)
}

// TestZeroWindowWhenTheConnectionBreaks breaks the connection between the proxy and v1 during a
// request with a window of 0. The request has one effect, and the next one another.
func TestZeroWindowWhenTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	for f, broken := range fateNames {
		way := startRelay(t, p.HTTP)
		way.fate = once(f)
		killed := startReplica(t, way.base, logins(dir))
		invoice := "zero-cut-" + broken
		inner := legacyPayment("authCaptureTransaction", "20.00", invoice)
		document := legacyDocument(p, zeroWindow(inner))
		wantResult(t, "one before, by another proxy, cut "+broken, mustPost(t, client, p.HTTP, document), "1/1")
		wantResult(t, "cut "+broken, mustPost(t, client, killed.base, document), "1/1")
		way.wantBroken(t, invoice)
		if got := len(named(t, m, invoice)); got != 2 {
			t.Errorf("cut %s: payments = %d, want 2", broken, got)
		}
		wantResult(t, "one that looks back, cut "+broken, mustPost(t, client, killed.base, legacyDocument(p, inner)), "3/11")
	}
	checkAgreed(t, p, dir)
}

// TestZeroWindowWhenTheProxyDies kills the proxy after v1 acted and before the response. A retry
// with a window is a duplicate.
func TestZeroWindowWhenTheProxyDies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client := patientClient(t)
	way := startRelay(t, p.HTTP)
	killed := startReplica(t, way.base, logins(dir))
	way.fate, way.die = once(diesAfter), killed.Kill
	inner := legacyPayment("authCaptureTransaction", "20.00", "zero-dies")
	if got, err := legacyPost(t.Context(), client, killed.base, legacyDocument(p, zeroWindow(inner))); err == nil {
		t.Fatalf("the proxy responded, want it dead: %s", got.body)
	}
	wantResult(t, "by another proxy", mustPost(t, client, p.HTTP, legacyDocument(p, inner)), "3/11")
	if got := len(named(t, merchantOf(t, p), "zero-dies")); got != 1 {
		t.Errorf("payments = %d, want 1", got)
	}
	checkAgreed(t, p, dir)
}
