package command_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	visa       = "4111111111111111"
	mastercard = "5424000000000015"
)

// comparables returns groups of commands. All commands of a group have the same effect.
func comparables() [][]command.Command {
	code := secret.New("123")
	card := func(number string, code *secret.String) *v1.CardInput {
		return &v1.CardInput{Number: secret.New(number), ExpMonth: 4, ExpYear: 2031, Cvc: code}
	}
	pay := func(number string, code *secret.String) command.Authorize {
		return command.Authorize{Body: v1.TransactionCreate{Card: card(number, code)}}
	}
	token := func(code *secret.String) command.CreateToken {
		return command.CreateToken{Body: v1.TokenCreate{Card: card(visa, code)}}
	}
	credit := command.Credit{Body: v1.RefundCreate{Card: card(visa, nil)}}
	changed := func(c command.Authorize, change func(*command.Authorize)) command.Authorize {
		change(&c)
		return c
	}
	once := command.Deduplication{Window: 9, Same: []string{"login"}}
	return [][]command.Command{
		{
			pay(visa, nil), pay(visa, &code),
			changed(pay(visa, nil), func(c *command.Authorize) { c.Body.CardCvc = &code }),
			changed(pay(visa, nil), func(c *command.Authorize) { c.Deduplication = once }),
		},
		{pay(mastercard, nil)},
		{changed(pay(visa, nil), func(c *command.Authorize) { c.Joins = "1" })},
		{changed(pay(visa, nil), func(c *command.Authorize) { c.Joins = "2" })},
		{changed(pay(visa, nil), func(c *command.Authorize) { c.Body.Metadata = &v1.Metadata{"a": "b", "c": "d"} })},
		{command.Void{Target: "1"}},
		{command.Void{Target: "2"}},
		{command.VoidGroup{First: "1"}},
		{command.Reverse{Target: "1"}},
		{command.CancelCapture{Target: "1"}},
		{command.Refund{Target: "1", Amount: "2.00"}, command.Refund{Target: "1", Amount: "2.00", Deduplication: once}},
		{command.Refund{Target: "1", Amount: "3.00"}},
		{
			credit,
			command.Credit{Body: credit.Body, Deduplication: once},
			command.Credit{Body: v1.RefundCreate{Card: card(visa, &code)}},
		},
		{token(nil), token(&code)},
		{
			command.CreateCustomer{Methods: []command.NewMethod{{Token: token(nil)}}},
			command.CreateCustomer{Methods: []command.NewMethod{{Token: token(&code)}}},
		},
		{
			command.AttachMethod{Customer: "a", Method: command.NewMethod{Token: token(nil)}},
			command.AttachMethod{Customer: "a", Method: command.NewMethod{Token: token(&code)}},
		},
		{command.AttachMethod{Customer: "b", Method: command.NewMethod{Token: token(nil)}}},
	}
}

// TestComparable: commands with one effect have one text, and any others have another. Security
// codes and Deduplication do not count.
func TestComparable(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for i, group := range comparables() {
		for _, c := range group {
			text, err := command.Comparable(c)
			if err != nil {
				t.Fatal(err)
			}
			if row, known := rows[text]; known && row != i {
				t.Errorf("%T of the rows %d and %d: got %s for both", c, row, i, text)
			}
			rows[text] = i
		}
		if len(rows) != i+1 {
			t.Fatalf("row %d: got %d texts, want one", i, len(rows)-i)
		}
	}
}
