package executor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var (
	// rolled is the API key that replaced key: it has the same merchant and mode.
	rolled      = secret.New("sk_test_key_rolled")
	otherSecret = secret.New("another deduplication secret for tests")
)

// repeatable returns the commands that v1 must execute once, even if they are repeated.
func repeatable() map[string]command.Command {
	amount, currency, method := int64(100), "usd", "card"
	credit := command.Credit{Body: v1.RefundCreate{
		Amount: &amount, Currency: &currency, PaymentMethod: &method,
		Card: &v1.CardInput{Number: secret.New("4111111111111111"), ExpMonth: 4, ExpYear: 2031},
	}}
	windowed := credit
	windowed.Deduplication = command.Deduplication{Window: 120, Same: []string{"shop"}}
	once := command.Refund{
		Target: number, Amount: "1.00",
		Deduplication: command.Deduplication{Window: 120, Same: []string{"shop"}},
	}
	return map[string]command.Command{
		"payment by name":   named(100),
		"capture by name":   command.Named{Command: command.Capture{Target: number, Amount: "1.00"}, Name: "c"},
		"refund by name":    command.Named{Command: command.Refund{Target: number, Amount: "1.00"}, Name: "r"},
		"credit by name":    command.Named{Command: credit, Name: "d"},
		"payment in window": sale(120),
		"refund in window":  once,
		"credit in window":  windowed,
	}
}

// TestRolledKeyRecognisesRetries: the API key of a login is rolled between a command whose response
// was lost and its retry, at this proxy or another one.
func TestRolledKeyRecognisesRetries(t *testing.T) {
	t.Parallel()
	for name, c := range repeatable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			b.v1.lostResponses = 4 // every response to the first one is lost
			b.proxies[0].Execute(t.Context(), key, c)
			for i, apiKey := range []secret.String{rolled, key, rolled} {
				r := b.proxies[(i+1)%2].Execute(t.Context(), apiKey, c)
				if r.Outcome != command.Done && r.Outcome != command.Repeated || r.Fresh {
					t.Errorf("retry %d: got %s, fresh %t, want the first one's result", i, r.Outcome, r.Fresh)
				}
			}
			if got := b.v1.paid(); got != 1 {
				t.Errorf("effects at v1: got %d, want 1", got)
			}
		})
	}
}

// A timeout reversal finds the payment by its name, though its API key was rolled meanwhile.
func TestRolledKeyReversesByName(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.proxies[0].Execute(t.Context(), key, named(100))
	if r := b.proxies[1].Execute(t.Context(), rolled, command.Reverse{Name: "n"}); r.Outcome == command.NotFound ||
		r.Transaction == nil {
		t.Errorf("reversal: got %s, want the payment", r.Outcome)
	}
	b.proxies[0].Execute(t.Context(), rolled, command.Named{Command: command.Capture{Target: number}, Name: "n2"})
	if r := b.proxies[1].Execute(t.Context(), key, command.CancelCapture{Name: "n2"}); r.Outcome == command.NotFound {
		t.Errorf("cancellation: got %s, want the capture", r.Outcome)
	}
}

// A duplicate of a further payment, and a customer, are recognised under the rolled key too.
func TestRolledKeyFindsOrdersAndCustomers(t *testing.T) {
	t.Parallel()
	orders, x := setupOrder(t)
	x.Execute(t.Context(), key, further(350, 120, visa))
	if r := x.Execute(t.Context(), rolled, further(350, 120, visa)); r.Outcome != command.Repeated {
		t.Errorf("further payment: got %s, want it repeated", r.Outcome)
	}
	if payments, _ := orders.taken(); payments != 1 {
		t.Errorf("got %d further payments, want 1", payments)
	}
	b := setupCustomers(t)
	b.make(t, &failing{left: 2, after: true}, ana(visa)) // the customer exists, and is incomplete
	if r := b.makeWith(t, rolled, &failing{left: noFailure}, ana(visa)); r.Outcome != command.Done {
		t.Errorf("customer: got %s, want it finished", r.Outcome)
	}
	if customers, _ := b.v1.kept(); len(customers) != 1 {
		t.Errorf("got customers %v, want 1", customers)
	}
}

// Another merchant, and the other mode of the same merchant, have separate names.
func TestNamesOfAnotherTenant(t *testing.T) {
	t.Parallel()
	for _, c := range []command.Command{named(100), sale(120)} {
		b := setupWindow(t, noon)
		for i, apiKey := range []string{"sk_test_key", "sk_test_stranger", "sk_live_key"} {
			if r := b.proxies[i%2].Execute(t.Context(), secret.New(apiKey), c); r.Outcome != command.Done {
				t.Errorf("%s: got %s, want it done", apiKey, r.Outcome)
			}
		}
		if got := b.v1.paid(); got != 3 {
			t.Errorf("got %d effects, want 3", got)
		}
	}
}

// TestReplacedSecretRecognisesRetries: while the deduplication secret is replaced, each proxy has
// both. A request named under one secret is recognised under the other.
func TestReplacedSecretRecognisesRetries(t *testing.T) {
	t.Parallel()
	for name, c := range repeatable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			before, after := b.proxy(t, goldentest.Secret(), otherSecret), b.proxy(t, otherSecret, goldentest.Secret())
			for i, x := range []*executor.Executor{b.proxies[0], after, before, after} {
				if r := x.Execute(t.Context(), key, c); r.Outcome != command.Done && r.Outcome != command.Repeated {
					t.Errorf("%d: got %s %s", i, r.Outcome, r.Code)
				}
			}
			if got := b.v1.paid(); got != 1 {
				t.Errorf("effects at v1: got %d, want 1", got)
			}
		})
	}
	b := setupWindow(t, midnight.Add(-time.Second))
	b.proxies[0].Execute(t.Context(), key, sale(120))
	b.clock.Advance(2 * time.Second)
	r := b.proxy(t, otherSecret, goldentest.Secret()).Execute(t.Context(), key, sale(120))
	if r.Outcome != command.Repeated {
		t.Errorf("across a period's beginning: got %s, want it repeated", r.Outcome)
	}
	b = setupWindow(t, noon)
	b.proxies[0].Execute(t.Context(), key, named(100))
	if r := b.proxy(t, otherSecret, goldentest.Secret()).Execute(t.Context(), rolled,
		command.Reverse{Name: "n"}); r.Transaction == nil {
		t.Errorf("reversal by name: got %s, want the payment", r.Outcome)
	}
}

// A duplicate of a further payment, and a customer, are recognised while the deduplication secret
// is replaced.
func TestReplacedSecretFindsOrdersAndCustomers(t *testing.T) {
	t.Parallel()
	orders, x := setupOrder(t)
	x.Execute(t.Context(), key, further(350, 120, visa))
	server := goldentest.Serve(t, goldentest.Identified(orders))
	after, err := executor.New(executor.Config{
		V1: v1client.Config{URL: server.URL, Clock: orders.clock}, DeduplicationSecret: otherSecret,
		DeduplicationSecretOther: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := after.Execute(t.Context(), key, further(350, 120, visa)); r.Outcome != command.Repeated {
		t.Errorf("further payment: got %s, want it repeated", r.Outcome)
	}
	b := setupCustomers(t)
	b.make(t, &failing{left: 2, after: true}, ana(visa)) // the customer exists, and is incomplete
	after, err = executor.New(executor.Config{
		V1: v1client.Config{URL: b.server.URL, Clock: b.v1.clock}, DeduplicationSecret: otherSecret,
		DeduplicationSecretOther: goldentest.Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := after.Execute(t.Context(), key, ana(visa)); r.Outcome != command.Done {
		t.Errorf("customer: got %s, want it finished", r.Outcome)
	}
	if customers, _ := b.v1.kept(); len(customers) != 1 {
		t.Errorf("got customers %v, want 1", customers)
	}
}

// A named request is not attempted while v1 does not identify the API key. Under another name it
// could be executed twice.
func TestNamedWithoutATenant(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.down = true
	for _, c := range []command.Command{named(100), sale(120)} {
		if r := b.proxies[0].Execute(t.Context(), key, c); r.Outcome != command.Unavailable {
			t.Errorf("got %s, want unavailable", r.Outcome)
		}
	}
	if r := b.proxies[0].Execute(t.Context(), key, charge); r.Outcome != command.Done {
		t.Errorf("without a name: got %s, want it done", r.Outcome)
	}
	b.v1.down = false
	b.proxies[0].Execute(t.Context(), key, named(100))
	b.v1.down = true
	b.clock.Advance(time.Hour) // long after the scopes of the key were read
	if r := b.proxies[0].Execute(t.Context(), key, named(100)); r.Outcome != command.Done || r.Fresh {
		t.Errorf("an API key that was identified before: got %s, fresh %t, want the first one's result", r.Outcome, r.Fresh)
	}
}

func TestDeduplicationSecretIsChecked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 32)
	for _, tt := range []struct{ current, other, fault string }{
		{long, "", ""},
		{long, long + "y", ""},
		{"", "", "deduplication_secret"},
		{long[1:], "", "deduplication_secret"},
		{long, long[1:], "deduplication_secret_other"},
		{long, long, "deduplication_secret_other"},
	} {
		_, err := executor.New(executor.Config{
			V1: v1client.Config{URL: "http://v1"}, DeduplicationSecret: secret.New(tt.current),
			DeduplicationSecretOther: secret.New(tt.other),
		})
		if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%d and %d characters: got %v, want %q", len(tt.current), len(tt.other), err, tt.fault)
		}
	}
	a, b := deduplication.SecretFingerprint(goldentest.Secret()), deduplication.SecretFingerprint(otherSecret)
	if a == b ||
		len(a) != len("fp")+16 {
		t.Errorf("fingerprints %q and %q, want two of 16 digits after fp", a, b)
	}
}
