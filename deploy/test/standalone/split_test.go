package standalone_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

// partlyPaid makes an order of 24.50 of which 1.23 are approved, and returns its number.
func partlyPaid(tb testing.TB, p *process) string {
	tb.Helper()
	a := mustTransact(tb, p, p.Keys.SKTest, `"transactionType":"authCaptureTransaction","amount":24.5,`+legacyCard+
		`,"billTo":{"zip":"46225"},"transactionSettings":{"setting":[{"settingName":"allowPartialAuth",`+
		`"settingValue":"true"},`+
		`{"settingName":"duplicateWindow","settingValue":"0"}]}`)
	if a.outcome() != "4/295" {
		tb.Fatalf("got %s, want a part", a.body)
	}
	return a.Response.ID
}

// TestSplitTenderAtOnce sends further payments of an order at the same time through two proxies.
// The rest of it is paid once, for each field that distinguishes them.
func TestSplitTenderAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 12
	dir := t.TempDir()
	p := start(t, dir, "--configs", filepath.Dir(crash.QuickCatalogue(t)))
	client, m := patientClient(t), merchantOf(t, p)
	proxies := []*replica{startReplica(t, p.HTTP, logins(dir)), startReplica(t, p.HTTP, logins(dir))}
	pay := func(invoice string) string { return legacyPayment("authCaptureTransaction", "23.27", invoice) }
	for name, tt := range map[string]struct {
		document func(i int) string
		others   []string // results of the late ones
	}{
		"the same":          {func(int) string { return pay("all") }, []string{"3/11", "3/19"}},
		"of other invoices": {func(i int) string { return pay(fmt.Sprint("inv-", i)) }, []string{"3/298", "3/19"}},
		"all meant":         {func(int) string { return zeroWindow(pay("all")) }, []string{"3/298", "3/19"}},
		"by a slow card": {func(i int) string {
			return strings.Replace(pay(fmt.Sprint("inv-", i)), "4111111111111111", "4000000000000077", 1)
		}, []string{"3/298", "3/19"}},
	} {
		order := partlyPaid(t, p)
		responses, errs := make([]legacyResponse, clients), make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			document := strings.Replace(tt.document(i), "<order>", "<splitTenderId>"+order+"</splitTenderId><order>", 1)
			all.Go(func() {
				responses[i], errs[i] = legacyPost(t.Context(), client, proxies[i%2].base, legacyDocument(p, document))
			})
		}
		all.Wait()
		results := map[string]int{}
		for i, a := range responses {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			results[a.result()]++
		}
		late := results[tt.others[0]] + results[tt.others[1]]
		if results["1/1"] != 1 || late != clients-1 || results[tt.others[0]] == 0 {
			t.Errorf("%s: results = %v, want one approval, the others %v", name, results, tt.others)
		}
		if made := named(t, m, order); len(made) != 1 || made[0].AmountCaptured != 2327 {
			t.Errorf("%s: payments = %d, want one: %+v", name, len(made), made)
		}
		t.Log(name, results)
	}
	checkAgreed(t, p, dir)
}

// TestSplitTenderHalvesAtOnce sends two halves at the same time, which both count for the order. A
// later one has no amount left.
func TestSplitTenderHalvesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client := patientClient(t)
	order := partlyPaid(t, p)
	half := func(amount, invoice string) string {
		return legacyDocument(p, strings.Replace(legacyPayment("authCaptureTransaction", amount, invoice),
			"<order>", "<splitTenderId>"+order+"</splitTenderId><order>", 1))
	}
	var all sync.WaitGroup
	for i, amount := range []string{"11.63", "11.64"} {
		all.Go(func() {
			a, err := legacyPost(t.Context(), client, p.HTTP, half(amount, fmt.Sprint("half-", i)))
			if err != nil || a.result() != "1/1" {
				t.Errorf("%s: got %s, error %v", amount, a.body, err)
			}
		})
	}
	all.Wait()
	wantResult(t, "one more cent", mustPost(t, client, p.HTTP, half("0.01", "more")), "3/298")
	wantResult(t, "a half again", mustPost(t, client, p.HTTP, half("11.63", "half-0")), "3/11")
	if made := named(t, merchantOf(t, p), order); len(made) != 2 {
		t.Errorf("payments = %d, want 2", len(made))
	}
	checkAgreed(t, p, dir)
}
