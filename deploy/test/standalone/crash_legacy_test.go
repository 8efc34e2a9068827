package standalone_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// crashClients is the number of concurrent legacy clients.
const crashClients = 16

// legacySale is one sale by a legacy client, which has no idempotency keys.
type legacySale struct {
	invoice  string
	amount   int // cents
	response string
}

// post sends the sale and records the response. The error reports an incomplete response.
func (s *legacySale) post(ctx context.Context, client *http.Client, p *process) error {
	document := strings.Replace(saleXML(p, fmt.Sprintf("%d.%02d", s.amount/100, s.amount%100)), "</payment>",
		"</payment><order><invoiceNumber>"+s.invoice+"</invoiceNumber></order>", 1)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.HTTP+"/xml/v1/request.api", strings.NewReader(document))
	if err != nil {
		return err
	}
	got, err := client.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err == nil {
		s.response = string(body)
	}
	return err
}

// approved returns the number of the payment, or "" if the response is not an approval.
func (s *legacySale) approved() string {
	if !strings.Contains(s.response, "<responseCode>1</responseCode>") {
		return ""
	}
	_, rest, _ := strings.Cut(s.response, "<transId>")
	number, _, _ := strings.Cut(rest, "</transId>")
	return number
}

// legacyLoad lets every client send sales until the process dies. It kills the process after a
// number of responses.
func legacyLoad(tb testing.TB, p *process, client *http.Client, round, responses int) []*legacySale {
	tb.Helper()
	var responded atomic.Int64
	var mu sync.Mutex
	var all []*legacySale // guarded by mu
	var clients sync.WaitGroup
	for c := range crashClients {
		clients.Go(func() {
			for n := 0; ; n++ {
				s := &legacySale{invoice: fmt.Sprintf("L%d-%d-%d", round, c, n), amount: 1000 + n}
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
				if s.post(tb.Context(), client, p) != nil {
					return
				}
				if responded.Add(1) == int64(responses) {
					p.Signal(syscall.SIGKILL) // the process runs
				}
			}
		})
	}
	clients.Wait()
	p.Kill()
	return all
}

// TestKillUnderLegacyLoad kills the process under legacy sales. An acknowledged sale exists exactly
// once, another one at most once, and none is unfinished.
func TestKillUnderLegacyLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crashClients}, Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)
	p := start(t, dir, "--log", "error")
	var all []*legacySale
	for round := range 3 {
		now := legacyLoad(t, p, client, round, 20+rand.IntN(300))
		p = start(t, dir, "--log", "error")
		all = append(all, now...)
	}
	byInvoice := map[string][]v1.Transaction{}
	for _, txn := range merchantOf(t, p).transactions(t) {
		byInvoice[*txn.Reference] = append(byInvoice[*txn.Reference], txn)
	}
	for _, s := range all {
		kept := byInvoice[s.invoice]
		if s.response == "" && len(kept) == 0 {
			continue // the kill came first
		}
		if len(kept) != 1 || s.response != "" && s.approved() == "" {
			t.Errorf("%s: transactions = %d, want 1; response: %s", s.invoice, len(kept), s.response)
			continue
		}
		if kept[0].Status != v1.TransactionStatusCaptured || kept[0].AmountCaptured != int64(s.amount) {
			t.Errorf("%s: %s %d, want captured %d", s.invoice, kept[0].Status, kept[0].AmountCaptured, s.amount)
		}
		if number := s.approved(); number != "" {
			if want, err := id.Decimal(id.Transaction, number); err != nil || kept[0].ID != want {
				t.Errorf("%s: id = %s, want %s (%v)", s.invoice, kept[0].ID, want, err)
			}
		}
	}
	t.Logf("%d sales, none charged twice", len(all))
}
