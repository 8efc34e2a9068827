package api_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// expandable is the objects of a test by the path that reads each alone.
type expandable struct {
	customer, method, stored, byToken, token, captured, refund, credit string
}

// expandables makes objects that refer to one another.
func (b *bundle) expandables(t *testing.T) expandable {
	t.Helper()
	customer := b.MustCustomer(t, ann).ID
	method := b.MustAttach(t, customer, visa).ID
	MustDecode[v1.Customer](t, b.setDefault(t, customer, method), 200)
	stored := MustDecode[v1.Transaction](t, b.pay(t, method, ""), 201)
	token := b.MustToken(t, visa)
	byToken := MustDecode[v1.Transaction](t, b.pay(t, token.Value.Reveal(), ""), 201)
	captured := MustDecode[v1.CaptureList](t, b.get(t, "/v1/captures?transaction="+stored.ID), 200).Data[0]
	return expandable{
		customer: "/v1/customers/" + customer, method: "/v1/customers/" + customer + "/payment_methods/" + method,
		stored: "/v1/transactions/" + stored.ID, byToken: "/v1/transactions/" + byToken.ID, token: "/v1/tokens/" + token.ID,
		captured: "/v1/captures/" + captured.ID,
		refund:   "/v1/refunds/" + MustDecode[v1.Refund](t, b.refund(t, stored.ID, `,"amount":1`), 201).ID,
		credit:   "/v1/refunds/" + MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", giving(1, "usd", method, "")), 201).ID,
	}
}

// members decodes an object without knowledge of its fields.
func members(t *testing.T, a response) map[string]jsontext.Value {
	t.Helper()
	return MustDecode[map[string]jsontext.Value](t, a, 200)
}

// TestExpand: each object shows the objects that the request names as their own endpoints return
// them, and is the same otherwise. So does each item of a list.
func TestExpand(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	o := b.expandables(t)
	transactions, captures, refunds := "/v1/transactions?limit=2&", "/v1/captures?limit=2&", "/v1/refunds?limit=2&"
	for _, c := range []struct {
		path, list, names string
		want              map[string]string // the path of each expanded object
	}{
		{o.stored, transactions, "customer", map[string]string{"customer": o.customer}},
		{o.stored, transactions, "payment_method,customer,token", map[string]string{"customer": o.customer, "payment_method": o.method}},
		{o.byToken, transactions, "customer,payment_method,token", map[string]string{"token": o.token}},
		{o.captured, captures, "transaction", map[string]string{"transaction": o.stored}},
		{o.refund, refunds, "transaction", map[string]string{"transaction": o.stored}},
		{
			o.refund, refunds, "capture,payment_method,token,transaction",
			map[string]string{"transaction": o.stored, "capture": o.captured},
		},
		{o.credit, refunds, "transaction,payment_method", map[string]string{"payment_method": o.method}},
		{o.customer, "/v1/customers?", "default_payment_method", map[string]string{"default_payment_method": o.method}},
		{o.method, o.customer + "/payment_methods?", "customer", map[string]string{"customer": o.customer}},
	} {
		plain := members(t, b.get(t, c.path))
		want := map[string]jsontext.Value{}
		for name, path := range c.want {
			want[name] = jsontext.Value(b.get(t, path).body)
		}
		one := b.get(t, c.path+"?expand="+c.names)
		wantExpanded(t, c.path+" "+c.names, members(t, one), plain, want)
		list := MustDecode[struct {
			Object  string                      `json:"object"`
			Data    []map[string]jsontext.Value `json:"data"`
			HasMore bool                        `json:"has_more"`
		}](t, b.get(t, c.list+"expand="+c.names), 200)
		i := slices.IndexFunc(list.Data, func(m map[string]jsontext.Value) bool { return string(m["id"]) == string(plain["id"]) })
		if i < 0 {
			t.Fatalf("%s: is not in its list", c.path)
		}
		wantExpanded(t, c.list+c.names, list.Data[i], plain, want)
	}
}

// wantExpanded compares an object with the plain one and the objects that it must show.
func wantExpanded(t *testing.T, what string, got, plain, want map[string]jsontext.Value) {
	t.Helper()
	var shown map[string]jsontext.Value
	if err := json.Unmarshal(got["expanded"], &shown); err != nil {
		t.Fatalf("%s: %v in %s", what, err, got["expanded"])
	}
	delete(got, "expanded")
	same := func(a, b jsontext.Value) bool { return string(a) == string(b) }
	if !maps.EqualFunc(got, plain, same) || !maps.EqualFunc(shown, want, same) {
		t.Errorf("%s: got %s with %s,\nwant %s with %s", what, got, shown, plain, want)
	}
}

// TestExpandWhatIsGone: an object that cannot be read by its id is not shown either.
func TestExpandWhatIsGone(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	o := b.expandables(t)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", o.method, ""), 200)
	transaction := func(path string) *v1.TransactionExpansion {
		return MustDecode[v1.Transaction](t, b.get(t, path+"?expand=customer,payment_method"), 200).Expanded
	}
	if got := transaction(o.stored); got.PaymentMethod != nil || got.Customer == nil {
		t.Errorf("without the payment method: got %+v", got)
	}
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", o.customer, ""), 200)
	if got := transaction(o.stored); got.Customer != nil {
		t.Errorf("without the customer: got %+v", got)
	}
	list := MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions?expand=customer,payment_method"), 200)
	for _, txn := range list.Data {
		if txn.Expanded == nil || txn.Expanded.Customer != nil || txn.Expanded.PaymentMethod != nil {
			t.Errorf("in a list: got %+v", txn.Expanded)
		}
	}
}

// TestExpandRefusals: unknown names, and names that the key may not read.
func TestExpandRefusals(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	o := b.expandables(t)
	bad := refusal{400, v1.ErrorTypeInvalidRequestError, "invalid_value", "expand"}
	unknown := func(param string) refusal {
		return refusal{400, v1.ErrorTypeInvalidRequestError, "unknown_parameter", param}
	}
	for query, want := range map[string]refusal{
		"expand=":                           bad,
		"expand=refunds":                    bad,
		"expand=transaction,":               bad,
		"expand=transaction,transaction":    bad,
		"expand=transaction.customer":       bad,
		"expand=customer":                   bad,
		"expand=Transaction":                bad,
		"expand=transaction&expand=capture": bad,
		"expand=%00":                        bad,
		"expand[]=transaction":              unknown("expand[]"),
		"expanded=transaction":              unknown("expanded"),
	} {
		wantRefusal(t, b.get(t, o.refund+"?"+query), want)
		wantRefusal(t, b.get(t, "/v1/refunds?"+query), want)
	}
	wantRefusal(t, b.get(t, "/v1/events?expand=object"), unknown("expand"))
	reads := `{"kind":"secret","scopes":["transactions:read"]}`
	_, key := b.createKey(t, reads)
	denied := refusal{403, v1.ErrorTypePermissionError, "insufficient_scope", ""}
	for _, path := range []string{o.stored + "?", "/v1/transactions?"} {
		for _, name := range []string{"customer", "payment_method"} {
			wantRefusal(t, b.get(t, path+"expand="+name, header("Authorization", "Bearer "+key)), denied)
		}
		MustDecode[map[string]any](t, b.get(t, path+"expand=token", header("Authorization", "Bearer "+key)), 200)
	}
}

// TestExpandedPages: the objects of a page are read by one statement for each name. Pages of long
// objects end early, and together have every item once, with its object.
func TestExpandedPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := longMetadata(t)
	const items = 9
	for range items {
		txn := b.MustCreate(t, 100, long).ID
		MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":1`), 201)
	}
	for direction, first := range map[string]string{"starting_after": "", "ending_before": "0"} {
		var got []string
		at := ""
		if first != "" {
			oldest := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds?limit=100"), 200).Data[items-1].ID
			at, got = "&ending_before="+oldest, []string{oldest}
		}
		for more := true; more; {
			a := b.get(t, "/v1/refunds?limit=100&expand=transaction,capture"+at)
			list := MustDecode[v1.RefundList](t, a, 200)
			if len(a.body) > maxResponse || len(list.Data) == 0 || len(list.Data) == items {
				t.Fatalf("%s: got %d items in %d bytes", direction, len(list.Data), len(a.body))
			}
			for _, r := range list.Data {
				if r.Expanded.Transaction == nil || r.Expanded.Transaction.ID != r.Transaction || r.Expanded.Capture == nil {
					t.Errorf("%s: %s lacks an object", direction, r.ID)
				}
				got = append(got, r.ID)
			}
			more = list.HasMore
			at = "&starting_after=" + list.Data[len(list.Data)-1].ID
			if first != "" {
				at = "&ending_before=" + list.Data[0].ID
			}
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != items {
			t.Errorf("%s: got %q, want %d items once", direction, got, items)
		}
	}
}

// TestLongExpansionIsLeftOut: a response stays within the bytes of a page without an object that is
// too long. The next page has the objects that the same statement did not reach.
func TestLongExpansionIsLeftOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	short := MustDecode[v1.Refund](t, b.refund(t, b.MustCreate(t, 100, "").ID, `,"amount":1`), 201)
	long := MustDecode[v1.Refund](t, b.refund(t, b.MustCreate(t, 100, "").ID, `,"amount":1`), 201)
	n, err := id.Parse(id.Transaction, long.Transaction)
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, fmt.Sprintf(`UPDATE transactions SET details = '{"description":"%s"}' WHERE id = %d`, strings.Repeat("d", maxResponse), n))
	one := MustDecode[v1.Refund](t, b.get(t, "/v1/refunds/"+long.ID+"?expand=transaction,capture"), 200)
	if one.Expanded.Transaction != nil || one.Expanded.Capture == nil {
		t.Errorf("got %+v, want the capture alone", one.Expanded)
	}
	first := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds?expand=transaction"), 200)
	if len(first.Data) != 1 || first.Data[0].Expanded.Transaction != nil || !first.HasMore {
		t.Errorf("first page: got %+v", first)
	}
	second := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds?expand=transaction&starting_after="+long.ID), 200)
	if len(second.Data) != 1 || second.Data[0].ID != short.ID || second.Data[0].Expanded.Transaction == nil || second.HasMore {
		t.Errorf("second page: got %+v", second)
	}
}

// TestExpandedPageMemory: a page is not built beyond its end. 100 captures of one long transaction
// would be 35 MB with it. The test runs again alone in a process, because the memory of other tests
// would count.
func TestExpandedPageMemory(t *testing.T) {
	t.Parallel()
	const alone = "CAUSEWAY_TEST_ALONE"
	if os.Getenv(alone) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), alone+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	b := setup(t)
	txn := b.MustCreate(t, 100, `,"capture":"manual"`+longMetadata(t)).ID
	for range 100 {
		MustDecode[v1.Capture](t, b.post(t, "/v1/transactions/"+txn+"/captures", `{"amount":1}`), 201)
	}
	const path = "/v1/captures?limit=100&expand=transaction"
	if list := MustDecode[v1.CaptureList](t, b.get(t, path), 200); len(list.Data) < 2 || !list.HasMore {
		t.Fatalf("got %d items, want a page that ends early", len(list.Data))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.get(t, path)
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(24*maxResponse); got > most {
		t.Errorf("a page of 1 MiB took %d MiB, want at most %d", got>>20, most>>20)
	}
}
