package standalone_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLegacyDetailsGiveBackWhatWasSent checks that the details of a sale have the fields of its
// request, through the real core.
func TestLegacyDetailsGiveBackWhatWasSent(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	const stripe = `"payment":{"trackData":{"track2":"4111111111111111=31041011"}}`
	amount := 0
	for name, tt := range map[string]struct{ sent, want string }{
		"retail":       {legacyCard + `,"retail":{"deviceType":"5"}`, `"product":"Card Present","marketType":"Retail"`},
		"retail, moto": {legacyCard + `,"retail":{"marketType":"1"}`, `"product":"Card Not Present","marketType":"MOTO"`},
		"stripe":       {stripe, `"product":"Card Present","marketType":"Retail"`},
		"stripe, online": {
			stripe + `,"retail":{"marketType":"0"}`,
			`"product":"Card Not Present","marketType":"eCommerce"`,
		},
		"card":     {legacyCard, `"product":"Card Not Present","marketType":"eCommerce"`},
		"tax last": {legacyCard + `,"order":{"taxIsAfterDiscount":true}`, `"taxIsAfterDiscount":true`},
		"tax first": {
			legacyCard + `,"order":{"invoiceNumber":"1","taxIsAfterDiscount":"0"}`,
			`"taxIsAfterDiscount":false`,
		},
		"invoice": {
			legacyCard + `,"order":{"invoiceNumber":"äääääääääääääääääää1"}`,
			`"invoiceNumber":"äääääääääääääääääää1"`,
		},
		"both addresses": {
			legacyCard + `,"customer":{"email":"a@b.c"},"billTo":{"email":"a@b.c"}`,
			`"customer":{"email":"a@b.c"},"billTo":{"email":"a@b.c"}`,
		},
		"customer address": {legacyCard + `,"customer":{"email":"a@b.c"}`, `"customer":{"email":"a@b.c"},"recurringBilling"`},
		"billing address":  {legacyCard + `,"billTo":{"email":"a@b.c"}`, `"cardType":"Visa"}},"billTo":{"email":"a@b.c"}`},
		"amounts": {
			legacyCard + `,"tax":{"amount":1,"name":"VAT","description":"20 %"},"duty":{"amount":2,"name":"customs"},` +
				`"shipping":{"amount":3,"description":"by sea"}`,
			`"tax":{"amount":1.00,"name":"VAT","description":"20 %"},"shipping":{"amount":3.00,"description":"by sea"},` +
				`"duty":{"amount":2.00,"name":"customs"}`,
		},
		"surcharge": {legacyCard + `,"surcharge":{"amount":0.5,"name":"fee"}`, `"surcharge":{"amount":0.50,"name":"fee"}`},
		"tip": {
			legacyCard + `,"tip":{"amount":1.5,"description":"thanks"}`,
			`"tip":{"amount":1.50,"description":"thanks"}`,
		},
	} {
		amount++ // so that none is a duplicate
		sale := mustTransact(t, p, p.Keys.SKTest,
			fmt.Sprintf(`"transactionType":"authCaptureTransaction","amount":%d,%s`, amount, tt.sent))
		if sale.outcome() != "1/1" {
			t.Errorf("%s: sale: got %s", name, sale.body)
			continue
		}
		if shown := mustDetails(t, p, sale.Response.ID); !strings.Contains(shown.body, tt.want) {
			t.Errorf("%s: got %s, want %s in it", name, shown.body, tt.want)
		}
	}
}
