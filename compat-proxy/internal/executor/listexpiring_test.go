package executor_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// manyCustomers has customers without payment methods. Every hundredth one is incomplete.
type manyCustomers struct {
	rows  int64
	lists atomic.Int64 // of payment methods
}

func (f *manyCustomers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path != "/v1/customers" {
		f.lists.Add(1)
		_, _ = w.Write([]byte(`{"object":"list","data":[],"has_more":false}`))
		return
	}
	first := f.rows
	if after := r.URL.Query().Get("starting_after"); after != "" {
		n, _ := id.Parse(id.Customer, after)
		first = n - 1
	}
	var page []string
	for n := first; n > max(0, first-100); n-- {
		metadata := "{}"
		if n%100 == 0 {
			metadata = `{"setup":"incomplete"}`
		}
		page = append(page, fmt.Sprintf(`{"id":%q,"metadata":%s}`, id.Format(id.Customer, n), metadata))
	}
	_, _ = w.Write([]byte(`{"object":"list","data":[` + strings.Join(page, ",") + `],"has_more":` +
		strconv.FormatBool(first > 100) + `}`))
}

// TestExpiringCardsOfManyCustomers: the list of the cards that expire reads the payment methods of
// 5,000 complete customers. With more, it is refused, and reads none of them.
func TestExpiringCardsOfManyCustomers(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int64]struct {
		outcome command.Outcome
		lists   int64
	}{5_050: {command.Done, 5_000}, 5_051: {command.Refused, 0}} {
		f := &manyCustomers{rows: rows}
		x := goldentest.MustExecutor(t, f)
		r := x.Execute(t.Context(), secret.New(goldentest.APIKey), command.ListExpiring{Month: 1, Year: 2030, Limit: 10})
		if got := f.lists.Load(); r.Outcome != want.outcome || got != want.lists {
			t.Errorf("%d customers: got %s %s after %d lists, want %+v", rows, r.Outcome, r.Code, got, want)
		}
	}
}
