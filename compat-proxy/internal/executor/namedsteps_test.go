package executor_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// under returns a command under a name.
func under(name string, c command.Command) command.Named {
	return command.Named{Command: c, Name: name}
}

// TestNameOutranksTheWindow: a name decides which request is a retry, whether equal requests are
// duplicates or not. A retry has the first result, at any proxy.
func TestNameOutranksTheWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 120} {
		b := setupWindow(t, noon)
		other := func(c *command.Authorize) { c.Body.Amount++ }
		for i, tt := range []struct {
			name   string
			change func(*command.Authorize)
			want   command.Outcome
			code   string
			paid   int
		}{
			{"n", func(*command.Authorize) {}, command.Done, "", 1},
			{"n", func(*command.Authorize) {}, command.Done, "", 1},
			{"n", other, command.Refused, v1.CodeKeyReused, 1},
			{"m", func(*command.Authorize) {}, command.Done, "", 2},
			{"m", func(*command.Authorize) {}, command.Done, "", 2},
		} {
			r := b.result(t, i%2, under(tt.name, sale(window, tt.change)))
			if r.Outcome != tt.want || r.Code != tt.code || b.v1.paid() != tt.paid {
				t.Errorf("window %d, request %d: got %s %s and %d payments, want %s %s and %d", window, i, r.Outcome, r.Code,
					b.v1.paid(), tt.want, tt.code, tt.paid)
			}
			b.clock.Advance(time.Hour)
		}
	}
}

// TestNameOutranksTheWindow_atOnce: of concurrent requests under a name, one pays, even if its
// response is lost.
func TestNameOutranksTheWindow_atOnce(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.lostResponses = 2
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if r := b.result(t, i%2, under("n", sale(0))); r.Outcome != command.Done {
				t.Errorf("request %d: got %s %s", i, r.Outcome, r.Code)
			}
		})
	}
	all.Wait()
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d payments, want 1", got)
	}
}

// TestNamedFurtherPayment: a further payment of an order under a name is made once, even if the
// order is paid by then. Another name is another payment.
func TestNamedFurtherPayment(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 120} {
		f, x := setupOrder(t)
		for i, tt := range []struct {
			name   string
			amount int64
			want   command.Outcome
			code   string
			taken  int64
		}{
			{"n", 350, command.Done, "", 350},
			{"n", 350, command.Done, "", 350},
			{"n", 340, command.Refused, v1.CodeKeyReused, 350},
			{"m", 350, command.Done, "", 700},
			{"m", 350, command.Done, "", 700},
			{"n", 350, command.Done, "", 700},
			{"o", 350, command.Unmet, "", 700},
		} {
			r := run(t, x, under(tt.name, further(tt.amount, window, visa)))
			if _, taken := f.taken(); r.Outcome != tt.want || r.Code != tt.code || taken != tt.taken {
				t.Errorf("window %d, request %d: got %s %s and took %d, want %s %s and %d", window, i, r.Outcome, r.Code, taken,
					tt.want, tt.code, tt.taken)
			}
			if r.Outcome == command.Done && r.Group[len(r.Group)-1].ID != r.Transaction.ID {
				t.Errorf("window %d, request %d: got %d payments, want the request's last", window, i, len(r.Group))
			}
		}
	}
}

// TestNamedFurtherPayment_delayed: a request was delayed, and another one has its position. A retry
// must not take the next position while v1 may still free the first one for the delayed request.
func TestNamedFurtherPayment_delayed(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	f.lose(1000)
	first := under("n", further(350, 0, visa))
	if r := run(t, x, first); r.Outcome != command.Uncertain {
		t.Fatalf("the first: got %s, want it lost", r.Outcome)
	}
	f.lose(0)
	position := f.purpose()
	rival := f.add(position, "", 350, v1.TransactionStatusProcessing, v1.Metadata{command.GroupKey: string(number)})
	if r := run(t, x, first); r.Outcome != command.Uncertain {
		t.Errorf("while the other runs: got %s %s, want %s", r.Outcome, r.Code, command.Uncertain)
	}
	rival.Status = v1.TransactionStatusDeclined
	if r := run(t, x, first); r.Outcome != command.Done {
		t.Errorf("after its decline: got %s %s, want %s", r.Outcome, r.Code, command.Done)
	}
	if r := run(t, x, first); r.Outcome != command.Done {
		t.Errorf("again: got %s %s, want %s", r.Outcome, r.Code, command.Done)
	}
	if _, amount := f.taken(); amount != 350 {
		t.Errorf("took %d, want 350", amount)
	}
}

// TestNamedFurtherPayment_freed: the other request failed, and v1 freed its key. The retry uses the
// order's present position, and a delayed attempt at the first one has no effect.
func TestNamedFurtherPayment_freed(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	f.lose(1000)
	first := under("n", further(350, 0, visa))
	run(t, x, first)
	f.lose(0)
	f.add("", "", 350, v1.TransactionStatusFailed, v1.Metadata{command.GroupKey: string(number)})
	position := f.purpose()
	for range 2 {
		if r := run(t, x, first); r.Outcome != command.Done || f.payments[1].key == position {
			t.Errorf("got %s under the key %q, want it done under the next one", r.Outcome, f.payments[1].key)
		}
	}
	if f.reserved[position] != "skipped" {
		t.Errorf("the first position: got the purpose %q, want it skipped", f.reserved[position])
	}
	if payments, amount := f.taken(); payments != 2 || amount != 350 {
		t.Errorf("took %d in %d payments, want 350 in the second", amount, payments)
	}
}

// TestNamedFurtherPayment_oldPosition: an earlier attempt under a name was lost, and the order has
// another position now. The retry and another request do not both pay the rest of the order.
func TestNamedFurtherPayment_oldPosition(t *testing.T) {
	t.Parallel()
	for _, twice := range []bool{false, true} {
		f, x := setupOrder(t)
		f.lose(1000)
		for range 1 + map[bool]int{true: 1}[twice] {
			if r := run(t, x, under("n", further(700, 120, visa))); r.Outcome != command.Uncertain {
				t.Fatalf("the first: got %s, want it lost", r.Outcome)
			}
			f.add("", "", 350, v1.TransactionStatusFailed, v1.Metadata{command.GroupKey: string(number)})
		}
		f.lose(0)
		f.meeting = new(sync.WaitGroup)
		f.meeting.Add(2)
		var all sync.WaitGroup
		for name, card := range map[string]string{"n": visa, "m": mastercard} {
			all.Go(func() { run(t, x, under(name, further(700, 120, card))) })
		}
		all.Wait()
		if payments, amount := f.taken(); amount != 700 {
			t.Errorf("lost twice %t: took %d in %d payments, want 700", twice, amount, payments)
		}
	}
}

// TestNamedFurtherPayment_usedPosition: an earlier attempt under a name was lost, and another
// request got a final refusal at its position. The next one paid there. The refused key is none of
// the order's present position, so the retry does not skip that.
func TestNamedFurtherPayment_usedPosition(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	f.lose(1000)
	first := under("n", further(350, 0, visa))
	run(t, x, first)
	f.lose(0)
	run(t, x, under("e", further(350, 0, expiredCard)))
	if r := run(t, x, under("m", further(340, 0, mastercard))); r.Outcome != command.Done {
		t.Fatalf("another: got %s %s, want it done", r.Outcome, r.Code)
	}
	if r := run(t, x, first); r.Outcome != command.Done || strings.HasSuffix(f.payments[1].key, "-2-1") {
		t.Errorf("got %s %s under the key %q, want it done under the position's first key", r.Outcome, r.Code,
			f.payments[1].key)
	}
}

// TestNamedFurtherPayment_expiredCard: after a refusal that v1 stores, a corrected request can use
// the name.
func TestNamedFurtherPayment_expiredCard(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	for i, tt := range []struct {
		card string
		want command.Outcome
	}{{expiredCard, command.Refused}, {expiredCard, command.Refused}, {visa, command.Done}, {visa, command.Done}} {
		if r := run(t, x, under("n", further(350, 0, tt.card))); r.Outcome != tt.want {
			t.Errorf("request %d: got %s %s, want %s", i, r.Outcome, r.Code, tt.want)
		}
	}
	if _, amount := f.taken(); amount != 350 {
		t.Errorf("took %d, want 350", amount)
	}
}

// TestNamedCustomer: a customer under a name is made once. A retry has the first result, and an
// equal request under another name is a duplicate.
func TestNamedCustomer(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	first := b.whole(t, under("n", ana(visa, mastercard)))
	if first.Outcome != command.Done || len(first.Methods) != 2 {
		t.Fatalf("got %s with %d methods", first.Outcome, len(first.Methods))
	}
	again := b.whole(t, under("n", ana(visa, mastercard)))
	if again.Outcome != command.Done || again.Customer.ID != first.Customer.ID || len(again.Methods) != 2 ||
		again.Methods[0].ID != first.Methods[0].ID || again.Methods[1].ID != first.Methods[1].ID {
		t.Errorf("again: got %s %+v, want the first result", again.Outcome, again)
	}
	for _, c := range []command.Command{under("m", ana(visa, mastercard)), ana(visa, mastercard)} {
		if r := b.whole(t, c); r.Outcome != command.Repeated {
			t.Errorf("a duplicate: got %s, want %s", r.Outcome, command.Repeated)
		}
	}
	other := ana(visa)
	other.Body.Email = new("other@example.org")
	if r := b.whole(t, under("n", other)); r.Outcome != command.Refused || r.Code != v1.CodeKeyReused {
		t.Errorf("another customer: got %s %s, want %s", r.Outcome, r.Code, v1.CodeKeyReused)
	}
	if r := b.whole(t, under("n", ana(amex))); r.Code != v1.CodeKeyReused {
		t.Errorf("another card: got %s %s, want %s", r.Outcome, r.Code, v1.CodeKeyReused)
	}
	if customers, numbers := b.v1.kept(); len(customers) != 1 || !slices.Equal(numbers, []string{visa, mastercard}) {
		t.Errorf("got %d customers with %v", len(customers), numbers)
	}
}

// TestNamedCustomer_changed: a retry has the first result, even if the customer was changed or
// deleted.
func TestNamedCustomer_changed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(customers map[string]*v1.Customer, made string){
		"metadata": func(customers map[string]*v1.Customer, made string) { customers[made].Metadata = nil },
		"e-mail": func(customers map[string]*v1.Customer, made string) {
			customers[made].Email = new("other@example.org")
		},
		"deleted": func(customers map[string]*v1.Customer, made string) { delete(customers, made) },
	} {
		b := setupCustomers(t)
		c := ana(visa, mastercard)
		c.Addresses = []v1.ShippingAddressInput{{FirstName: new("Ana")}, {LastName: new("Ruiz")}}
		first := b.whole(t, under("n", c))
		b.v1.mu.Lock()
		change(b.v1.customers, first.Customer.ID)
		before := len(b.v1.customers)
		b.v1.mu.Unlock()
		again := b.whole(t, under("n", c))
		if again.Outcome != command.Done || again.Customer.ID != first.Customer.ID || !sameAddresses(first, again) ||
			len(again.Methods) != 2 || again.Methods[0].ID != first.Methods[0].ID || again.Methods[1].ID != first.Methods[1].ID {
			t.Errorf("%s: got %s %s %+v, want the first result", name, again.Outcome, again.Code, again)
		}
		if customers, _ := b.v1.kept(); len(customers) != before {
			t.Errorf("%s: got %d customers, want %d", name, len(customers), before)
		}
		if r := b.whole(t, under("n", ana(amex))); r.Code != v1.CodeKeyReused {
			t.Errorf("%s, another card: got %s %s, want %s", name, r.Outcome, r.Code, v1.CodeKeyReused)
		}
	}
}

// TestNamedCustomer_crash crashes the proxy at each call to v1. The retry is done, even if the
// crashed request had completed the customer.
func TestNamedCustomer_crash(t *testing.T) {
	t.Parallel()
	for at := range 10 {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, after v1 %t", at, after), func(t *testing.T) {
				t.Parallel()
				b := setupCustomers(t)
				c := under("n", ana(visa, mastercard))
				if r := b.make(t, &failing{left: at, after: after}, c); r.Outcome == command.Done {
					t.Fatal("the first request was not cut short")
				}
				if r := b.whole(t, c); r.Outcome != command.Done || len(r.Methods) != 2 {
					t.Errorf("got %s %s with %d methods, want %s with 2", r.Outcome, r.Code, len(r.Methods), command.Done)
				}
				if customers, numbers := b.v1.kept(); len(customers) != 1 || !slices.Equal(numbers, []string{visa, mastercard}) {
					t.Errorf("got %d customers with %v", len(customers), numbers)
				}
			})
		}
	}
}

// TestNamedCustomer_atOnce: of concurrent requests for a customer under several names, one makes
// it. A retry under each name has the first result of that name.
func TestNamedCustomer_atOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cards []string
		equal bool
	}{
		"equal": {[]string{visa, mastercard}, true}, "equal, no cards": {nil, true},
		"other names": {[]string{visa, mastercard}, false}, "other names, no cards": {nil, false},
	} {
		for range 10 {
			b := setupCustomers(t)
			send := func(i int) command.Result {
				c := ana(tt.cards...)
				if !tt.equal {
					c.Body.FirstName = new(strconv.Itoa(i))
				}
				return b.whole(t, under(strconv.Itoa(i), c))
			}
			var first [4]command.Result
			var all sync.WaitGroup
			for i := range first {
				all.Go(func() { first[i] = send(i) })
			}
			all.Wait()
			made, done := b.mustKeep(t, tt.cards...).ID, 0
			for i, r := range first {
				if r.Outcome == command.Done {
					done++
				} else if r.Outcome != command.Repeated {
					t.Errorf("%s, request %d: got %s %s, want it done or repeated", name, i, r.Outcome, r.Code)
				}
				for _, got := range []command.Result{r, send(i)} {
					if got.Outcome != r.Outcome || got.Customer == nil || got.Customer.ID != made {
						t.Errorf("%s, request %d: got %s %v, want %s %s", name, i, got.Outcome, got.Customer, r.Outcome, made)
					}
				}
			}
			if done != 1 {
				t.Errorf("%s: %d requests made the customer, want 1", name, done)
			}
		}
	}
}

// TestNamedCustomer_crashBeforeTheLastStep: a proxy crashes after it reserved the last step and
// before that step. The retry completes the customer, and a request under another name does not
// until the customer is abandoned.
func TestNamedCustomer_crashBeforeTheLastStep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		age  time.Duration
		want []command.Outcome // under the names m, n, and m
	}{
		{time.Minute, []command.Outcome{command.Unavailable, command.Done, command.Repeated}},
		{4 * time.Minute, []command.Outcome{command.Done, command.Repeated, command.Done}},
	} {
		t.Run(tt.age.String(), func(t *testing.T) {
			t.Parallel()
			b := setupCustomers(t)
			calls := &failing{left: noFailure, RoundTripper: b.server.Client().Transport}
			crash := &meanwhile{method: http.MethodPatch, RoundTripper: calls, run: func() {
				calls.mu.Lock()
				defer calls.mu.Unlock()
				calls.left = 0
			}}
			if r := b.through(t, key, crash, under("n", ana(visa, mastercard))); r.Outcome == command.Done {
				t.Fatal("the first request was not cut short")
			}
			b.v1.clock.Advance(tt.age)
			for i, name := range []string{"m", "n", "m"} {
				if r := b.whole(t, under(name, ana(visa, mastercard))); r.Outcome != tt.want[i] {
					t.Errorf("request %d, under %s: got %s %s, want %s", i, name, r.Outcome, r.Code, tt.want[i])
				}
			}
			b.mustKeep(t, visa, mastercard)
		})
	}
}

// TestNamedVoidGroup: a retry of a void of an order sends the voids again under their keys, and has
// the first result.
func TestNamedVoidGroup(t *testing.T) {
	t.Parallel()
	first := transaction("captured", partial)
	txn, taken := other(t, 60410000150, "captured", member)
	_, declined := other(t, 60410000152, "declined", member)
	x, f := setup(t, map[string][]response{
		read: {{status: 200, body: first}, voided(first)},
		list: {page(false, declined, taken), page(false, declined, voided(taken).body)},
		void: {voided(first)}, voidOf(txn): {voided(taken)},
	})
	for i := range 2 {
		if r := run(t, x, under("n", command.VoidGroup{First: number})); r.Outcome != command.Done {
			t.Errorf("request %d: got %s %s, want %s", i, r.Outcome, r.Code, command.Done)
		}
	}
	posts := f.posts()
	if len(posts) != 4 || posts[0] != posts[2] || posts[1] != posts[3] || posts[0].key == posts[1].key {
		t.Errorf("got %+v, want two voids, twice", posts)
	}
}

// sameAddresses reports whether two results have the ids of the same two shipping addresses.
func sameAddresses(a, b command.Result) bool {
	one, other := a.Customer.ShippingAddresses, b.Customer.ShippingAddresses
	return one != nil && other != nil && len(*one) == 2 &&
		slices.EqualFunc(*one, *other, func(a, b v1.ShippingAddress) bool { return a.ID == b.ID })
}

// TestNamedPaymentByACustomer: the customer has changed between a request and its retry. The retry
// gets the first payment, and another amount is refused.
func TestNamedPaymentByACustomer(t *testing.T) {
	t.Parallel()
	customer := func(line string) response {
		return response{
			status: 200, body: `{"id":"cus_1","shipping_addresses":[{"id":"addr_1","address":{"line1":"` + line + `"}}]}`,
		}
	}
	paid := transaction("captured", `"customer":"cus_1"`, `"payment_method":"pm_1"`)
	reused := response{status: http.StatusUnprocessableEntity, body: refusal(v1.CodeKeyReused)}
	c := command.Authorize{ShipTo: "addr_1", Body: v1.TransactionCreate{
		Amount: 100, Currency: "usd", Customer: new("cus_1"), PaymentMethod: "pm_1",
	}}
	x, f := setup(t, map[string][]response{
		"GET /v1/customers/cus_1": {customer("1 Old Street"), customer("2 New Street")},
		create:                    {{status: 201, body: paid}, reused}, read: {{status: 200, body: paid}},
	})
	if r := run(t, x, under("n", c)); r.Outcome != command.Done {
		t.Fatalf("got %s %s, want it done", r.Outcome, r.Code)
	}
	key := f.posts()[0].key
	f.mu.Lock()
	f.responses["GET /v1/idempotency_keys/"+key] = []response{{status: 200, body: mustJSON(v1.IdempotencyKeyRecord{
		Key: key, HTTPStatus: new(http.StatusCreated), Resource: &txnID,
	})}}
	f.mu.Unlock()
	if r := run(t, x, under("n", c)); r.Outcome != command.Done || r.Transaction.ID != txnID || !r.Replayed {
		t.Errorf("the retry: got %s %s, want the first payment", r.Outcome, r.Code)
	}
	c.Body.Amount++
	if r := run(t, x, under("n", c)); r.Outcome != command.Refused || r.Code != v1.CodeKeyReused {
		t.Errorf("another amount: got %s %s, want %s", r.Outcome, r.Code, v1.CodeKeyReused)
	}
	if posts := f.posts(); len(posts) != 3 || strings.Contains(posts[0].body, "New") {
		t.Errorf("got %+v", posts)
	}
}

// TestNamedPaymentByACustomer_unreadable: the caller may not read the key, and the customer has
// changed between a request and its retry. The retry is Uncertain, and no refusal. A first request
// is refused.
func TestNamedPaymentByACustomer_unreadable(t *testing.T) {
	t.Parallel()
	const reservation, method = "POST /v1/idempotency_keys", "GET /v1/customers/cus_1/payment_methods/pm_1"
	brand := func(name string) response {
		return response{status: 200, body: `{"id":"pm_1","customer":"cus_1","card":{"brand":"` + name + `","last4":"4242"}}`}
	}
	reused := response{status: http.StatusUnprocessableEntity, body: refusal(v1.CodeKeyReused)}
	for name, tt := range map[string]struct {
		brand    string
		reserved response
		want     command.Outcome
	}{
		"a brand, first":       {"unknown", response{status: http.StatusCreated, body: "{}"}, command.Unmet},
		"a brand, paid before": {"unknown", reused, command.Uncertain},
		"a brand, v1 is down":  {"unknown", response{status: http.StatusServiceUnavailable}, command.Unavailable},
		"paid before":          {"visa", reused, command.Uncertain},
	} {
		x, f := setup(t, map[string][]response{
			method: {brand(tt.brand)}, create: {reused}, reservation: {tt.reserved},
		})
		f.blind = true
		r := run(t, x, under("n", command.Authorize{
			AcceptedBrands: []v1.CardBrand{"visa"},
			Body:           v1.TransactionCreate{Amount: 100, Currency: "usd", Customer: new("cus_1"), PaymentMethod: "pm_1"},
		}))
		if r.Outcome != tt.want {
			t.Errorf("%s: got %s %s %s, want %s", name, r.Outcome, r.Code, r.Unmet, tt.want)
		}
	}
}
