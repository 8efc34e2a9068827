package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// unerased counts the events with personal data in the store.
const unerased = "SELECT COUNT(*) FROM events WHERE LOWER(data) LIKE '%erika%'"

// allEvents returns all events as JSON, newest first, page by page.
func (b *bundle) allEvents(t *testing.T) (out []string) {
	t.Helper()
	for after, more := "", true; more; {
		page := MustDecode[v1.EventList](t, b.get(t, "/v1/events?limit=100"+after), 200)
		for _, e := range page.Data {
			one := b.get(t, "/v1/events/"+e.ID)
			if same := MustDecode[v1.Event](t, one, 200); string(same.Data.Object) != string(e.Data.Object) {
				t.Errorf("%s: the list shows %s, the event %s", e.ID, e.Data.Object, same.Data.Object)
			}
			out = append(out, string(one.body))
			after = "&starting_after=" + e.ID
		}
		more = page.HasMore
	}
	return out
}

// TestEventsOfADeletedCustomer: a customer has more events than the commit of its deletion erases.
// From the response on, neither the list of events nor a single event shows personal data. The
// erasure of the other events changes no response. Another customer's events stay as they are.
func TestEventsOfADeletedCustomer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, `{"email":"erika@example.com"}`).ID
	for i := range 200 {
		body := fmt.Sprintf(`{"email":"erika%d@example.com","metadata":{"who":"Erika"}}`, i)
		MustDecode[v1.Customer](t, b.do(t, "PATCH", "/v1/customers/"+customer, body), 200)
	}
	b.MustAttach(t, customer, strings.Replace(visa, "A. Payer", "Erika", 1))
	other := b.MustCustomer(t, `{"email":"erika@example.com"}`).ID
	b.MustAttach(t, other, strings.Replace(visa, "A. Payer", "Erika", 1))
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	if got := b.number(t, unerased); got < 100 {
		t.Fatalf("events that are not erased: got %d, want at least 100", got)
	}
	if got := b.number(t, unerased+" AND type LIKE 'payment_method.%'"); got != 2 {
		t.Fatalf("events of payment methods that are not erased: got %d, want 2", got)
	}
	shown := b.allEvents(t)
	personal := slices.DeleteFunc(slices.Clone(shown), func(e string) bool { return !strings.Contains(strings.ToLower(e), "erika") })
	if len(personal) != 3 || len(shown) < 200 {
		t.Errorf("events with personal data: got %d of %d, want 3, of the other customer: %.2000s", len(personal), len(shown), personal)
	}
	for _, e := range personal {
		if strings.Contains(e, customer) {
			t.Errorf("got %s", e)
		}
	}
	b.again(t)
	programtest.WaitFor(t, "the other events are erased", func() bool { return b.number(t, unerased) == 3 })
	if after := b.allEvents(t); !slices.Equal(after, shown) {
		t.Error("the erasure changed responses")
	}
}
