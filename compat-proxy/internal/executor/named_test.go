package executor_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// named returns a payment of that amount under one name.
func named(amount int64) command.Named {
	c := charge
	c.Body.Amount = amount
	return command.Named{Command: c, Name: "n"}
}

// result executes the command at that proxy.
func (b windowBundle) result(t *testing.T, proxy int, c command.Command) command.Result {
	t.Helper()
	return b.proxies[proxy].Execute(t.Context(), key, c)
}

// refusedFirst returns a bundle whose v1 has refused a payment of 100 under the name, and refuses
// nothing from then on.
func refusedFirst(t *testing.T) windowBundle {
	t.Helper()
	b := setupWindow(t, noon)
	b.v1.response = http.StatusConflict
	if r := b.result(t, 0, named(100)); r.Outcome != command.Refused || r.Fresh {
		t.Fatalf("got %s, fresh %t, want a refusal", r.Outcome, r.Fresh)
	}
	b.v1.response, b.v1.effects = http.StatusCreated, nil
	for _, u := range b.v1.uses {
		u.id = "" // it made nothing
	}
	return b
}

// After a refusal, one later request may use the name, at any proxy.
func TestNameAfterARefusal(t *testing.T) {
	t.Parallel()
	b := refusedFirst(t)
	for i, tt := range []struct {
		amount int64
		want   command.Outcome
		code   string
		fresh  bool
	}{
		{200, command.Done, "", true},
		{200, command.Done, "", false},
		{300, command.Refused, v1.CodeKeyReused, false},
		{100, command.Refused, v1.CodeKeyReused, false},
	} {
		r := b.result(t, i%2, named(tt.amount))
		if r.Outcome != tt.want || r.Code != tt.code || r.Fresh != tt.fresh {
			t.Errorf("%d: got %s %s, fresh %t, want %s %s, %t", i, r.Outcome, r.Code, r.Fresh, tt.want, tt.code, tt.fresh)
		}
	}
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d effects, want 1", got)
	}
	if r := b.result(t, 1, command.Reverse{Name: "n"}); r.Transaction == nil {
		t.Errorf("by its name: got %s, want the payment", r.Outcome)
	}
}

// TestTheSameAfterARefusal: a refused request is executed when it is repeated, unless the refusal
// is final. A declined one is not.
func TestTheSameAfterARefusal(t *testing.T) {
	t.Parallel()
	b := refusedFirst(t)
	final := named(100)
	final.Final = true
	if r := b.result(t, 1, final); r.Outcome != command.Refused {
		t.Errorf("final: got %s, want the refusal", r.Outcome)
	}
	if r := b.result(t, 1, named(100)); r.Outcome != command.Done || !r.Fresh {
		t.Errorf("got %s, fresh %t, want it done now", r.Outcome, r.Fresh)
	}
	b = setupWindow(t, noon)
	b.v1.response = http.StatusPaymentRequired
	if r := b.result(t, 0, named(100)); r.Outcome != command.Declined || !r.Fresh {
		t.Errorf("got %s, fresh %t, want a decline", r.Outcome, r.Fresh)
	}
	b.v1.response = http.StatusCreated
	if r := b.result(t, 1, named(100)); r.Outcome != command.Declined || r.Fresh {
		t.Errorf("again: got %s, fresh %t, want the decline", r.Outcome, r.Fresh)
	}
	if r := b.result(t, 1, named(200)); r.Code != v1.CodeKeyReused || b.v1.paid() != 1 {
		t.Errorf("another: got %s, %d payments, want it refused", r.Code, b.v1.paid())
	}
}

// TestReplayed: a result is a replay if an earlier request caused it. It is none if an attempt of
// the same request caused it, and the response was lost.
func TestReplayed(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{
		"done": http.StatusCreated, "declined": http.StatusPaymentRequired, "refused": http.StatusConflict,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			b.v1.response, b.v1.lostResponses = status, 1
			c := named(100)
			c.Final = true
			for i, want := range []bool{false, true, true} {
				if r := b.result(t, i%2, c); r.Replayed != want {
					t.Errorf("%d: got %s, replayed %t, want %t", i, r.Outcome, r.Replayed, want)
				}
			}
			if r := b.result(t, 0, charge); r.Replayed {
				t.Errorf("a request without a name: got %s, a replay", r.Outcome)
			}
		})
	}
}

// One of many concurrent requests has an effect, equal or not, even if responses are lost.
func TestNameAfterARefusal_atOnce(t *testing.T) {
	t.Parallel()
	b := refusedFirst(t)
	b.v1.lostResponses = 3
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() { b.result(t, i%2, named(int64(200+i%3))) })
	}
	group.Wait()
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d effects, want 1", got)
	}
}

// After eight keys, and after an hour, a name is refused with the code that proves that nothing was
// done.
func TestNameThatIsSpent(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.response = http.StatusConflict
	for i := range 9 {
		if r := b.result(t, i%2, named(int64(100+i))); r.Outcome != command.Refused ||
			(r.Code == command.CodeNameSpent) != (i == 8) {
			t.Errorf("%s: got %s %s", strconv.Itoa(i), r.Outcome, r.Code)
		}
	}
	b = refusedFirst(t)
	b.clock.Advance(time.Hour)
	if r := b.result(t, 0, named(200)); r.Code != command.CodeNameSpent || b.v1.paid() != 0 {
		t.Errorf("after an hour: got %s %s, want it refused", r.Outcome, r.Code)
	}
	b = refusedFirst(t)
	b.clock.Advance(time.Hour - time.Second)
	if r := b.result(t, 0, named(200)); r.Outcome != command.Done {
		t.Errorf("within the hour: got %s, want it done", r.Outcome)
	}
}

// A running request under a name, or a key that may not be read, blocks all others.
func TestNameInUse(t *testing.T) {
	t.Parallel()
	b := refusedFirst(t)
	for _, u := range b.v1.uses {
		u.running = true
	}
	if r := b.result(t, 0, named(200)); r.Outcome != command.Uncertain {
		t.Errorf("under way: got %s, want uncertain", r.Outcome)
	}
	b = refusedFirst(t)
	b.v1.blind = true
	if r := b.result(t, 0, named(200)); r.Code != v1.CodeKeyReused {
		t.Errorf("without the scope to read: got %s, want it refused", r.Code)
	}
	if got := b.v1.paid(); got != 0 {
		t.Errorf("got %d effects, want none", got)
	}
}
