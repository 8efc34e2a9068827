package standalone_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// replica is a compat-proxy, of which the standalone has one inside.
type replica struct {
	*programtest.Program
	base string
}

// startReplica starts a compat-proxy in front of v1, with the logins of a file, and returns when it
// takes requests. The end of the test kills it.
func startReplica(tb testing.TB, v1Base, logins string) *replica {
	tb.Helper()
	p := programtest.Start(tb, programtest.Command{
		Path: filepath.Join(bin, "compat-proxy"),
		Args: []string{"--listen", "127.0.0.1:0", "--v1", v1Base, "--credentials", logins, "--drop-in-paths"},
		Env:  []string{"CAUSEWAY_DEDUPLICATION_SECRET=" + deduplicationSecret(tb, filepath.Dir(logins))},
	})
	return &replica{Program: p, base: "http://" + p.MustAddress(tb, "listen")}
}

// deduplicationSecret is that of the standalone with that data folder, so that a replica recognises
// its requests; another one for a replica that is beside no standalone.
func deduplicationSecret(tb testing.TB, data string) string {
	tb.Helper()
	kept, err := os.ReadFile(filepath.Join(data, "deduplication.secret"))
	if errors.Is(err, fs.ErrNotExist) {
		return rand.Text() + rand.Text()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(kept))
}

// logins is the credentials file of a standalone, which maps its login to its test key.
func logins(data string) string { return filepath.Join(data, "compat-credentials.yaml") }

// legacyAnswer is what a legacy client looks at. The zero value is an answer that was lost.
type legacyAnswer struct {
	code, responseCode, reason, number string
	body                               string
}

// told is what the answer means to a merchant: the response code and the reason, or the code where it never came to that.
func (a legacyAnswer) told() string {
	if a.responseCode == "" {
		return a.code
	}
	return a.responseCode + "/" + a.reason
}

// legacyPost sends a document to a door. The error says that there was no whole answer.
func legacyPost(ctx context.Context, client *http.Client, base, document string) (legacyAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/xml/v1/request.api", strings.NewReader(document))
	if err != nil {
		return legacyAnswer{}, err
	}
	got, err := client.Do(r)
	if err != nil {
		return legacyAnswer{}, err
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		return legacyAnswer{}, err
	}
	a := legacyAnswer{body: string(data)}
	envelope, rest, _ := strings.Cut(a.body, "<transactionResponse>")
	a.code, a.responseCode, a.number = element(envelope, "code"), element(rest, "responseCode"), element(rest, "transId")
	if a.reason = element(rest, "errorCode"); a.reason == "" {
		a.reason = element(rest, "code")
	}
	return a, nil
}

// element is the text of the first element of a name.
func element(document, name string) string {
	_, rest, _ := strings.Cut(document, "<"+name+">")
	text, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return text
}

// legacyDocument is a request with the process's login; inner is all that is in transactionRequest.
func legacyDocument(p *process, inner string) string {
	return `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` + p.ProviderA.Name +
		`</name><transactionKey>` + p.ProviderA.TransactionKey + `</transactionKey></merchantAuthentication><transactionRequest>` + inner +
		`</transactionRequest></createTransactionRequest>`
}

// legacyPayment is the inside of a payment request, named by its invoice number.
func legacyPayment(kind, amount, invoice string) string {
	return "<transactionType>" + kind + "</transactionType><amount>" + amount + "</amount><payment><creditCard><cardNumber>4111111111111111" +
		"</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment><order><invoiceNumber>" + invoice + "</invoiceNumber></order>"
}

// mustPost wants an answer.
func mustPost(tb testing.TB, client *http.Client, base, document string) legacyAnswer {
	tb.Helper()
	a, err := legacyPost(tb.Context(), client, base, document)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// wantTold compares what a merchant is told.
func wantTold(tb testing.TB, what string, got legacyAnswer, want string) {
	tb.Helper()
	if got.told() != want {
		tb.Errorf("%s = %s, want %s: %s", what, got.told(), want, got.body)
	}
}

// named are the payments in v1 with a reference.
func named(tb testing.TB, m *merchant, reference string) []v1.Transaction {
	tb.Helper()
	return slices.DeleteFunc(m.transactions(tb), func(t v1.Transaction) bool { return t.Reference == nil || *t.Reference != reference })
}

// patientClient is a client that many goroutines may use.
func patientClient(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// A repetition is a repetition after the proxy was killed and started anew, and by another proxy: what v1 remembers decides.
func TestDuplicateOutlivesTheProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	sale := legacyDocument(p, legacyPayment("authCaptureTransaction", "12.34", "once"))
	first := startReplica(t, p.HTTP, logins(dir))
	got := mustPost(t, client, first.base, sale)
	wantTold(t, "the charge", got, "1/1")
	first.Kill()
	again := startReplica(t, p.HTTP, logins(dir))
	wantTold(t, "after a restart", mustPost(t, client, again.base, sale), "3/11")
	other := startReplica(t, p.HTTP, logins(dir))
	wantTold(t, "by another proxy", mustPost(t, client, other.base, sale), "3/11")
	wantTold(t, "by the proxy inside the standalone", mustPost(t, client, p.HTTP, sale), "3/11")
	made := named(t, m, "once")
	if len(made) != 1 || made[0].ID != txn(t, got.number) {
		t.Fatalf("payments = %d, want the one that was answered: %+v", len(made), made)
	}

	settled := m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+made[0].ID+"/settle", "", "")
	if settled.status != http.StatusOK {
		t.Fatalf("settle = %d %s", settled.status, settled.body)
	}
	refund := legacyDocument(p, legacyRefund("2.00", got.number))
	wantTold(t, "the refund", mustPost(t, client, again.base, refund), "1/1")
	again.Kill()
	wantTold(t, "the refund by another proxy", mustPost(t, client, other.base, refund), "3/11")
	if got := named(t, m, "once")[0].AmountRefunded; got != 200 {
		t.Errorf("refunded = %d, want 200", got)
	}
}

func legacyRefund(amount, number string) string {
	return "<transactionType>refundTransaction</transactionType><amount>" + amount + "</amount><payment><creditCard><cardNumber>1111</cardNumber>" +
		"<expirationDate>XXXX</expirationDate></creditCard></payment><refTransId>" + number + "</refTransId>"
}

// Many at once, by two proxies that know nothing of each other: one charge, one approval, and all others are told of the duplicate.
func TestManyDuplicatesAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 64
	dir := t.TempDir()
	p := start(t, dir, "--configs", hurried(t))
	client := patientClient(t)
	proxies := []*replica{startReplica(t, p.HTTP, logins(dir)), startReplica(t, p.HTTP, logins(dir))}
	for round := range 3 {
		invoice := fmt.Sprintf("at-once-%d", round)
		document := legacyDocument(p, legacyPayment("authCaptureTransaction", "12.34", invoice))
		if round == 2 { // a card whose approval takes its time, so that all others come while nobody knows of any
			document = strings.Replace(document, "4111111111111111", "4000000000000077", 1)
		}
		answers := make([]legacyAnswer, clients)
		errs := make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { answers[i], errs[i] = legacyPost(t.Context(), client, proxies[i%2].base, document) })
		}
		all.Wait()
		told := map[string]int{}
		number := ""
		for i, a := range answers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if told[a.told()]++; a.told() == "1/1" {
				number = a.number
			}
		}
		// 3/19 is said while it is not known what became of the first.
		if told["1/1"] != 1 || told["1/1"]+told["3/11"]+told["3/19"] != clients || told["3/11"] == 0 {
			t.Errorf("told = %v, want one approval and duplicates", told)
		}
		if made := named(t, merchantOf(t, p), invoice); len(made) != 1 || made[0].ID != txn(t, number) || made[0].AmountCaptured != 1234 {
			t.Errorf("payments = %d, want the one approved, %s: %+v", len(made), number, made)
		}
		t.Log(told)
	}
}
