package executor_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// listingV1 has payments and refunds of one settlement day. The even numbers are payments, the odd
// ones refunds, each made a second after the one before it.
type listingV1 struct {
	t    *testing.T
	rows int
	text string // in the metadata of each row, if it is not empty

	mu    sync.Mutex
	calls []string // guarded by mu
}

func (f *listingV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.calls = append(f.calls, r.URL.Path)
	f.mu.Unlock()
	first, prefix, write := 2, id.Transaction, func(n int) any {
		return v1.Transaction{
			ID: id.Format(id.Transaction, int64(n)), Status: v1.TransactionStatusCaptured, CreatedAt: madeAt(n), Currency: "usd",
			Metadata: v1.Metadata{"text": f.text},
		}
	}
	if r.URL.Path == "/v1/refunds" {
		first, prefix, write = 1, id.Refund, func(n int) any {
			return v1.Refund{ID: id.Format(id.Refund, int64(n)), CreatedAt: madeAt(n), Currency: "usd"}
		}
	}
	q := r.URL.Query()
	if q.Get("settlement_day") != id.Format(id.SettlementDay, 7) && q.Get("customer") != id.Format(id.Customer, 8) {
		f.t.Errorf("v1 got %s", r.URL)
	}
	var page []any
	more := false
	for _, n := range f.selected(q, prefix, first) {
		if more = len(page) == 100; more {
			break
		}
		page = append(page, write(n))
	}
	if q.Has("ending_before") {
		slices.Reverse(page)
	}
	body, err := json.Marshal(map[string]any{"object": "list", "data": append([]any{}, page...), "has_more": more})
	if err != nil {
		f.t.Error(err)
	}
	_, _ = w.Write(body)
}

// selected returns the numbers from the cursor on, nearest first.
func (f *listingV1) selected(q url.Values, prefix id.Prefix, first int) []int {
	var numbers []int
	for n := first; n <= f.rows; n += 2 {
		numbers = append(numbers, n)
	}
	if q.Has("ending_before") {
		after, _ := id.ParseFilter(prefix, q.Get("ending_before"))
		first := q.Get("ending_before") == id.Format(prefix, 0)
		return slices.DeleteFunc(numbers, func(n int) bool { return int64(n) <= after && !first })
	}
	slices.Reverse(numbers)
	if q.Has("starting_after") {
		before, _ := id.Parse(prefix, q.Get("starting_after"))
		return slices.DeleteFunc(numbers, func(n int) bool { return int64(n) >= before })
	}
	return numbers
}

func madeAt(n int) v1.Time {
	return v1.Time{Time: goldentest.Today.Add(time.Duration(n) * time.Second)}
}

// numbersOf returns the numbers of the rows.
func numbersOf(t *testing.T, l *command.List) []int {
	t.Helper()
	var out []int
	for _, row := range l.Rows {
		prefix, name := id.Transaction, ""
		if row.Refund != nil {
			prefix, name = id.Refund, row.Refund.ID
		} else {
			name = row.Transaction.ID
		}
		text, err := id.ToDecimal(prefix, name)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(text)
		out = append(out, n)
	}
	return out
}

// TestListsAreMerged: the rows of v1's lists of a day or a customer are in one order, in both
// directions. No page misses or repeats a row. The total leads a client to all rows.
func TestListsAreMerged(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 7, 250, 1000, 1001, 2345} {
		for _, of := range []command.ListTransactions{
			{Day: "7"}, {Day: "7", OldestFirst: true}, {Customer: "8"}, {Customer: "8", OldestFirst: true},
		} {
			t.Run(fmt.Sprintf("%d %+v", rows, of), func(t *testing.T) {
				t.Parallel()
				x := goldentest.MustExecutor(t, &listingV1{t: t, rows: rows})
				var got []int
				const limit = 300
				for page := 0; ; page++ {
					of.Skip, of.Limit = page*limit, limit
					r := x.Execute(t.Context(), secret.New(goldentest.APIKey), of)
					if r.Outcome != command.Done || r.List == nil {
						t.Fatalf("page %d: got %+v", page, r)
					}
					got = append(got, numbersOf(t, r.List)...)
					if rows <= 1000 && r.List.Total != rows {
						t.Errorf("page %d: got a total of %d, want %d", page, r.List.Total, rows)
					}
					if r.List.Total <= (page+1)*limit {
						break
					}
				}
				want := make([]int, rows)
				for i := range want {
					want[i] = i + 1
				}
				if !of.OldestFirst {
					slices.Reverse(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	}
}

// TestListsReadNoMoreThanTheyCount: a short page of a long list reads only the counted rows.
func TestListsReadNoMoreThanTheyCount(t *testing.T) {
	t.Parallel()
	f := &listingV1{t: t, rows: 50_000}
	x := goldentest.MustExecutor(t, f)
	r := x.Execute(t.Context(), secret.New(goldentest.APIKey), command.ListTransactions{Day: "7", Limit: 20})
	if r.List == nil || len(r.List.Rows) != 20 || r.List.Total != 1001 {
		t.Errorf("got %+v", r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := strings.Join(f.calls, " "); len(f.calls) > 12 {
		t.Errorf("v1 got %d requests: %s", len(f.calls), got)
	}
}

// TestListOfLargeRows: a list keeps a bounded amount of metadata.
func TestListOfLargeRows(t *testing.T) {
	t.Parallel()
	for kilobytes, want := range map[int]command.Outcome{1: command.Done, 20: command.Refused} {
		x := goldentest.MustExecutor(t, &listingV1{t: t, rows: 500, text: strings.Repeat("x", kilobytes<<10)})
		r := x.Execute(t.Context(), secret.New(goldentest.APIKey), command.ListTransactions{Day: "7", Limit: 500})
		if r.Outcome != want || want == command.Refused && r.Code != command.CodeTooMany {
			t.Errorf("%d kB a payment: got %s %s, want %s", kilobytes, r.Outcome, r.Code, want)
		}
	}
}

// TestFirstOfManyCustomers: any number of customers has the same fields. The first complete one
// ends the search.
func TestFirstOfManyCustomers(t *testing.T) {
	t.Parallel()
	made := id.Format(id.Customer, 1)
	x, f := setup(t, map[string][]response{"GET /v1/customers": ok(
		`{"object":"list","data":[{"id":"` + made + `","reference":"shop-1","metadata":{}}],"has_more":true}`,
	)})
	reference := "shop-1"
	r := run(t, x, command.CreateCustomer{Body: v1.CustomerInput{Reference: &reference}})
	lists := slices.DeleteFunc(f.seen(), func(c call) bool { return c.route != "GET /v1/customers" })
	if r.Outcome != command.Repeated || r.Customer == nil || r.Customer.ID != made || len(lists) != 1 {
		t.Errorf("got %s, customer %v after %d pages, want the first after one", r.Outcome, r.Customer, len(lists))
	}
}

// TestPaymentThatChangesLists: a payment that v1 lists twice, because it changed meanwhile, is one
// row.
func TestPaymentThatChangesLists(t *testing.T) {
	t.Parallel()
	x := goldentest.MustExecutor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		row := `{"id":"` + id.Format(id.Transaction, 7) + `","status":"voided","created_at":"2026-11-21T09:30:00.000Z"}`
		if r.URL.Path == "/v1/refunds" {
			row = ""
		}
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s],"has_more":false}`, row)
	}))
	r := x.Execute(t.Context(), secret.New(goldentest.APIKey), command.ListTransactions{
		Unsettled: &command.Unsettled{}, Limit: 10,
	})
	if r.List == nil || len(r.List.Rows) != 1 || r.List.Total != 1 {
		t.Errorf("got %+v, want one row", r)
	}
}
