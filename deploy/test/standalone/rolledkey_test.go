package standalone_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRolledKeyForgetsNothing rolls the API key behind the logins. One proxy still uses the old key
// and another the new one. No retry is paid twice, and a timeout reversal finds the payment.
func TestRolledKeyForgetsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	current := mustDecode[v1.APIKey](t, m.must(t, http.MethodGet, "/v1/api_keys/current", "", ""))
	rolled := mustDecode[v1.APIKey](t, m.must(t, http.MethodPost, "/v1/api_keys/"+current.ID+"/roll", "", "{}"))
	own, err := os.ReadFile(logins(dir))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rolled.yaml")
	if err := os.WriteFile(file,
		bytes.ReplaceAll(own, []byte(p.Keys.SKTest), []byte(rolled.Secret.Reveal())), 0o600); err != nil {
		t.Fatal(err)
	}
	other := startReplica(t, p.HTTP, file)

	document := legacyDocument(p, legacyPayment("authCaptureTransaction", "12.34", "rolled"))
	wantResult(t, "the sale", mustPost(t, client, p.HTTP, document), "1/1")
	wantResult(t, "its retry under the rolled key", mustPost(t, client, other.base, document), "3/11")
	if got := len(named(t, m, "rolled")); got != 1 {
		t.Errorf("got %d payments of provider-a, want 1", got)
	}

	body := restPayment("20.00", "USD", false, "rolled-1")
	first := sendSigned(t, client, signedRequest(t, p, p.HTTP, restPayments, body), "AUTHORIZED")
	second := sendSigned(t, client, signedRequest(t, p, other.base, restPayments, body), "AUTHORIZED")
	if first.ID != second.ID {
		t.Errorf("got payments %s and %s under one transactionId, want one", first.ID, second.ID)
	}
	reversal := `{"clientReferenceInformation":{"transactionId":"rolled-1"}}`
	sendSigned(t, client, signedRequest(t, p, other.base, "/pts/v2/reversals", reversal), "REVERSED")
	if got := stored(t, m, first.ID).Status; got != v1.TransactionStatusVoided {
		t.Errorf("after the reversal: got %s, want it voided", got)
	}
}
