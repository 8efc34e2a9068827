package standalone_test

import (
	"net/http"
	"testing"
	"time"
)

// TestRecordedRefusal repeats a recorded refused request when it would be accepted. It moves no
// money under any name. The client's own retry, signed again under the same name, is carried out.
func TestRecordedRefusal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	client := patientClient(t)
	for name, tt := range map[string]struct{ transaction, header string }{
		"signature": {}, "transactionId": {"T", ""}, "header": {"", "K-1"},
	} {
		for _, op := range []struct{ path, refusal, done string }{
			{"/refunds", "INVALID_DATA", "PENDING"}, // by v1
			{"/voids", "NOT_VOIDABLE", "VOIDED"},    // by the proxy, of an authorization by its transactionId
		} {
			t.Run(name+op.path, func(t *testing.T) {
				t.Parallel()
				id, holdID := tt.transaction, "hold-"+name+op.path
				payment := restPayment("12.50", "USD", false, holdID)
				held := sendSigned(t, client, signedRequest(t, p, p.HTTP, restPayments, payment), "AUTHORIZED")
				path := restPayments + "/" + held.ID + op.path
				if op.path == "/voids" {
					path, id = "/pts/v2/voids", holdID
				}
				named := func(r *http.Request) *http.Request {
					if tt.header != "" {
						r.Header.Set("v-c-idempotency-id", tt.header)
					}
					return r
				}
				recorded := named(signedRequest(t, p, p.HTTP, path, restAmount("5.00", id)))
				sendSigned(t, client, recorded, op.refusal)
				d.must(t, restPayments+"/"+held.ID+"/captures", restAmount("12.50", ""), "PENDING")
				for range 2 {
					a := sendSigned(t, client, recorded, "INVALID_DATA")
					if a.HTTP != http.StatusBadRequest {
						t.Errorf("the recorded request: got %d %s, want it refused", a.HTTP, a.Body)
					}
					recorded.URL.Host, recorded.Host = other.base[len("http://"):], recorded.URL.Host
				}
				got := stored(t, m, held.ID)
				if got.AmountRefunded != 0 || got.Status != "captured" {
					t.Errorf("got %s, %d refunded, want it captured and none", got.Status, got.AmountRefunded)
				}
				if name != "signature" {
					later := signedLater(t, p, p.HTTP, path, restAmount("5.00", id), 2*time.Second)
					sendSigned(t, client, named(later), op.done)
				}
			})
		}
	}
}
