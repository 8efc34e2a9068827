package standalone_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// partlyPaid makes an order of 24.50 of which 1.23 were approved, and returns its number.
func partlyPaid(tb testing.TB, p *process) string {
	tb.Helper()
	a := mustTransact(tb, p, p.Keys.SKTest, `"transactionType":"authCaptureTransaction","amount":24.5,`+legacyCard+
		`,"billTo":{"zip":"46225"},"transactionSettings":{"setting":[{"settingName":"allowPartialAuth","settingValue":"true"},`+
		`{"settingName":"duplicateWindow","settingValue":"0"}]}`)
	if a.outcome() != "4/295" {
		tb.Fatalf("got %s, want a part", a.body)
	}
	return a.Response.ID
}

// Further payments of an order come at once, by two proxies: the rest of it is paid once, whatever tells them apart.
func TestSplitTenderAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 12
	dir := t.TempDir()
	p := start(t, dir, "--configs", hurried(t))
	client, m := patientClient(t), merchantOf(t, p)
	proxies := []*replica{startReplica(t, p.HTTP, logins(dir)), startReplica(t, p.HTTP, logins(dir))}
	for name, tt := range map[string]struct {
		document func(order string, i int) string
		others   []string // what those are told that come too late
	}{
		"the same": {func(string, int) string { return legacyPayment("authCaptureTransaction", "23.27", "all") }, []string{"3/11", "3/19"}},
		"of other invoices": {func(_ string, i int) string {
			return legacyPayment("authCaptureTransaction", "23.27", fmt.Sprint("inv-", i))
		}, []string{"3/298", "3/19"}},
		"all meant": {func(string, int) string { return legacyPayment("authCaptureTransaction", "23.27", "all") }, []string{"3/298", "3/19"}},
		"by a card that takes its time": {func(_ string, i int) string {
			return strings.Replace(legacyPayment("authCaptureTransaction", "23.27", fmt.Sprint("inv-", i)), "4111111111111111", "4000000000000077", 1)
		}, []string{"3/298", "3/19"}},
	} {
		order := partlyPaid(t, p)
		answers, errs := make([]legacyAnswer, clients), make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			document := strings.Replace(tt.document(order, i), "<order>", "<splitTenderId>"+order+"</splitTenderId><order>", 1)
			if name == "all meant" {
				document = zeroWindow(document)
			}
			all.Go(func() {
				answers[i], errs[i] = legacyPost(t.Context(), client, proxies[i%2].base, legacyDocument(p, document))
			})
		}
		all.Wait()
		told := map[string]int{}
		for i, a := range answers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			told[a.told()]++
		}
		if late := told[tt.others[0]] + told[tt.others[1]]; told["1/1"] != 1 || late != clients-1 || told[tt.others[0]] == 0 {
			t.Errorf("%s: told = %v, want one approval, the others %v", name, told, tt.others)
		}
		if made := named(t, m, order); len(made) != 1 || made[0].AmountCaptured != 2327 {
			t.Errorf("%s: payments = %d, want one: %+v", name, len(made), made)
		}
		t.Log(name, told)
	}
	checkAgreed(t, p, dir)
}

// Halves that come at once are both for the order, and one after them is for nothing.
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
			if err != nil || a.told() != "1/1" {
				t.Errorf("%s: got %s, error %v", amount, a.body, err)
			}
		})
	}
	all.Wait()
	wantTold(t, "one more cent", mustPost(t, client, p.HTTP, half("0.01", "more")), "3/298")
	wantTold(t, "a half again", mustPost(t, client, p.HTTP, half("11.63", "half-0")), "3/11")
	if made := named(t, merchantOf(t, p), order); len(made) != 2 {
		t.Errorf("payments = %d, want 2", len(made))
	}
	checkAgreed(t, p, dir)
}
