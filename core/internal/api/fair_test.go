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
	b := openBundle(t, &bundle{rateLimit: 1000})
	list := "/v1/transactions/" + b.MustCreate(t, 100, "").ID + "/captures"
	never := `(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0)`
	if coretest.Shared() {
		never = `pg_sleep(3600)`
	}
	b.database.MustExec(t, "ALTER TABLE captures RENAME TO stored_captures")
	b.database.MustExec(t, "CREATE VIEW captures AS SELECT stored.* FROM stored_captures AS stored, "+never+" AS never")

	const lists = 40
	refused := make(chan answer, lists)
	var begun atomic.Int64
	served := b.server.Config.Handler
	b.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == list {
			begun.Add(1)
		}
		served.ServeHTTP(w, r)
	})
	for range lists {
		go func() {
			a, err := b.try(t, http.MethodGet, list, "")
			if err != nil {
				t.Error(err)
			}
			refused <- a
		}()
	}
	programtest.WaitFor(t, "the lists have begun", func() bool { return begun.Load() == lists })
	other := *b
	other.merchant = coretest.MustCreateMerchant(t, b.core.Admin())
	other.key = coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other.merchant, Mode: "test", Kind: "secret"})
	for _, c := range []*bundle{&other, b} {
		made := c.MustCreate(t, 100, manual).ID
		MustDecode[v1.Transaction](t, c.get(t, "/v1/transactions/"+made), 200)
	}
	MustDecode[page](t, other.get(t, "/v1/transactions"), 200)
	MustDecode[v1.Health](t, b.get(t, "/v1/health"), 200)

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
