package executor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Two customer numbers that pass for card numbers, and their common masked form.
const (
	numberOfAna = "4000000123081111"
	numberOfBo  = "4242424202021111"
	numberOfAll = "XXXXXXXXXXXX1111"
)

// at sends the request through a new proxy with these deduplication secrets.
func (b customerBundle) at(
	t *testing.T, current, other, apiKey secret.String, c command.CreateCustomer,
) command.Result {
	t.Helper()
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: b.server.URL, Transport: b.server.Client().Transport, Backoff: time.Microsecond,
			Clock: b.proxy,
		},
		DeduplicationSecret: current, DeduplicationSecretOther: other, FollowPause: time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return x.Execute(t.Context(), apiKey, c)
}

// identifiedBy returns customers with one identifying field, and one with all.
func identifiedBy(number string) map[string]command.CreateCustomer {
	email := number + "@example.org"
	all := v1.CustomerInput{Reference: &number, Description: &number, Email: &email}
	return map[string]command.CreateCustomer{
		"reference":   {Body: v1.CustomerInput{Reference: &number}},
		"description": {Body: v1.CustomerInput{Description: &number, Metadata: &v1.Metadata{"kind": "guest"}}},
		"email":       {Body: v1.CustomerInput{Email: &email}},
		"all":         {Body: all, Methods: ana(visa).Methods},
	}
}

// TestMaskedCustomersAreApart makes customers whose fields are equal after masking. Each request
// finds its own customer: immediately, a day later, under a rolled API key, and while the secret
// rotates.
func TestMaskedCustomersAreApart(t *testing.T) {
	t.Parallel()
	own, next := goldentest.Secret(), otherSecret
	for name := range identifiedBy("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupCustomers(t)
			made := map[string]string{}
			for _, number := range []string{numberOfAna, numberOfBo, numberOfAll} {
				r := b.at(t, own, secret.String{}, key, identifiedBy(number)[name])
				if r.Outcome != command.Done {
					t.Fatalf("%s: got %s %s, want it done", number, r.Outcome, r.Code)
				}
				made[number] = r.Customer.ID
			}
			for _, round := range []struct {
				name           string
				current, other secret.String
				apiKey         secret.String
			}{
				{"immediately", own, secret.String{}, key},
				{"under a rolled key", own, secret.String{}, rolled},
				{"before the secret is replaced", own, next, key},
				{"after the secret was replaced", next, own, key},
			} {
				for number, customer := range made {
					r := b.at(t, round.current, round.other, round.apiKey, identifiedBy(number)[name])
					if r.Outcome != command.Repeated || r.Customer.ID != customer {
						t.Errorf("%s, %s: got %s %+v, want customer %s", round.name, number, r.Outcome, r.Customer, customer)
					}
				}
				b.v1.forget()
			}
			// No customer is found without the secret of its entry. A new one is made, and no other is
			// returned.
			for number := range made {
				want := command.Done
				if number == numberOfAll { // not masked
					want = command.Repeated
				}
				if r := b.at(t, next, secret.String{}, key, identifiedBy(number)[name]); r.Outcome != want {
					t.Errorf("under another secret, %s: got %s, want %s", number, r.Outcome, want)
				}
			}
		})
	}
}

// TestMaskedCustomersAfterADeath makes two customers whose fields are equal after masking. The
// proxy dies at each call of the first. The second request, then the retry of the first, make one
// customer each.
func TestMaskedCustomersAfterADeath(t *testing.T) {
	t.Parallel()
	first, second := identifiedBy(numberOfAna)["all"], identifiedBy(numberOfBo)["all"]
	second.Methods = ana(mastercard).Methods
	for at := range 5 { // list, token, create, attachment, update
		for _, after := range []bool{false, true} {
			b := setupCustomers(t)
			b.make(t, &failing{left: at, after: after}, first)
			bo, anaAgain := b.whole(t, second), b.whole(t, first)
			if bo.Outcome != command.Done || anaAgain.Customer == nil || anaAgain.Customer.ID == bo.Customer.ID {
				t.Errorf("call %d, after v1 %t: got %+v and %+v, want two customers", at, after, bo, anaAgain)
			}
			customers, numbers := b.v1.kept()
			if slices.Sort(numbers); len(customers) != 2 || !slices.Equal(numbers, []string{visa, mastercard}) {
				t.Errorf("call %d, after v1 %t: kept %d customers with %v", at, after, len(customers), numbers)
			}
		}
	}
}

// TestMaskedCustomerWhileTheSecretRotates replaces the secret between an attempt that created the
// customer and its retry. The retry uses the secret of the first attempt.
func TestMaskedCustomerWhileTheSecretRotates(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	c := identifiedBy(numberOfAna)["all"]
	b.make(t, &failing{left: 2, after: true}, c)
	if r := b.at(t, otherSecret, goldentest.Secret(), key, c); r.Outcome != command.Done {
		t.Errorf("got %s %s, want it done", r.Outcome, r.Code)
	}
	if customers, numbers := b.v1.kept(); len(customers) != 1 || !slices.Equal(numbers, []string{visa}) {
		t.Errorf("kept: got %d customers with cards %v, want 1 with %s", len(customers), numbers, visa)
	}
}

// TestMaskedByItsOwnCard gives one customer two cards. Its reference holds the number of the first,
// which is masked differently with the second card. V1 cannot list it by both forms, so there are
// two customers.
func TestMaskedByItsOwnCard(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	reference := "x" + visa + "y"
	for _, card := range []string{visa, mastercard} {
		c := command.CreateCustomer{Body: v1.CustomerInput{Reference: &reference}, Methods: ana(card).Methods}
		for _, want := range []command.Outcome{command.Done, command.Repeated} {
			if r := b.whole(t, c); r.Outcome != want {
				t.Errorf("with the card %s: got %s %s, want it %s", card, r.Outcome, r.Code, want)
			}
		}
	}
}

// TestMaskedIdentityIsKeyed compares the entry that distinguishes masked customers. It depends on
// the secret and on the merchant, and does not reveal the number.
func TestMaskedIdentityIsKeyed(t *testing.T) {
	t.Parallel()
	entry := func(current secret.String, number string) string {
		b := setupCustomers(t)
		r := b.at(t, current, secret.String{}, key, identifiedBy(number)["reference"])
		if r.Customer == nil || text(r.Customer.Reference) != numberOfAll {
			t.Fatalf("got %+v, want a customer with a masked reference", r)
		}
		return r.Customer.Metadata["masked_identity"]
	}
	first := entry(goldentest.Secret(), numberOfAna)
	again := entry(goldentest.Secret(), numberOfAna)
	if again != first || len(first) != 43 || strings.Contains(first, "1111") {
		t.Errorf("got %q, then %q; want one HMAC", first, again)
	}
	if other := entry(goldentest.Secret(), numberOfBo); other == first {
		t.Error("another number has the same entry")
	}
	if other := entry(otherSecret, numberOfAna); other == first {
		t.Error("another secret gives the same entry")
	}
	b := setupCustomers(t)
	if r := b.whole(t, ana(visa)); r.Customer == nil || len(r.Customer.Metadata) != 0 {
		t.Errorf("without a masked field: got %+v, want no entry", r.Customer)
	}
}
