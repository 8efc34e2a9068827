package core_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestTransactionFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := MustDecode[v1.Customer](t, b.post(t, "/v1/customers", `{"email":"ann@example.com"}`), 201).ID
	made := []string{ // newest last
		b.MustCreate(t, 100, `,"reference":"order 1"`).ID,
		b.MustCreate(t, 100, manual+`,"reference":"order 2"`).ID,
	}
	b.clock.Advance(time.Minute)
	middle := b.clock.Now()
	made = append(made, b.MustCreate(t, 200, `,"customer":"`+customer+`","reference":"order 1"`).ID)
	b.clock.Advance(time.Minute)
	made = append(made,
		MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":100,"currency":"eur","payment_method":"pm_card_amex"}`), 201).ID,
		MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", verification), 201).ID)
	amex := b.transaction(t, made[3]).Card.Fingerprint
	at := func(d time.Duration) string { return url.QueryEscape(middle.Add(d).Format("2006-01-02T15:04:05.000Z")) }
	for query, want := range map[string][]int{ // by their place in made, newest first
		"status=captured":                        {3, 2, 0},
		"status=authorized":                      {4, 1},
		"status=voided":                          {},
		"customer=" + customer:                   {2},
		"reference=order%201":                    {2, 0},
		"reference=order":                        {},
		"card_fingerprint=" + amex:               {3},
		"amount=100":                             {3, 1, 0},
		"amount=0":                               {4},
		"currency=eur":                           {3},
		"currency=jpy&amount=0":                  {4},
		"created_after=" + at(0):                 {4, 3},
		"created_after=" + at(-time.Millisecond): {4, 3, 2},
		"created_before=" + at(0):                {1, 0},
		"created_before=" + at(time.Millisecond): {2, 1, 0},
		"created_before=" + at(-24*time.Hour):    {},
		"created_after=" + at(-time.Second) + "&created_before=" + at(time.Second): {2},
		"amount=100&status=captured":                        {3, 0},
		"amount=100&starting_after=" + made[3]:              {1, 0},
		"amount=100&starting_after=" + made[3] + "&limit=1": {1},
		"amount=100&ending_before=" + made[1]:               {3},
		"reference=order%201&created_before=" + at(0):       {0},
	} {
		got := MustDecode[page](t, b.get(t, "/v1/transactions?"+query), 200)
		ids := []string{}
		for _, i := range want {
			ids = append(ids, made[i])
		}
		if more := strings.Contains(query, "limit=1"); !slices.Equal(got.ids(), ids) || got.HasMore != more {
			t.Errorf("%s: got %v more %t, want %v", query, got.ids(), got.HasMore, ids)
		}
	}
	stranger := setup(t)
	if got := MustDecode[page](t, stranger.get(t, "/v1/transactions?amount=100"), 200); len(got.Data) != 0 {
		t.Errorf("a stranger sees %v", got.ids())
	}
}

func TestTransactionFiltersThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for query, want := range map[string]refusal{
		"status=paid": invalid("invalid_value", "status"), "status=": invalid("invalid_value", "status"),
		"customer=ann": invalid("invalid_value", "customer"), "reference=": invalid("invalid_value", "reference"),
		"reference=%ff": invalid("invalid_value", "reference"), "reference=" + strings.Repeat("x", 256): invalid("invalid_value", "reference"),
		"card_fingerprint=": invalid("invalid_value", "card_fingerprint"), "currency=USD": invalid("invalid_value", "currency"),
		"amount=-1": invalid("invalid_amount", "amount"), "amount=1.5": invalid("invalid_amount", "amount"),
		"amount=1000000000000": invalid("invalid_amount", "amount"), "amount=": invalid("invalid_amount", "amount"),
		"created_after=yesterday": invalid("invalid_value", "created_after"), "created_before=": invalid("invalid_value", "created_before"),
		"status=captured&status=voided": invalid("invalid_value", "status"), "description=x": invalid("unknown_parameter", "description"),
	} {
		t.Run(fmt.Sprintf("%.40s", query), func(t *testing.T) {
			t.Parallel()
			wantRefusal(t, b.get(t, "/v1/transactions?"+query), want)
		})
	}
}
