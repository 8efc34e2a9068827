package api_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestEndlessListsStopNoOther: a merchant's lists take all the time that a list may have. Meanwhile
// payments, keys, reads by id, health and the lists of another merchant go on. A list that takes
// too long fails, and so does one too many.
func TestEndlessListsStopNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const list = "/v1/customers"
	MustDecode[v1.Customer](t, b.post(t, list, "{}"), 201)
	b.makeEndless(t, "customers") // into which no payment writes
	const lists = 40
	refused := b.startLists(t, list, lists)
	other := *b
	other.merchant = coretest.MustCreateMerchant(t, b.core.Admin())
	other.key = coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other.merchant, Mode: "test", Kind: "secret"})
	for _, c := range []*bundle{&other, b} {
		made := c.MustCreate(t, 100, manual).ID
		MustDecode[v1.Transaction](t, c.get(t, "/v1/transactions/"+made), 200)
	}
	MustDecode[page](t, other.get(t, "/v1/transactions"), 200)
	MustDecode[v1.Health](t, b.get(t, "/v1/health"), 200)

	wantRefused(t, refused, lists)
}

// makeEndless makes each read of a table endless, once it has a row.
func (b *bundle) makeEndless(t *testing.T, table string) {
	t.Helper()
	never := `(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0)`
	if coretest.Shared() {
		never = `pg_sleep(3600)`
	}
	b.database.MustExec(t, "ALTER TABLE "+table+" RENAME TO stored_"+table)
	b.database.MustExec(t, "CREATE VIEW "+table+" AS SELECT stored.* FROM stored_"+table+" AS stored, "+never+" AS never")
}

// startLists starts clients that each request one list, and returns when all requests have come.
func (b *bundle) startLists(t *testing.T, list string, clients int) <-chan response {
	t.Helper()
	refused := make(chan response, clients)
	var begun atomic.Int64
	served := b.server.Config.Handler
	b.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == list {
			begun.Add(1)
		}
		served.ServeHTTP(w, r)
	})
	for range clients {
		go func() {
			a, err := b.try(t, http.MethodGet, list, "")
			if err != nil {
				t.Error(err)
			}
			refused <- a
		}()
	}
	programtest.WaitFor(t, "the lists have begun", func() bool { return begun.Load() == int64(clients) })
	return refused
}

// wantRefused checks that some lists took too long, and that others were too many.
func wantRefused(t *testing.T, refused <-chan response, lists int) {
	t.Helper()
	statuses := map[int]int{}
	for range lists {
		a := <-refused
		statuses[a.status]++
		code := map[int]string{http.StatusGatewayTimeout: "list_timeout", http.StatusTooManyRequests: "too_many_lists"}[a.status]
		if got := MustDecode[v1.ErrorBody](t, a, a.status).Error.Code; got != code {
			t.Errorf("status %d: got %s, want %q", a.status, got, code)
		}
		if a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" {
			t.Error("too_many_lists has no Retry-After")
		}
	}
	if len(statuses) != 2 {
		t.Errorf("got the statuses %v, want some of 429 and of 504", statuses)
	}
}
