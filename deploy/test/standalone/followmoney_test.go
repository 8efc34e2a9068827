package standalone_test

import (
	"net/http"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// moneyCase is a currency with an amount, half of it, and a minor unit more or less.
type moneyCase struct{ currency, whole, half, halfAndOne, more string }

var moneyCases = []moneyCase{
	{"USD", "20.00", "10.00", "10.01", "20.01"},
	{"JPY", "2000", "1000", "1001", "2001"},
	{"KWD", "2.000", "1.000", "1.001", "2.001"},
}

// stored returns a payment in v1 by its number.
func stored(t *testing.T, m *merchant, number string) v1.Transaction {
	t.Helper()
	return mustDecode[v1.Transaction](t, m.must(t, http.MethodGet, "/v1/transactions/"+txn(t, number), "", ""))
}

// TestNoMoreThanThereIs checks that no capture exceeds the authorized amount and no refund the
// captured one, to the last minor unit of each currency.
func TestNoMoreThanThereIs(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	for _, c := range moneyCases {
		held := d.must(t, restPayments, restPayment(c.whole, c.currency, false, ""), "AUTHORIZED")
		at := restPayments + "/" + held.ID
		d.must(t, at+"/captures", restAmount(c.more, ""), "EXCEEDS_AUTH_AMOUNT")
		first := d.must(t, at+"/captures", restAmount(c.half, ""), "PENDING")
		d.must(t, at+"/captures", restAmount(c.halfAndOne, ""), "EXCEEDS_AUTH_AMOUNT")
		second := d.must(t, at+"/captures", restAmount(c.half, ""), "PENDING")
		d.must(t, at+"/captures", restAmount(c.half, ""), "TRANSACTION_ALREADY_SETTLED")
		if first.ID == second.ID {
			t.Errorf("two captures share the id %s", first.ID)
		}
		d.must(t, restPayments+"/"+first.ID+"/refunds", restAmount(c.halfAndOne, ""), "INVALID_AMOUNT")
		d.must(t, "/pts/v2/captures/"+first.ID+"/refunds", restAmount(c.half, ""), "PENDING")
		d.must(t, restPayments+"/"+first.ID+"/refunds", restAmount(c.half, ""), "INVALID_AMOUNT")
		d.must(t, at+"/refunds", restAmount(c.halfAndOne, ""), "INVALID_AMOUNT")
		d.must(t, at+"/refunds", restAmount(c.half, ""), "PENDING")
		d.must(t, at+"/refunds", restAmount(c.half, ""), "INVALID_AMOUNT")
		if got := stored(t, m, held.ID); got.AmountCaptured != 2000 || got.AmountRefunded != 2000 {
			t.Errorf("%s: captured %d and refunded %d, want 2000 of each", c.currency, got.AmountCaptured, got.AmountRefunded)
		}
	}
}

// TestNoMoreThanThereIsAtOnce checks that concurrent captures and refunds use exactly the available
// amount.
func TestNoMoreThanThereIsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	for _, c := range moneyCases {
		held := d.must(t, restPayments, restPayment(c.whole, c.currency, false, ""), "AUTHORIZED")
		at := restPayments + "/" + held.ID
		if results := d.manyAtOnce(t, 6, at+"/captures", restAmount(c.half, "")); results["PENDING"] > 2 {
			t.Errorf("%s: captures: %v, want at most two done", c.currency, results)
		}
		for range 2 { // requests that met a concurrent one had no effect
			if stored(t, m, held.ID).AmountCapturable > 0 {
				d.must(t, at+"/captures", restAmount(c.half, ""), "PENDING")
			}
		}
		if results := d.manyAtOnce(t, 6, at+"/refunds", restAmount(c.half, "")); results["PENDING"] != 2 {
			t.Errorf("%s: refunds: %v, want two done", c.currency, results)
		}
		if got := stored(t, m, held.ID); got.AmountCaptured != 2000 || got.AmountRefunded != 2000 {
			t.Errorf("%s: captured %d and refunded %d, want 2000 of each", c.currency, got.AmountCaptured, got.AmountRefunded)
		}
	}
}

// TestOneNameOneEffect checks that concurrent requests with one name have one effect.
func TestOneNameOneEffect(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	held := d.must(t, restPayments, restPayment("20.00", "USD", false, "held"), "AUTHORIZED")
	at := restPayments + "/" + held.ID
	if results := d.manyAtOnce(t, 4, at+"/captures", restAmount("5.00", "taken")); results["PENDING"] != 4 {
		t.Errorf("captures: %v, want four times the same", results)
	}
	d.must(t, at+"/captures", restAmount("5.01", "taken"), "DUPLICATE_REQUEST")
	if results := d.manyAtOnce(t, 4, at+"/refunds", restAmount("2.00", "given")); results["PENDING"] != 4 {
		t.Errorf("refunds: %v, want four times the same", results)
	}
	if got := stored(t, m, held.ID); got.AmountCaptured != 500 || got.AmountRefunded != 200 {
		t.Errorf("captured %d and refunded %d, want 500 and 200", got.AmountCaptured, got.AmountRefunded)
	}
}

// TestNameIsFreeAfterARefusal checks that the name of a refused request is free for one corrected
// request. A void by name finds that one.
func TestNameIsFreeAfterARefusal(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	held := d.must(t, restPayments, restPayment("10.00", "USD", false, "held"), "AUTHORIZED")
	at := restPayments + "/" + held.ID
	d.must(t, at+"/captures", restAmount("11.00", "taken"), "EXCEEDS_AUTH_AMOUNT")
	d.must(t, at+"/captures", restAmount("12.00", "taken"), "EXCEEDS_AUTH_AMOUNT")
	if results := d.manyAtOnce(t, 4, at+"/captures", restAmount("5.00", "taken")); results["PENDING"] != 4 {
		t.Errorf("captures: %v, want four times the same", results)
	}
	d.must(t, at+"/captures", restAmount("5.01", "taken"), "DUPLICATE_REQUEST")
	d.must(t, at+"/captures", restAmount("11.00", "taken"), "DUPLICATE_REQUEST")
	d.must(t, at+"/refunds", restAmount("6.00", "given"), "INVALID_AMOUNT")
	d.must(t, at+"/refunds", restAmount("5.00", "given"), "PENDING")
	d.must(t, at+"/refunds", restAmount("5.00", "given"), "PENDING")
	if got := stored(t, m, held.ID); got.AmountCaptured != 500 || got.AmountRefunded != 500 {
		t.Errorf("captured %d and refunded %d, want 500 of each", got.AmountCaptured, got.AmountRefunded)
	}
	other := d.must(t, restPayments, restPayment("10.00", "USD", false, ""), "AUTHORIZED")
	d.must(t, restPayments+"/"+other.ID+"/captures", restAmount("11.00", "whole"), "EXCEEDS_AUTH_AMOUNT")
	d.must(t, restPayments+"/"+other.ID+"/captures", restAmount("10.00", "whole"), "PENDING")
	d.must(t, "/pts/v2/voids", `{"clientReferenceInformation":{"transactionId":"whole"}}`, "VOIDED")
}

// TestWhatIsUndone checks that a void or reversal undoes exactly the named object. A void of one
// capture leaves the other, and a reversal leaves captures.
func TestWhatIsUndone(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	hold := func() string {
		return restPayments + "/" + d.must(t, restPayments, restPayment("20.00", "USD", false, ""), "AUTHORIZED").ID
	}
	free := hold()
	d.must(t, free+"/voids", `{}`, "VOIDED")
	d.must(t, free+"/captures", restAmount("20.00", ""), "AUTH_ALREADY_REVERSED")

	at := hold()
	d.must(t, at+"/reversals", `{}`, "MISSING_FIELD")
	d.must(t, at+"/reversals", restReversal("19.99", ""), "INVALID_AMOUNT")
	d.must(t, at+"/reversals", restReversal("20.00", ""), "REVERSED")
	d.must(t, at+"/reversals", restReversal("20.00", ""), "AUTH_ALREADY_REVERSED")
	d.must(t, at+"/captures", restAmount("20.00", ""), "AUTH_ALREADY_REVERSED")
	d.must(t, at+"/refunds", restAmount("20.00", ""), "INVALID_DATA")

	two := hold()
	one := d.must(t, two+"/captures", restAmount("5.00", ""), "PENDING")
	d.must(t, "/pts/v2/captures/"+one.ID+"/voids", `{}`, "NOT_VOIDABLE")
	d.must(t, two+"/reversals", restReversal("20.00", ""), "TRANSACTION_ALREADY_REVERSED_OR_SETTLED")
	d.must(t, two+"/captures", restAmount("15.00", ""), "PENDING")
	d.must(t, two+"/reversals", restReversal("20.00", ""), "TRANSACTION_ALREADY_REVERSED_OR_SETTLED")
	d.must(t, "/pts/v2/captures/"+one.ID+"/voids", `{}`, "NOT_VOIDABLE")
	if got := stored(t, m, two[len(restPayments)+1:]); got.AmountCaptured != 2000 {
		t.Errorf("captured %d, want 2000 after all that was refused", got.AmountCaptured)
	}

	full := hold()
	only := d.must(t, full+"/captures", restAmount("20.00", ""), "PENDING")
	d.must(t, full+"/reversals", restReversal("20.00", ""), "TRANSACTION_ALREADY_REVERSED_OR_SETTLED")
	d.must(t, "/pts/v2/captures/"+only.ID+"/voids", `{}`, "VOIDED")
	d.must(t, "/pts/v2/captures/"+only.ID+"/voids", `{}`, "CAPTURE_ALREADY_VOIDED")
	d.must(t, full+"/refunds", restAmount("1.00", ""), "CAPTURE_ALREADY_VOIDED")

	for _, undo := range []struct{ path, body, want string }{
		{"/reversals", restReversal("20.00", ""), "REVERSED"}, {"/voids", `{}`, "VOIDED"},
	} {
		oneStep := restPayment("20.00", "USD", true, "")
		for _, payment := range []string{oneStep, withAddress(oneStep)} {
			sale := restPayments + "/" + d.must(t, restPayments, payment, "AUTHORIZED").ID
			d.must(t, sale+undo.path, undo.body, undo.want)
			if got := stored(t, m, sale[len(restPayments)+1:]); got.Status != v1.TransactionStatusVoided {
				t.Errorf("sale%s: %s, want voided", undo.path, got.Status)
			}
		}
	}
}
