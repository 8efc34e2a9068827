package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	crashClients = 16
	// crashRounds is how many times the process is killed; CAUSEWAY_CRASH_ROUNDS says otherwise.
	crashRounds = 5
)

// call is one POST of the load, which is sent again with the same key and body until its answer is known.
type call struct {
	path, key, body string
	answer          *answer // nil until the service acknowledged it
}

// payment is what one client wants done, step by step, and what v1 must say when all of it is.
type payment struct {
	reference string
	id        string  // known from the first acknowledged answer
	calls     []*call // paths and bodies with {id} where the id goes
	status    v1.TransactionStatus
	captured  int64
	refunded  int64
}

// plan returns the n-th payment of a client: each kind of life a payment can have, in turn.
func plan(reference string, n int) *payment {
	amount := int64(1000 + n)
	p := &payment{reference: reference, status: v1.TransactionStatusCaptured, captured: amount}
	create := fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"card","reference":%q,"capture":"automatic"}`, amount, reference)
	held := strings.Replace(create, "automatic", "manual", 1)
	const txn = "/v1/transactions/{id}"
	switch n % 6 {
	case 0:
		p.add("/v1/transactions", create)
	case 1:
		p.add("/v1/transactions", held)
		p.status, p.captured = v1.TransactionStatusAuthorized, 0
	case 2:
		p.add("/v1/transactions", held)
		p.add(txn+"/captures", `{"amount":300}`)
		p.status, p.captured = v1.TransactionStatusPartiallyCaptured, 300
	case 3:
		p.add("/v1/transactions", held)
		p.add(txn+"/captures", `{"amount":300}`)
		p.add(txn+"/captures", `{"amount":200,"final":true}`)
		p.captured = 500
	case 4:
		p.add("/v1/transactions", held)
		p.add(txn+"/void", `{}`)
		p.status, p.captured = v1.TransactionStatusVoided, 0
	case 5:
		p.add("/v1/transactions", create)
		p.add("/v1/test_helpers/transactions/{id}/settle", "")
		p.add("/v1/refunds", `{"transaction":"{id}","amount":250}`)
		p.add("/v1/refunds", `{"transaction":"{id}","amount":150}`)
		p.refunded = 400
	}
	return p
}

func (p *payment) add(path, body string) {
	p.calls = append(p.calls, &call{path: path, body: body, key: p.reference + "-" + strconv.Itoa(len(p.calls))})
}

// proceed sends what has no answer yet, in order, until the connection fails.
func (p *payment) proceed(ctx context.Context, m *merchant, answered func()) error {
	for _, c := range p.calls {
		if c.answer != nil {
			continue
		}
		got, err := m.do(ctx, http.MethodPost, strings.ReplaceAll(c.path, "{id}", p.id), c.key, strings.ReplaceAll(c.body, "{id}", p.id))
		if err != nil {
			return err
		}
		c.answer = &got
		if p.id == "" {
			p.id = idOf(got.body)
		}
		answered()
	}
	return nil
}

// idOf returns the first "txn_…" of a body, which is the id of the transaction it shows.
func idOf(body string) string {
	_, rest, _ := strings.Cut(body, `"txn_`)
	id, _, _ := strings.Cut(rest, `"`)
	return "txn_" + id
}

// load has every client create payments until the process dies, and kills it once so many calls have been acknowledged.
func load(tb testing.TB, p *process, m *merchant, round, calls int) []*payment {
	tb.Helper()
	var acknowledged atomic.Int64
	var mu sync.Mutex
	var all []*payment // guarded by mu
	var clients sync.WaitGroup
	for client := range crashClients {
		clients.Go(func() {
			for n := 0; ; n++ {
				next := plan(fmt.Sprintf("r%d-c%d-n%d", round, client, n), n+client)
				mu.Lock()
				all = append(all, next)
				mu.Unlock()
				err := next.proceed(tb.Context(), m, func() {
					if acknowledged.Add(1) == int64(calls) {
						_ = p.cmd.Process.Kill() // it cannot be gone before
					}
				})
				if err != nil {
					return
				}
			}
		})
	}
	clients.Wait()
	p.kill()
	return all
}

// settle sends again what was not acknowledged, and wants the same answer to each when it is asked a second time. It returns how many
// answers the crash took, and how many of those stood already.
func settle(tb testing.TB, m *merchant, payments []*payment) (lost, stood int) {
	tb.Helper()
	for _, p := range payments {
		first := slices.IndexFunc(p.calls, func(c *call) bool { return c.answer == nil })
		if err := p.proceed(tb.Context(), m, func() {}); err != nil {
			tb.Fatal(err)
		}
		if first >= 0 {
			lost++
		}
		if first >= 0 && p.calls[first].answer.replayed {
			stood++
		}
		for i, c := range p.calls {
			if c.answer.status != http.StatusOK && c.answer.status != http.StatusCreated {
				tb.Errorf("%s %s: %d %s (lost in the crash: %v)", p.reference, c.path, c.answer.status, c.answer.body, i == first)
			}
			again := m.must(tb, http.MethodPost, strings.ReplaceAll(c.path, "{id}", p.id), c.key, strings.ReplaceAll(c.body, "{id}", p.id))
			if again.status != c.answer.status || again.body != c.answer.body || !again.replayed {
				tb.Errorf("%s %s, again: %d replayed=%v %s, want %d true %s", p.reference, c.path, again.status, again.replayed, again.body, c.answer.status, c.answer.body)
			}
		}
	}
	return lost, stood
}

// checkNothingHangs is for the moment after a start, before anything was sent.
func checkNothingHangs(tb testing.TB, m *merchant) {
	tb.Helper()
	if got := m.must(tb, http.MethodGet, "/v1/health", "", ""); got.status != http.StatusOK {
		tb.Errorf("health = %d %s", got.status, got.body)
	}
	for _, txn := range m.transactions(tb) {
		if txn.Status == v1.TransactionStatusProcessing || txn.Status == v1.TransactionStatusUnknown {
			tb.Errorf("%s (%s) is %s after the start", txn.ID, *txn.Reference, txn.Status)
		}
	}
}

// checkBooks compares every payment with what it was meant to come to.
func checkBooks(tb testing.TB, m *merchant, payments []*payment) {
	tb.Helper()
	kept := map[string][]v1.Transaction{}
	total := 0
	for _, txn := range m.transactions(tb) {
		kept[*txn.Reference] = append(kept[*txn.Reference], txn)
		total++
	}
	if total != len(payments) {
		tb.Errorf("transactions = %d, want %d", total, len(payments))
	}
	for _, p := range payments {
		if got := len(kept[p.reference]); got != 1 {
			tb.Errorf("%s: transactions = %d, want 1", p.reference, got)
			continue
		}
		txn := kept[p.reference][0]
		if txn.ID != p.id || txn.Status != p.status || txn.AmountCaptured != p.captured || txn.AmountRefunded != p.refunded {
			tb.Errorf("%s: %s %s captured %d refunded %d, want %s %s captured %d refunded %d", p.reference,
				txn.ID, txn.Status, txn.AmountCaptured, txn.AmountRefunded, p.id, p.status, p.captured, p.refunded)
		}
	}
}

// crashRoundsOr is how many rounds CAUSEWAY_CRASH_ROUNDS asks for, n when it does not.
func crashRoundsOr(t *testing.T, n int) int {
	t.Helper()
	if text := os.Getenv("CAUSEWAY_CRASH_ROUNDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("CAUSEWAY_CRASH_ROUNDS: %v", err)
		}
	}
	return n
}

func TestKillAtRandomUnderLoad(t *testing.T) {
	t.Parallel()
	rounds := crashRoundsOr(t, crashRounds)
	dir := t.TempDir()
	var all []*payment
	lost, stood := 0, 0
	p := start(t, dir, "--log", "error")
	for round := range rounds {
		calls := 50 + rand.IntN(1500)
		now := load(t, p, merchantOf(t, p), round, calls)
		p = start(t, dir, "--log", "error")
		m := merchantOf(t, p)
		checkNothingHangs(t, m)
		l, s := settle(t, m, now)
		lost, stood = lost+l, stood+s
		all = append(all, now...)
		checkBooks(t, m, all)
		if t.Failed() {
			t.Fatalf("round %d, killed at call %d; stderr:\n%s", round, calls, p.stderr)
		}
	}
	t.Logf("%d rounds, %d payments, each there once and as it should be; the crashes took %d answers, of which %d stood already",
		rounds, len(all), lost, stood)
	if lost == 0 {
		t.Error("no crash took an answer: the load does not test what it should")
	}
	p.stop(t)
}
