package command_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestComparable: commands with one effect have one text, and any others have another. Security
// codes and Deduplication do not count.
func TestComparable(t *testing.T) {
	t.Parallel()
	code := secret.New("123")
	card := func(number string, code *secret.String) *v1.CardInput {
		return &v1.CardInput{Number: secret.New(number), ExpMonth: 4, ExpYear: 2031, Cvc: code}
	}
	customer := func(code *secret.String) command.CreateCustomer {
		return command.CreateCustomer{Methods: []command.NewMethod{{
			Token: command.CreateToken{Body: v1.TokenCreate{Card: card(visa, code)}},
		}}}
	}
	seen := map[string]int{}
	for i, group := range [][]command.Command{
		{
			command.Authorize{Body: v1.TransactionCreate{Card: card(visa, nil)}},
			command.Authorize{Body: v1.TransactionCreate{Card: card(visa, &code)}},
			command.Authorize{Body: v1.TransactionCreate{Card: card(visa, nil), CardCvc: &code}},
			command.Authorize{
				Body:          v1.TransactionCreate{Card: card(visa, nil)},
				Deduplication: command.Deduplication{Window: 9, Same: []string{"login"}},
			},
		},
		{command.Authorize{Body: v1.TransactionCreate{Card: card(mastercard, nil)}}},
		{command.Authorize{Body: v1.TransactionCreate{Card: card(visa, nil)}, Joins: "1"}},
		{command.Authorize{Body: v1.TransactionCreate{Card: card(visa, nil)}, Joins: "2"}},
		{command.Authorize{Body: v1.TransactionCreate{Card: card(visa, nil), Metadata: &v1.Metadata{"a": "b", "c": "d"}}}},
		{command.Void{Target: "1"}},
		{command.Void{Target: "2"}},
		{command.VoidGroup{First: "1"}},
		{command.Reverse{Target: "1"}},
		{command.CancelCapture{Target: "1"}},
		{
			command.Refund{Target: "1", Amount: "2.00"},
			command.Refund{Target: "1", Amount: "2.00", Deduplication: command.Deduplication{Same: []string{"login"}}},
		},
		{command.Refund{Target: "1", Amount: "3.00"}},
		{
			command.Credit{Body: v1.RefundCreate{Card: card(visa, nil)}},
			command.Credit{Body: v1.RefundCreate{Card: card(visa, &code)}, Deduplication: command.Deduplication{Window: 1}},
		},
		{command.CreateToken{Body: v1.TokenCreate{Card: card(visa, nil)}}, command.CreateToken{Body: v1.TokenCreate{Card: card(visa, &code)}}},
		{customer(nil), customer(&code)},
	} {
		for _, c := range group {
			text, err := command.Comparable(c)
			if err != nil {
				t.Fatal(err)
			}
			if first, known := seen[text]; known && first != i {
				t.Errorf("%T of the rows %d and %d: got %s for both", c, first, i, text)
			}
			seen[text] = i
		}
		if len(seen) != i+1 {
			t.Fatalf("row %d: got %d texts, want one", i, len(seen)-i)
		}
	}
}
