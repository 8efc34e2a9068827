package executor_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// expiringV1 is a v1 of which each customer has methodsOf cards that expire in 12/2030.
type expiringV1 struct {
	customers int64
	first     uint64 // bytes in use at the first list of payment methods
	last      uint64 // and at the last one
	gone      int64  // the payment method that is deleted after the lists
	renewed   int64  // the one that expires later after the lists
}

const methodsOf = 100

func (f *expiringV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(r.URL.Path, "/")
	var page []string
	more := false
	switch {
	case len(path) == 3:
		last := f.customers + 1
		if after := r.URL.Query().Get("starting_after"); after != "" {
			last, _ = id.Parse(id.Customer, after)
		}
		for n := last - 1; n > 0 && len(page) < 100; n-- {
			page = append(page, `{"id":"`+id.Format(id.Customer, n)+`","metadata":{},"default_payment_method":"`+
				id.Format(id.PaymentMethod, n*methodsOf)+`"}`)
		}
		more = last > 101
	case len(path) == 5: // the newest customer is first
		customer, _ := id.Parse(id.Customer, path[3])
		switch customer {
		case f.customers:
			f.first = bytesInUse()
		case 1:
			f.last = bytesInUse()
		}
		for n := int64(methodsOf - 1); n >= 0; n-- {
			page = append(page, expiringCard(customer, customer*methodsOf+n))
		}
	default:
		customer, _ := id.Parse(id.Customer, path[3])
		method, _ := id.Parse(id.PaymentMethod, path[5])
		if method == f.gone {
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, refusal("not_found"))
			return
		}
		card := expiringCard(customer, method)
		if method == f.renewed {
			card = strings.Replace(card, "2030", "2034", 1)
		}
		_, _ = fmt.Fprint(w, card)
		return
	}
	_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s],"has_more":%t}`, strings.Join(page, ","), more)
}

// expiringCard returns a payment method as v1 shows it.
func expiringCard(customer, method int64) string {
	return fmt.Sprintf(`{"id":%q,"customer":%q,"kind":"card","card":{"brand":"visa","last4":"1111","exp_month":12,`+
		`"exp_year":2030,"fingerprint":"fp%d"},"billing":{"first_name":"Ana","address":{"line1":"%d Elm St"}},`+
		`"metadata":{"note":%q}}`, id.Format(id.PaymentMethod, method), id.Format(id.Customer, customer), method, method,
		strings.Repeat("x", 200))
}

// bytesInUse returns the bytes of all objects that are reachable.
func bytesInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestExpiringCardsTakeLittleMemory: all requests share the memory of the program, and a merchant
// can have a hundred thousand cards that expire in one month. A list keeps few bytes of each.
//
//nolint:paralleltest // other tests would change the memory in use
func TestExpiringCardsTakeLittleMemory(t *testing.T) {
	f := &expiringV1{customers: 200}
	c := command.ListExpiring{Month: 12, Year: 2030, Skip: 20, Limit: 10}
	r := goldentest.MustExecutor(t, f).Execute(t.Context(), key, c)
	if r.Outcome != command.Done || r.Stored.Total != 200*methodsOf || len(r.Stored.Rows) != 10 {
		t.Fatalf("got %s %s, want ten rows of all: %+v", r.Outcome, r.Code, r.Stored)
	}
	each := (int64(f.last) - int64(f.first)) / (199 * methodsOf)
	t.Logf("%d bytes of each card", each)
	if each > 64 {
		t.Errorf("got %d bytes of each card, want at most 64", each)
	}
}

// TestExpiringCardsOfAPage: a page has the cards by their ids, the newest first if the command
// wants that. A card that is deleted or changed meanwhile is missing.
func TestExpiringCardsOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list  command.ListExpiring
		first int64
		step  int64
	}{
		{command.ListExpiring{Skip: 98, Limit: 6}, methodsOf + 98, 1},
		{command.ListExpiring{Skip: 98, Limit: 6, NewestFirst: true}, 4*methodsOf - 1 - 98, -1},
	} {
		c.list.Month, c.list.Year = 12, 2030
		f := &expiringV1{customers: 3, gone: c.first + 3*c.step, renewed: c.first + 5*c.step}
		r := goldentest.MustExecutor(t, f).Execute(t.Context(), key, c.list)
		if r.Outcome != command.Done || r.Stored.Total != 3*methodsOf || len(r.Stored.Rows) != 4 {
			t.Fatalf("got %s %s: %+v, want four rows", r.Outcome, r.Code, r.Stored)
		}
		for i, n := range []int64{c.first, c.first + c.step, c.first + 2*c.step, c.first + 4*c.step} {
			row := r.Stored.Rows[i]
			if row.Method.ID != id.Format(id.PaymentMethod, n) || v1.Text(row.Method.Billing.FirstName) != "Ana" ||
				row.Default != (n%methodsOf == 0) {
				t.Errorf("row %d: got %+v, want %d", i, row, n)
			}
		}
	}
}

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
