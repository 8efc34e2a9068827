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

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// replica is a separate compat-proxy, in addition to the one in the standalone.
type replica struct {
	*programtest.Program
	base string
}

// startReplica starts a compat-proxy in front of v1, with the logins of a file, and returns when it
// accepts requests. The end of the test kills it.
func startReplica(tb testing.TB, v1Base, logins string) *replica {
	tb.Helper()
	p := programtest.Start(tb, programtest.Command{
		Path: filepath.Join(bin, "compat-proxy"),
		Args: []string{"--listen", "127.0.0.1:0", "--v1", v1Base, "--credentials", logins, "--drop-in-paths"},
		Env:  []string{"CAUSEWAY_DEDUPLICATION_SECRET=" + deduplicationSecret(tb, filepath.Dir(logins))},
	})
	return &replica{Program: p, base: "http://" + p.MustAddress(tb, "listen")}
}

// deduplicationSecret returns the secret of the standalone with the data folder, so that a replica
// recognises its requests. Without a standalone it returns another one.
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

// logins returns the path of a standalone's credentials file, which maps its login to its test key.
func logins(data string) string { return filepath.Join(data, "compat-credentials.yaml") }

// legacyResponse has the fields of a response that a legacy client reads. The zero value is a lost
// response.
type legacyResponse struct {
	code, responseCode, reason, number string
	body                               string
}

// result returns the result for a merchant: "response code/reason code", or the message code of a
// rejected request.
func (a legacyResponse) result() string {
	if a.responseCode == "" {
		return a.code
	}
	return a.responseCode + "/" + a.reason
}

// legacyPost sends a document to the endpoint of provider-a. The error reports an incomplete
// response.
func legacyPost(ctx context.Context, client *http.Client, base, document string) (legacyResponse, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/xml/v1/request.api", strings.NewReader(document))
	if err != nil {
		return legacyResponse{}, err
	}
	got, err := client.Do(r)
	if err != nil {
		return legacyResponse{}, err
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		return legacyResponse{}, err
	}
	return parseLegacy(string(data)), nil
}

// parseLegacy reads the fields of a response to a transaction.
func parseLegacy(body string) legacyResponse {
	a := legacyResponse{body: body}
	envelope, rest, _ := strings.Cut(body, "<transactionResponse>")
	a.code, a.responseCode, a.number = element(envelope, "code"), element(rest, "responseCode"), element(rest, "transId")
	if a.reason = element(rest, "errorCode"); a.reason == "" {
		a.reason = element(rest, "code")
	}
	return a
}

// element returns the text of the first element with the name.
func element(document, name string) string {
	_, rest, _ := strings.Cut(document, "<"+name+">")
	text, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return text
}

// legacyDocument returns a request with the process's login; inner is the content of
// transactionRequest.
func legacyDocument(p *process, inner string) string {
	return `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` +
		p.ProviderA.Name +
		`</name><transactionKey>` + p.ProviderA.TransactionKey +
		`</transactionKey></merchantAuthentication><transactionRequest>` + inner +
		`</transactionRequest></createTransactionRequest>`
}

// legacyPayment returns the content of a payment request, named by its invoice number.
func legacyPayment(kind, amount, invoice string) string {
	return "<transactionType>" + kind + "</transactionType><amount>" + amount +
		"</amount><payment><creditCard><cardNumber>4111111111111111" +
		"</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment><order><invoiceNumber>" + invoice +
		"</invoiceNumber></order>"
}

// mustPost posts a document, which must get a response.
func mustPost(tb testing.TB, client *http.Client, base, document string) legacyResponse {
	tb.Helper()
	a, err := legacyPost(tb.Context(), client, base, document)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// wantResult compares the result of a response.
func wantResult(tb testing.TB, what string, got legacyResponse, want string) {
	tb.Helper()
	if got.result() != want {
		tb.Errorf("%s = %s, want %s: %s", what, got.result(), want, got.body)
	}
}

// named returns the payments in v1 with a reference.
func named(tb testing.TB, m *merchant, reference string) []v1.Transaction {
	tb.Helper()
	return slices.DeleteFunc(m.transactions(tb), func(t v1.Transaction) bool {
		return t.Reference == nil || *t.Reference != reference
	})
}

// patientClient returns a client with a long timeout for many goroutines.
func patientClient(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// TestDuplicateOutlivesTheProxy checks that a duplicate is recognised after a restart of the proxy,
// and by another proxy: only the state of v1 decides.
func TestDuplicateOutlivesTheProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	client, m := patientClient(t), merchantOf(t, p)
	sale := legacyDocument(p, legacyPayment("authCaptureTransaction", "12.34", "once"))
	first := startReplica(t, p.HTTP, logins(dir))
	got := mustPost(t, client, first.base, sale)
	wantResult(t, "the charge", got, "1/1")
	first.Kill()
	again := startReplica(t, p.HTTP, logins(dir))
	wantResult(t, "after a restart", mustPost(t, client, again.base, sale), "3/11")
	other := startReplica(t, p.HTTP, logins(dir))
	wantResult(t, "by another proxy", mustPost(t, client, other.base, sale), "3/11")
	wantResult(t, "by the proxy inside the standalone", mustPost(t, client, p.HTTP, sale), "3/11")
	made := named(t, m, "once")
	if len(made) != 1 || made[0].ID != txn(t, got.number) {
		t.Fatalf("payments = %d, want the acknowledged one: %+v", len(made), made)
	}

	settled := m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+made[0].ID+"/settle", "", "")
	if settled.status != http.StatusOK {
		t.Fatalf("settle = %d %s", settled.status, settled.body)
	}
	refund := legacyDocument(p, legacyRefund("2.00", got.number))
	wantResult(t, "the refund", mustPost(t, client, again.base, refund), "1/1")
	again.Kill()
	wantResult(t, "the refund by another proxy", mustPost(t, client, other.base, refund), "3/11")
	if got := named(t, m, "once")[0].AmountRefunded; got != 200 {
		t.Errorf("refunded = %d, want 200", got)
	}
}

func legacyRefund(amount, number string) string {
	return "<transactionType>refundTransaction</transactionType><amount>" + amount +
		"</amount><payment><creditCard><cardNumber>1111</cardNumber>" +
		"<expirationDate>XXXX</expirationDate></creditCard></payment><refTransId>" + number + "</refTransId>"
}

// TestManyDuplicatesAtOnce sends equal requests at the same time through two independent proxies.
// One is charged and approved, and all others are duplicates.
func TestManyDuplicatesAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 64
	dir := t.TempDir()
	p := start(t, dir, "--configs", filepath.Dir(crash.QuickCatalogue(t)))
	client := patientClient(t)
	proxies := []*replica{startReplica(t, p.HTTP, logins(dir)), startReplica(t, p.HTTP, logins(dir))}
	for round := range 3 {
		invoice := fmt.Sprintf("at-once-%d", round)
		document := legacyDocument(p, legacyPayment("authCaptureTransaction", "12.34", invoice))
		if round == 2 { // a slowly approved card: all others arrive before its outcome
			document = strings.Replace(document, "4111111111111111", "4000000000000077", 1)
		}
		responses := make([]legacyResponse, clients)
		errs := make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { responses[i], errs[i] = legacyPost(t.Context(), client, proxies[i%2].base, document) })
		}
		all.Wait()
		results := map[string]int{}
		number := ""
		for i, a := range responses {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if results[a.result()]++; a.result() == "1/1" {
				number = a.number
			}
		}
		// 3/19 means that the outcome of the first request is not known yet.
		if results["1/1"] != 1 || results["1/1"]+results["3/11"]+results["3/19"] != clients || results["3/11"] == 0 {
			t.Errorf("results = %v, want one approval and duplicates", results)
		}
		if made := named(t, merchantOf(t, p), invoice); len(made) != 1 || made[0].ID != txn(t, number) ||
			made[0].AmountCaptured != 1234 {
			t.Errorf("payments = %d, want the one approved, %s: %+v", len(made), number, made)
		}
		t.Log(results)
	}
}
