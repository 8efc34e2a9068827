package executor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	list    = "GET /v1/transactions"
	partial = `"amount":1000,"amount_authorized":300`
	member  = `"amount":700,"amount_authorized":700,"metadata":{"payment_group":"60410000123"}`
)

// other returns another payment of the order whose first payment is txnID.
func other(t *testing.T, n int64, status, more string) (txn, body string) {
	t.Helper()
	txn = id.Format(id.Transaction, n)
	return txn, strings.Replace(transaction(status, more), txnID, txn, 1)
}

func page(more bool, payments ...string) response {
	hasMore := "false"
	if more {
		hasMore = "true"
	}
	return response{status: 200, body: `{"object":"list","has_more":` + hasMore + `,"data":[` +
		strings.Join(payments, ",") +
		`]}`}
}

func voidOf(txn string) string { return "POST /v1/transactions/" + txn + "/void" }

// voided is v1's response to the void of a payment.
func voided(body string) response {
	status := strings.NewReplacer(`"captured"`, `"voided"`, `"unknown"`, `"voided"`)
	return response{status: 200, body: status.Replace(body)}
}

func notVoidable(body string) []response {
	return []response{{status: 409, body: refusalWith(v1.CodeNotVoidable, body)}}
}

// TestVoidGroup: a void that is refused, or whose response is lost, ends the command, which then
// reports no success. A retry continues there.
func TestVoidGroup(t *testing.T) {
	t.Parallel()
	first, inFull := transaction("captured", partial), transaction("captured", `"amount":5,"amount_authorized":5`)
	second, taken := other(t, 60410000150, "captured", member)
	_, unrelated := other(t, 60410000151, "captured", `"amount":5`)
	_, declined := other(t, 60410000152, "declined", member)
	third, open := other(t, 60410000153, "unknown", member)
	for name, tt := range map[string]struct {
		responses map[string][]response
		want      command.Outcome
		posts     int
	}{
		"all of it, over two pages": {map[string][]response{
			list: {page(true, unrelated, declined), page(false, taken)}, void: {voided(first)}, voidOf(second): {voided(taken)},
		}, command.Done, 2},
		"one with an unknown outcome": {map[string][]response{
			list: {page(false, open)}, void: {voided(first)}, voidOf(third): notVoidable(open),
		}, command.Refused, 2},
		"the first cannot be voided": {
			map[string][]response{list: {page(false, taken)}, void: notVoidable(first)}, command.Refused, 1,
		},
		"the list is unavailable": {
			map[string][]response{list: {{status: 503, body: refusal("overloaded")}}}, command.Unavailable, 0,
		},
		"every response is lost": {map[string][]response{list: {page(false, taken)}, void: {{}}}, command.Uncertain, -1},
		"nothing left": {
			map[string][]response{read: {voided(first)}, list: {page(false, declined)}}, command.Refused, 0,
		},
		"never partly approved": {map[string][]response{read: {{status: 200, body: inFull}}}, command.Unmet, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.responses[read] == nil {
				tt.responses[read] = []response{{status: 200, body: first}}
			}
			x, f := setup(t, tt.responses)
			if got := run(t, x, command.VoidGroup{First: number}); got.Outcome != tt.want {
				t.Errorf("got %s %s, want %s", got.Outcome, got.Code, tt.want)
			}
			posts, keys := f.posts(), map[string]string{}
			if tt.posts >= 0 && len(posts) != tt.posts { // the transport also resends a request that a reused connection lost
				t.Errorf("posts: got %v, want %d", posts, tt.posts)
			}
			for _, p := range posts {
				if route, used := keys[p.key]; used && route != p.route {
					t.Errorf("%s and %s share a key", route, p.route)
				}
				keys[p.key] = p.route
			}
		})
	}
}

// TestListTimeout: a list that takes too long is not repeated, and the service is unavailable.
func TestListTimeout(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{
		read: {{status: 200, body: transaction("captured", partial)}},
		list: {{status: http.StatusGatewayTimeout, body: refusal(v1.CodeListTimeout)}},
	})
	if got := run(t, x, command.VoidGroup{First: number}); got.Outcome != command.Unavailable {
		t.Errorf("got %s %s, want %s", got.Outcome, got.Code, command.Unavailable)
	}
	lists := 0
	for _, a := range f.seen() {
		if a.route == list {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("got %d lists, want 1", lists)
	}
}

// TestJoin: a further payment is made only while the order has an unpaid rest.
func TestJoin(t *testing.T) {
	t.Parallel()
	_, rest := other(t, 60410000150, "captured", member)
	_, less := other(t, 60410000150, "captured",
		strings.Replace(member, `"amount_authorized":700`, `"amount_authorized":699`, 1))
	_, let := other(t, 60410000150, "voided", member)
	for name, tt := range map[string]struct {
		first, second string
		want          command.Outcome
		unmet         command.Condition
	}{
		"the first further one": {transaction("captured", partial), "", command.Done, ""},
		"one cent is open":      {transaction("captured", partial), less, command.Done, ""},
		"nothing is open":       {transaction("captured", partial), rest, command.Unmet, command.ConditionGroupEnded},
		"the other was voided":  {transaction("captured", partial), let, command.Done, ""},
		"the order was voided":  {transaction("voided", partial), "", command.Unmet, command.ConditionGroupEnded},
		"in full": {
			transaction("captured", `"amount":5,"amount_authorized":5`), "", command.Unmet,
			command.ConditionGroup,
		},
		"declined": {
			transaction("declined", `"amount":5,"amount_authorized":0`), "", command.Unmet,
			command.ConditionGroup,
		},
		"a further one itself": {transaction("captured", `"amount":5,"amount_authorized":4,"metadata":`+
			`{"payment_group":"1"}`), "", command.Unmet, command.ConditionGroup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payments := page(false)
			if tt.second != "" {
				payments = page(false, tt.second)
			}
			_, made := other(t, 60410000160, "captured", `"amount":5,"amount_authorized":5`)
			x, f := setup(t, map[string][]response{
				read: {{status: 200, body: tt.first}}, list: {payments}, "POST /v1/transactions": {{status: 201, body: made}},
			})
			r := run(t, x, command.Authorize{Body: v1.TransactionCreate{Amount: 5, Currency: "usd"}, Joins: number})
			if r.Outcome != tt.want || r.Unmet != tt.unmet {
				t.Errorf("got %s %s, want %s %s", r.Outcome, r.Unmet, tt.want, tt.unmet)
			}
			if got, want := len(f.posts()) == 1, tt.want == command.Done; got != want {
				t.Errorf("v1 got a payment: got %t, want %t", got, want)
			}
		})
	}
}

// TestCredit: a refund without a payment is repeated under its key until its outcome is known. Its
// body stays the same.
func TestCredit(t *testing.T) {
	t.Parallel()
	amount, currency, method := int64(5), "usd", "card"
	c := command.Credit{Body: v1.RefundCreate{Amount: &amount, Currency: &currency, PaymentMethod: &method}}
	credited := func(status string) string {
		return `{"id":"` + refund + `","status":"` + status + `","amount":5,"currency":"usd"}`
	}
	for name, tt := range map[string]struct {
		responses []response
		want      command.Outcome
		posts     int
	}{
		"OK":                     {[]response{{status: 201, body: credited("pending")}}, command.Done, 1},
		"a response is lost":     {[]response{{}, {status: 201, body: credited("succeeded")}}, command.Done, 2},
		"every response is lost": {[]response{{}}, command.Uncertain, 4},
		"unknown, then known": {[]response{
			{status: 504, body: refusal(v1.CodeOutcomeUnknown)},
			{status: 201, body: credited("pending")},
		}, command.Done, 2},
		"failed":                 {[]response{{status: 201, body: credited("failed")}}, command.Refused, 1},
		"not allowed":            {[]response{{status: 403, body: refusal(v1.CodeUnlinkedRefunds)}}, command.Refused, 1},
		"declined":               {[]response{{status: 402, body: refusal("card_declined")}}, command.Declined, 1},
		"an unreadable response": {[]response{{status: 201, body: `<html>`}}, command.Uncertain, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, map[string][]response{"POST /v1/refunds": tt.responses})
			if got := run(t, x, c).Outcome; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			posts := f.posts()
			if len(posts) != tt.posts {
				t.Errorf("posts: got %d, want %d", len(posts), tt.posts)
			}
			for _, p := range posts {
				if p.key == "" || p.key != posts[0].key || p.body != `{"amount":5,"currency":"usd","payment_method":"card"}` {
					t.Errorf("got %+v", p)
				}
			}
		})
	}
}

// A payment in another currency joins no order: its amount cannot be compared with the unpaid rest.
func TestJoinInAnotherCurrency(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]command.Outcome{"usd": command.Done, "jpy": command.Unmet} {
		x, f := setup(t, map[string][]response{
			read: {{status: 200, body: transaction("captured", partial)}}, list: {page(false)},
			create: {{status: 201, body: transaction("captured", `"amount":700`)}},
		})
		r := run(t, x, command.Authorize{
			Body:  v1.TransactionCreate{Amount: 700, Currency: currency, PaymentMethod: "card"},
			Joins: number,
		})
		if r.Outcome != want {
			t.Errorf("%s: got %s, want %s", currency, r.Outcome, want)
		}
		if got := len(f.posts()) > 0; got != (want == command.Done) {
			t.Errorf("%s: v1 got a payment: %t", currency, got)
		}
	}
}
