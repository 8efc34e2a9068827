package standalone_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLegacyRefundGoesToWhatPaid checks that a linked refund goes to the card or account of the
// payment, or is refused, with the real core.
func TestLegacyRefundGoesToWhatPaid(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	m := merchantOf(t, p)
	const (
		bank = `"payment":{"bankAccount":{"routingNumber":"244183602","accountNumber":"000123456789",` +
			`"nameOnAccount":"Ana Ruiz"}}`
		masked = `"payment":{"bankAccount":{"routingNumber":"XXXX3602","accountNumber":"XXXX6789","nameOnAccount":"Ana ` +
			`Ruiz"}}`
		ends = `"payment":{"creditCard":{"cardNumber":"6789","expirationDate":"XXXX"}}`
		test = `,"transactionSettings":{"setting":{"settingName":"testRequest","settingValue":"1"}}`
	)
	sale := func(payment string) string {
		t.Helper()
		a := mustTransact(t, p, p.Keys.SKTest,
			`"transactionType":"authCaptureTransaction","amount":20,`+payment+`,"profile":{"createProfile":false}`)
		if a.outcome() != "1/1" {
			t.Fatalf("sale: got %s", a.body)
		}
		return a.Response.ID
	}
	byBank, byCard := sale(bank), sale(legacyCard)
	refund := func(what, number, payment, more, want string) {
		t.Helper()
		a := mustTransact(t, p, p.Keys.SKTest,
			`"transactionType":"refundTransaction","amount":2,`+payment+`,"refTransId":"`+number+`"`+more)
		if got := a.outcome(); got != want {
			t.Errorf("%s: got %s, want %s: %s", what, got, want, a.body)
		}
	}
	refund("before it settled", byBank, masked, "", "3/16")
	refund("before it settled, as a test", byBank, bank, test, "3/16")
	refund("before it settled, to a card", byBank, ends, "", "3/54")
	settle(t, m, txn(t, byBank))
	settle(t, m, txn(t, byCard))
	refund("to a card that ends so", byBank, ends, "", "3/54")
	refund("to another bank", byBank, strings.Replace(masked, "3602", "3603", 1), "", "3/54")
	refund("to another bank, in full", byBank, strings.Replace(bank, "244183602", "021000021", 1), "", "3/54")
	refund("to another account", byBank, strings.Replace(masked, "6789", "6780", 1), "", "3/54")
	refund("of a card, to an account that ends so", byCard, strings.Replace(masked, "6789", "1111", 1), "", "3/54")
	refund("to the account", byBank, masked, "", "1/1")
	refund("to the account in full, which is the same", byBank, bank, "", "3/11")
	refund("to the card", byCard, `"payment":{"creditCard":{"cardNumber":"XXXX1111","expirationDate":"XXXX"}}`, "", "1/1")
	for _, made := range m.transactions(t) {
		if made.AmountRefunded != 200 {
			t.Errorf("%s: refunded = %d, want 200", made.ID, made.AmountRefunded)
		}
	}
}

// TestLegacyRefundToAShortAccount refunds to an account number that is too short for four visible
// digits. Its own digits work, and so do the ones in the sale's response.
func TestLegacyRefundToAShortAccount(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	m := merchantOf(t, p)
	for number, shown := range map[string]string{
		"9834": "XXXXXX34", "98345": "XXXXXX45", "983456": "XXXXX456", "9834567": "XXXXX567", "98345678": "XXXX5678",
	} {
		account := func(number string) string {
			return `"payment":{"bankAccount":{"routingNumber":"121042882","accountNumber":"` + number +
				`","nameOnAccount":"Ana Ruiz"}}`
		}
		sale := mustTransact(t, p, p.Keys.SKTest, `"transactionType":"authCaptureTransaction","amount":20,`+account(number))
		if sale.outcome() != "1/1" || !strings.Contains(sale.body, `"accountNumber":"`+shown+`"`) {
			t.Fatalf("%s: sale: got %s, want it shown as %s", number, sale.body, shown)
		}
		settle(t, m, txn(t, sale.Response.ID))
		for i, given := range []string{number, number[len(number)-4:], "XXXX" + number[len(number)-4:], shown} {
			refund := mustTransact(t, p, p.Keys.SKTest,
				fmt.Sprintf(`"transactionType":"refundTransaction","amount":%d,%s,"refTransId":%q`,
					i+1, account(given), sale.Response.ID))
			if refund.outcome() != "1/1" {
				t.Errorf("%s as %s: got %s", number, given, refund.body)
			}
		}
		other := mustTransact(t, p, p.Keys.SKTest,
			`"transactionType":"refundTransaction","amount":9,`+account(number[1:]+"0")+
				`,"refTransId":"`+sale.Response.ID+`"`)
		if other.outcome() != "3/54" {
			t.Errorf("%s to another account: got %s", number, other.body)
		}
	}
}
