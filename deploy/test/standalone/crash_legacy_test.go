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

// crashClients is how many legacy clients send at once.
const crashClients = 16

// legacySale is one sale as a legacy client sends it, which knows no idempotency keys.
type legacySale struct {
	invoice string
	amount  int // cents
	answer  string
}

// post sends the sale and keeps the answer. The error says that there was no whole answer.
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
		s.answer = string(body)
	}
	return err
}

// approved returns the number of the payment, or "" when the answer is no approval.
func (s *legacySale) approved() string {
	if !strings.Contains(s.answer, "<responseCode>1</responseCode>") {
		return ""
	}
	_, rest, _ := strings.Cut(s.answer, "<transId>")
	number, _, _ := strings.Cut(rest, "</transId>")
	return number
}

// legacyLoad has every client send sales until the process dies, and kills it once so many were answered.
func legacyLoad(tb testing.TB, p *process, client *http.Client, round, answers int) []*legacySale {
	tb.Helper()
	var answered atomic.Int64
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
				if answered.Add(1) == int64(answers) {
					p.Signal(syscall.SIGKILL) // it cannot be gone before
				}
			}
		})
	}
	clients.Wait()
	p.Kill()
	return all
}

// What a legacy client was told stands, once; what it was not told stands at most once, and is never half done.
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
		if s.answer == "" && len(kept) == 0 {
			continue // the kill came first
		}
		if len(kept) != 1 || s.answer != "" && s.approved() == "" {
			t.Errorf("%s: transactions = %d, want 1; answer: %s", s.invoice, len(kept), s.answer)
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
