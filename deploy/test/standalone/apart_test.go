package standalone_test

import (
	"strings"
	"sync"
	"testing"
)

// zeroWindow is a transaction that is nobody's duplicate.
func zeroWindow(inner string) string {
	return inner + "<transactionSettings><setting><settingName>duplicateWindow</settingName><settingValue>0</settingValue></setting></transactionSettings>"
}

// Requests with a window of 0 are charged each, by whatever proxy and all at once; one with a window that comes after them is a duplicate.
func TestZeroWindow(t *testing.T) {
	t.Parallel()
	const clients = 24
	dir := t.TempDir()
	p := start(t, dir, "--configs", hurried(t))
	client, m := patientClient(t), merchantOf(t, p)
	proxies := []*replica{startReplica(t, p.HTTP, logins(dir)), startReplica(t, p.HTTP, logins(dir))}
	const sale = "authCaptureTransaction"
	documents := map[string]string{ // by invoice; one card's approval takes its time
		"zero":      legacyPayment(sale, "12.34", "zero"),
		"zero-slow": strings.Replace(legacyPayment(sale, "12.34", "zero-slow"), "4111111111111111", "4000000000000077", 1),
	}
	for invoice, inner := range documents {
		document := legacyDocument(p, zeroWindow(inner))
		answers, errs := make([]legacyAnswer, clients), make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { answers[i], errs[i] = legacyPost(t.Context(), client, proxies[i%2].base, document) })
		}
		all.Wait()
		numbers := map[string]bool{}
		for i, a := range answers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			wantTold(t, invoice, a, "1/1")
			numbers[a.number] = true
		}
		if made := named(t, m, invoice); len(made) != clients || len(numbers) != clients {
			t.Errorf("%s: payments = %d and numbers = %d, want %d", invoice, len(made), len(numbers), clients)
		}
		proxies[0].Kill()
		proxies[0] = startReplica(t, p.HTTP, logins(dir))
		wantTold(t, invoice+", with a window, after a restart", mustPost(t, client, proxies[0].base, legacyDocument(p, inner)), "3/11")
		wantTold(t, invoice+", without, after a restart", mustPost(t, client, proxies[0].base, document), "1/1")
	}

	number := mustPost(t, client, p.HTTP, legacyDocument(p, legacyPayment(sale, "20.00", "zero-refund"))).number
	settle(t, m, txn(t, number))
	refund := legacyRefund("2.00", number)
	for i, r := range proxies {
		wantTold(t, "a refund without a window", mustPost(t, client, r.base, legacyDocument(p, zeroWindow(refund))), "1/1")
		if got, want := named(t, m, "zero-refund")[0].AmountRefunded, int64(200*(i+1)); got != want {
			t.Errorf("refunded = %d, want %d", got, want)
		}
	}
	wantTold(t, "a refund with a window", mustPost(t, client, p.HTTP, legacyDocument(p, refund)), "3/11")
	checkAgreed(t, p, dir)
}

// The connection between the proxy and v1 breaks under a request with a window of 0: it has one effect, and the next one its own.
func TestZeroWindowWhenTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	for f, broken := range fateNames {
		way := startRelay(t, p.HTTP)
		way.fate = once(f)
		doomed := startReplica(t, way.base, logins(dir))
		invoice := "zero-cut-" + broken
		inner := legacyPayment("authCaptureTransaction", "20.00", invoice)
		document := legacyDocument(p, zeroWindow(inner))
		wantTold(t, "one before, by another proxy, cut "+broken, mustPost(t, client, p.HTTP, document), "1/1")
		wantTold(t, "cut "+broken, mustPost(t, client, doomed.base, document), "1/1")
		if got := len(named(t, m, invoice)); got != 2 {
			t.Errorf("cut %s: payments = %d, want 2", broken, got)
		}
		wantTold(t, "one that looks back, cut "+broken, mustPost(t, client, doomed.base, legacyDocument(p, inner)), "3/11")
	}
	checkAgreed(t, p, dir)
}

// The proxy dies after v1 acted and before it answered: with a window, whoever asks again is told of the duplicate.
func TestZeroWindowWhenTheProxyDies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client := patientClient(t)
	way := startRelay(t, p.HTTP)
	doomed := startReplica(t, way.base, logins(dir))
	way.fate, way.die = once(diesAfter), doomed.Kill
	inner := legacyPayment("authCaptureTransaction", "20.00", "zero-dies")
	if got, err := legacyPost(t.Context(), client, doomed.base, legacyDocument(p, zeroWindow(inner))); err == nil {
		t.Fatalf("the proxy answered, want it dead: %s", got.body)
	}
	wantTold(t, "by another proxy", mustPost(t, client, p.HTTP, legacyDocument(p, inner)), "3/11")
	if got := len(named(t, merchantOf(t, p), "zero-dies")); got != 1 {
		t.Errorf("payments = %d, want 1", got)
	}
	checkAgreed(t, p, dir)
}
