package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// page is a list of anything with an id.
type page struct {
	Object  string `json:"object"`
	Data    []item `json:"data"`
	HasMore bool   `json:"has_more"`
}

type item struct {
	ID   string         `json:"id"`
	Rest map[string]any `json:",embed"`
}

func (p page) ids() []string {
	ids := []string{}
	for _, i := range p.Data {
		ids = append(ids, i.ID)
	}
	return ids
}

func TestLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var txns, caps, refs, all []string // newest first
	one := b.MustCreate(t, 100, manual).ID
	txns = append(txns, one)
	for range 6 {
		txns = slices.Insert(txns, 0, b.MustCreate(t, 100, "").ID)
		sold := MustDecode[v1.CaptureList](t, b.get(t, "/v1/captures?transaction="+txns[0]), 200).Data[0].ID
		caps = slices.Insert(caps, 0, MustDecode[v1.Capture](t, b.capture(t, one, `{"amount":2}`), 201).ID)
		all = slices.Insert(all, 0, caps[0], sold)
		refs = slices.Insert(refs, 0, MustDecode[v1.Refund](t, b.refund(t, one, `,"amount":1`), 201).ID)
	}
	MustDecode[v1.Refund](t, b.refund(t, txns[0], ""), 201) // of a transaction that the lists below do not name
	t.Run("transactions", func(t *testing.T) { t.Parallel(); b.walk(t, "/v1/transactions?", txns) })
	t.Run("captures", func(t *testing.T) { t.Parallel(); b.walk(t, "/v1/transactions/"+one+"/captures?", caps) })
	t.Run("captures of one", func(t *testing.T) { t.Parallel(); b.walk(t, "/v1/captures?transaction="+one+"&", caps) })
	t.Run("all captures", func(t *testing.T) { t.Parallel(); b.walk(t, "/v1/captures?", all) })
	t.Run("refunds of one", func(t *testing.T) { t.Parallel(); b.walk(t, "/v1/refunds?transaction="+one+"&", refs) })
}

// TestRefundsOfACustomer: the refunds of a customer are the refunds of its transactions, also of
// one that was confirmed with its payment method. The list has no unlinked refund.
func TestRefundsOfACustomer(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	customer, other := b.MustCustomer(t, ann).ID, b.MustCustomer(t, `{"email":"bo@example.com"}`).ID
	method, others := b.MustAttach(t, customer, visa).ID, b.MustAttach(t, other, visa).ID
	var refs []string // newest first
	refund := func(of string) string { return MustDecode[v1.Refund](t, b.refund(t, of, `,"amount":1`), 201).ID }
	stored := MustDecode[v1.Transaction](t, b.pay(t, method, ""), 201).ID
	named := b.MustCreate(t, 100, `,"customer":"`+customer+`"`).ID
	waiting := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","confirm":false}`), 201)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions/"+waiting.ID+"/confirm",
		`{"payment_method":"`+method+`","amount":100,"currency":"usd"}`), 200)
	foreign := refund(MustDecode[v1.Transaction](t, b.pay(t, others, ""), 201).ID)
	for _, of := range []string{stored, named, waiting.ID, stored, named, waiting.ID} {
		refs = slices.Insert(refs, 0, refund(of))
		refund(b.MustCreate(t, 100, "").ID)
		MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", giving(1, "usd", method, "")), 201)
	}
	list := "/v1/refunds?customer=" + customer + "&"
	b.walk(t, list, refs)
	for query, want := range map[string][]string{
		list + "transaction=" + stored:                             {refs[2], refs[5]},
		list + "settlement=pending&limit=1":                        refs[:1],
		list + "settlement=settled":                                {},
		list + "settlement_day=day_0000000000001":                  {},
		list + url.QueryEscape("metadata[k]") + "=v":               {},
		"/v1/refunds?customer=" + other:                            {foreign},
		"/v1/refunds?transaction=" + stored + "&customer=" + other: {},
		"/v1/refunds?customer=cus_0000000000001":                   {},
	} {
		if got := MustDecode[page](t, b.get(t, query), 200).ids(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{"/v1/refunds?customer=x", "/v1/refunds?customer=" + stored, "/v1/captures?customer=" + customer} {
		if got := b.get(t, query); got.status != 400 {
			t.Errorf("%s: got %d, want a refusal", query, got.status)
		}
	}
}

// walk reads a list of at least six ids with every parameter.
func (b *bundle) walk(t *testing.T, list string, want []string) {
	t.Helper()
	n := len(want)
	for _, c := range []struct {
		query string
		want  []string
		more  bool
	}{
		{"", want, false},
		{"limit=100", want, false},
		{fmt.Sprintf("limit=%d", n), want, false},
		{fmt.Sprintf("limit=%d", n-1), want[:n-1], true},
		{"limit=1", want[:1], true},
		{"limit=2&starting_after=" + want[1], want[2:4], true},
		{"starting_after=" + want[n-1], []string{}, false},
		{"limit=2&starting_after=" + want[n-3], want[n-2:], false},
		{"limit=2&ending_before=" + want[3], want[1:3], true},
		{"limit=3&ending_before=" + want[3], want[:3], false},
		{"ending_before=" + want[0], []string{}, false},
		{"limit=5&ending_before=" + want[1], want[:1], false},
	} {
		got := MustDecode[page](t, b.get(t, list+c.query), 200)
		if ids := got.ids(); !slices.Equal(ids, c.want) || got.HasMore != c.more || got.Object != "list" {
			t.Errorf("%s: got %v more %t, want %v more %t", c.query, ids, got.HasMore, c.want, c.more)
		}
	}
}

func TestListDefaultLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 21 {
		b.MustCreate(t, 1, "")
	}
	got := MustDecode[page](t, b.get(t, "/v1/transactions"), 200)
	if len(got.Data) != 20 || !got.HasMore {
		t.Errorf("got %d more %t, want 20 and more", len(got.Data), got.HasMore)
	}
}

func TestListParameters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 1, "").ID
	bad := func(code, param string) refusal { return refusal{400, v1.ErrorTypeInvalidRequestError, code, param} }
	for query, want := range map[string]refusal{
		"limit=0":                    bad("invalid_value", "limit"),
		"limit=101":                  bad("invalid_value", "limit"),
		"limit=-1":                   bad("invalid_value", "limit"),
		"limit=":                     bad("invalid_value", "limit"),
		"limit=ten":                  bad("invalid_value", "limit"),
		"limit=1.5":                  bad("invalid_value", "limit"),
		"limit=99999999999999999999": bad("invalid_value", "limit"),
		"limit=1&limit=2":            bad("invalid_value", "limit"),
		"starting_after=":            bad("invalid_cursor", "starting_after"),
		"starting_after=x":           bad("invalid_cursor", "starting_after"),
		"starting_after=" + id.Format(id.Event, 5):        bad("invalid_cursor", "starting_after"),
		"ending_before=1":                                 bad("invalid_cursor", "ending_before"),
		"starting_after=" + txn + "&ending_before=" + txn: bad("invalid_cursor", "ending_before"),
		"page=2":             bad("unknown_parameter", "page"),
		"Limit=2":            bad("unknown_parameter", "Limit"),
		"transaction=" + txn: bad("unknown_parameter", "transaction"),
		"limit=%zz":          bad("unknown_parameter", ""),
	} {
		wantRefusal(t, b.get(t, "/v1/transactions?"+query), want)
	}
	for _, list := range []string{"/v1/captures", "/v1/refunds"} {
		wantRefusal(t, b.get(t, list+"?transaction=x"), bad("invalid_value", "transaction"))
		wantRefusal(t, b.get(t, list+"?transaction="+txn+"&transaction="+txn), bad("invalid_value", "transaction"))
		wantRefusal(t, b.get(t, list+"?starting_after="+txn), bad("invalid_cursor", "starting_after"))
	}
	wantRefusal(t, b.get(t, "/v1/transactions/"+txn+"/captures?starting_after="+txn), bad("invalid_cursor", "starting_after"))
}
