package standalone_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// losing returns a directory with a catalogue of the simulator that sends no response to some
// payments, and does not make them.
func losing(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "simulator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text = append(text, "\ndisturbances: [{kind: timeout_before, share: 200, delay_ms: 20}]\n"...)
	if err := os.WriteFile(filepath.Join(dir, "simulator.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unsure is a relay that delays each response of v1 to a payment of unknown outcome.
type unsure struct {
	relay

	unknown chan string   // gets the payment's id
	goOn    chan struct{} // one value for each id lets its response pass
}

func startUnsure(t *testing.T, v1Base string) *unsure {
	t.Helper()
	u := &unsure{
		relay: relay{v1: v1Base, http: patientClient(t)}, unknown: make(chan string), goOn: make(chan struct{}),
	}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.base = server.URL
	return u
}

// ServeHTTP implements http.Handler.
func (u *unsure) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		cut(w)
		return
	}
	got, err := u.forward(context.WithoutCancel(in.Context()), in, body)
	if err != nil {
		cut(w)
		return
	}
	var refused v1.ErrorBody
	if err := json.Unmarshal(got.body, &refused); err == nil && refused.Error.Code == "outcome_unknown" {
		select {
		case u.unknown <- refused.Error.Transaction.ID:
			<-u.goOn
		case <-in.Context().Done(): // the test has ended
		}
	}
	maps.Copy(w.Header(), got.head)
	w.WriteHeader(got.status)
	_, _ = w.Write(got.body) // the proxy may have disconnected
}

// TestDuplicateAfterARecoveredKey lets the outcome of a payment stay unknown while another proxy
// charges an equal one with a window of 0. Recovery finds that the acquirer never had the first
// one, and frees its key. A later request with a window is the duplicate of the charged one.
func TestDuplicateAfterARecoveredKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--configs", losing(t))
	for name, change := range map[string]func(string) string{
		"zero": zeroWindow, "default": func(inner string) string { return inner },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := startUnsure(t, p.HTTP)
			proxy := startReplica(t, way.base, logins(dir))
			for i := range 100 { // one outcome in five is lost
				invoice := fmt.Sprintf("%s-%d", name, i)
				inner := legacyPayment("authCaptureTransaction", "20.00", invoice)
				if way.recovers(t, p, proxy, change(inner), inner) {
					wantOneCharge(t, p, invoice, inner)
					return
				}
			}
			t.Error("no payment of unknown outcome was followed by one that was charged")
		})
	}
}

// recovers sends a payment through the relay's proxy. If its outcome is unknown, it sends an equal
// one through the other proxy. It returns after v1's recovery has failed the first one, and reports
// whether the other one was charged before that.
func (u *unsure) recovers(t *testing.T, p *process, proxy *replica, first, other string) bool {
	t.Helper()
	client, m := patientClient(t), merchantOf(t, p)
	ended := make(chan error, 1)
	var response legacyResponse
	go func() {
		var err error
		response, err = legacyPost(t.Context(), client, proxy.base, legacyDocument(p, first))
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
		return false
	case id := <-u.unknown:
		failed := func() bool {
			got := m.must(t, http.MethodGet, "/v1/transactions/"+id, "", "")
			return mustDecode[v1.Transaction](t, got).Status == v1.TransactionStatusFailed
		}
		charged := mustPost(t, client, p.HTTP, legacyDocument(p, zeroWindow(other))).result() == "1/1"
		early := failed() // the other one may have got the key of the first
		programtest.WaitFor(t, "the first payment has failed", failed)
		u.goOn <- struct{}{}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		wantResult(t, "the first payment", response, "3/19")
		return charged && !early
	}
}

// wantOneCharge sends a payment with a window, which must be a duplicate.
func wantOneCharge(t *testing.T, p *process, invoice, inner string) {
	t.Helper()
	wantResult(t, "the duplicate", mustPost(t, patientClient(t), p.HTTP, legacyDocument(p, inner)), "3/11")
	charged := 0
	for _, made := range named(t, merchantOf(t, p), invoice) {
		if made.Status != v1.TransactionStatusFailed {
			charged++
		}
	}
	if charged != 1 {
		t.Errorf("charged %d times, want once", charged)
	}
}
