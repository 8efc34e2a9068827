package core_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// personal are the personal data of a customer, in every field that can hold it. Long values are on
// separate pages of the database.
func personal() map[string]string {
	return map[string]string{
		"first_name": "Persephone", "last_name": "Quillfeather", "company": "Obsidian Lanterns", "email": "persephone@quill.example",
		"phone": "+4312345999", "reference": "crm-778812", "description": strings.Repeat("prefers marzipan ", 58),
	}
}

const personalMore = `"billing":{"first_name":"Thessaly","address":{"line1":"17 Foxglove Crescent","postal_code":"ZX81 9QQ"}},
	"metadata":{"birthday":"the ides of march"}`

func personalBody() string {
	var body strings.Builder
	for name, value := range personal() {
		fmt.Fprintf(&body, "%q:%q,", name, value)
	}
	return "{" + body.String() + personalMore + "}"
}

// wantForgotten looks for personal data in every file of the stopped service.
func (b *bundle) wantForgotten(t *testing.T) {
	t.Helper()
	words := []string{"old@quill.example", "Foxglove", "Thessaly", "ides of march", "ZX81", "marzipan", "2001:db8::1"}
	for _, value := range personal() {
		words = append(words, value)
	}
	if err := b.inspect.Close(); err != nil { // else it would keep the write-ahead log from going with the last connection
		t.Fatal(err)
	}
	b.stop(t)
	for place, text := range b.database.Files(t, b.dir) {
		for _, word := range words {
			if i := bytes.Index(text, []byte(word)); i >= 0 {
				t.Errorf("%s still has %q: …%q…", place, word, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
	b.start(t)
}

func TestDeletedCustomerIsErased(t *testing.T) {
	t.Parallel()
	b, _, two, _ := setupSenders(t)
	others := b.MustCustomer(t, ann).ID
	stays := b.MustAttach(t, others, visa).ID
	customer := MustDecode[v1.Customer](t, b.post(t, "/v1/customers", `{"email":"old@quill.example"}`, from(two)), 201).ID
	path := "/v1/customers/" + customer
	MustDecode[v1.Customer](t, b.do(t, "PATCH", path, personalBody()), 200)
	var methods []string
	for range 3 {
		token := b.MustToken(t, visa).Value.Reveal()
		m := MustDecode[v1.PaymentMethod](t, b.post(t, path+"/payment_methods", `{"token":"`+token+`",`+personalMore+`}`, from(two)), 201)
		methods = append(methods, m.ID)
	}
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", path+"/payment_methods/"+methods[0], ""), 200)
	paid := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, `,"customer":"`+customer+`"`)), 201)

	gone := MustDecode[v1.Deleted](t, b.do(t, "DELETE", path, ""), 200)
	wantSameJSON(t, gone, v1.Deleted{ID: customer, Object: "customer", Deleted: true})
	if got := b.number(t, `SELECT COUNT(*) FROM payment_methods WHERE details <> '{}' OR fingerprint <> '' OR number IS NOT NULL`); got != 1 {
		t.Errorf("payment methods that say anything: got %d, want the other customer's", got)
	}
	if got := MustDecode[v1.PaymentMethod](t, b.get(t, "/v1/customers/"+others+"/payment_methods/"+stays), 200); got.Card.Last4 != "4242" {
		t.Errorf("the other customer's payment method: got %+v", got)
	}
	if got := b.transaction(t, paid.ID); got.Customer == nil || *got.Customer != customer || got.Card == nil {
		t.Errorf("the transaction lost what it recorded: %+v", got)
	}
	told := 0
	for _, e := range MustDecode[v1.EventList](t, b.get(t, "/v1/events?limit=100"), 200).Data {
		if text := string(e.Data.Object); strings.Contains(text, customer) && !strings.HasPrefix(string(e.Type), "transaction.") {
			told++
			for _, word := range []string{"4242", "fingerprint", "email", "quill", "billing"} {
				if strings.Contains(text, word) {
					t.Errorf("%s: found %s in %s", e.Type, word, text)
				}
			}
		}
	}
	if want := 3 + 3*3 + 1; told != want { // created, updated, deleted; attached, each an update, and detached, one an update
		t.Errorf("events: got %d, want %d", told, want)
	}
	b.wantForgotten(t)
}

// TestEraseAgainstEverything: a concurrent request runs before the deletion, or finds no customer.
// No data stays after it.
func TestEraseAgainstEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for round := range 40 {
		customer := b.MustCustomer(t, `{"email":"old@quill.example"}`).ID
		path := "/v1/customers/" + customer
		method := b.MustAttach(t, customer, visa).ID
		token := b.MustToken(t, visa).Value.Reveal()
		type call struct{ verb, path, body string }
		calls := []call{
			{"DELETE", path, ""},
			{"POST", "/v1/transactions", paid(method, "")},
			{"PATCH", path, personalBody()},
			{"POST", path + "/payment_methods", `{"token":"` + token + `",` + personalMore + `}`},
		}
		got := make([]answer, len(calls))
		var wg sync.WaitGroup
		for i, c := range calls {
			wg.Go(func() {
				var err error
				if got[i], err = b.try(t, c.verb, c.path, c.body); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got[0].status != 200 {
			t.Fatalf("delete: got %d %s", got[0].status, got[0].body)
		}
		for i, may := range map[int][2]int{1: {201, 400}, 2: {200, 404}, 3: {201, 404}} {
			if s := got[i].status; s != may[0] && s != may[1] {
				t.Errorf("round %d: %s %s: got %d %s", round, calls[i].verb, calls[i].path, s, got[i].body)
			}
		}
	}
	if got := b.number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL OR details <> '{}'"); got != 0 {
		t.Errorf("%d payment methods say something", got)
	}
	b.wantForgotten(t)
}
