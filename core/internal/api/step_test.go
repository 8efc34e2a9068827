package api_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// conflict returns the refusal of a step that the state of the transaction does not allow.
func conflict(code string) refusal {
	return refusal{409, v1.ErrorTypeInvalidRequestError, code, ""}
}

// tooMuch returns the refusal of a step that exceeds the rest.
func tooMuch(code string) refusal {
	return refusal{400, v1.ErrorTypeInvalidRequestError, code, "amount"}
}

func TestCapturePartByPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	first := MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":30,"reference":"box 1","metadata":{"k":"v"}}`), 201)
	if first.Amount != 30 || first.Final || first.Status != v1.CaptureStatusSucceeded || first.Transaction != txn || first.Settlement != "pending" {
		t.Errorf("first capture: got %+v", first)
	}
	if read := MustDecode[v1.Capture](t, b.get(t, "/v1/captures/"+first.ID), 200); *read.Reference != "box 1" || read.Metadata["k"] != "v" {
		t.Errorf("read back: got %+v", read)
	}
	b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{100, 30, 0, 70, 30})
	wantRefusal(t, b.capture(t, txn, `{"amount":71}`), tooMuch("amount_exceeds_capturable"))
	b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{100, 30, 0, 70, 30})
	MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":70}`), 201)
	got := b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 0, 0, 100})
	if got, want := got.Version, int64(3); got != want {
		t.Errorf("version: got %d, want %d", got, want)
	}
	e := wantRefusal(t, b.capture(t, txn, ""), conflict("transaction_not_capturable"))
	if e.Transaction == nil || e.Transaction.ID != txn {
		t.Errorf("the refusal does not show the transaction: %+v", e)
	}
	list := MustDecode[v1.CaptureList](t, b.get(t, "/v1/transactions/"+txn+"/captures"), 200)
	if len(list.Data) != 2 || list.Data[0].Amount != 70 || list.Data[1].ID != first.ID || list.HasMore {
		t.Errorf("list: got %+v", list)
	}
}

func TestCaptureDefaults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, body := range []string{"", "{}", `{"final":false}`, ` { } `} {
		txn := b.MustCreate(t, 100, manual).ID
		MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":1}`), 201)
		if got := MustDecode[v1.Capture](t, b.capture(t, txn, body), 201); got.Amount != 99 {
			t.Errorf("%q: got %d, want the remainder of 99", body, got.Amount)
		}
		b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 0, 0, 100})
	}
}

func TestFinalCaptureReleasesTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	if got := MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":40,"final":true}`), 201); !got.Final {
		t.Errorf("got %+v, want a final capture", got)
	}
	b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 40, 0, 0, 40})
	wantRefusal(t, b.capture(t, txn, `{"amount":1}`), conflict("transaction_not_capturable"))
	wantRefusal(t, b.refund(t, txn, `,"amount":41`), tooMuch("amount_exceeds_refundable"))
}

func TestCaptureOfOneMoreThanAuthorized(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	wantRefusal(t, b.capture(t, txn, `{"amount":101}`), tooMuch("amount_exceeds_capturable"))
	b.wantTransaction(t, txn, v1.TransactionStatusAuthorized, amounts{100, 0, 0, 100, 0})
	MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":100}`), 201)
	b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 0, 0, 100})
}

// steps takes small steps on a transaction, by their verbs.
func (b *bundle) steps(t *testing.T, txn, verbs string) {
	t.Helper()
	for _, verb := range strings.Fields(verbs) {
		switch verb {
		case "capture":
			MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":30}`), 201)
		case "settle":
			b.settle(t, txn)
		case "void":
			MustDecode[v1.Transaction](t, b.void(t, txn), 200)
		case "refund":
			MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":1`), 201)
		default:
			t.Fatalf("no step %q", verb)
		}
	}
}

func TestVoid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		name, fields string
		before       string // verbs
		code         string // "" when it succeeds
	}{
		{"an authorization", manual, "", ""},
		{"a capture that has not settled", "", "", ""},
		{"after a partial capture", manual, "capture", ""},
		{"what has settled", "", "settle", "transaction_not_voidable"},
		{"what has settled in part", manual, "capture settle capture", "transaction_not_voidable"},
		{"twice", manual, "void", "transaction_not_voidable"},
		{"what was refunded in part", "", "refund", "transaction_not_voidable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			txn := b.MustCreate(t, 100, c.fields).ID
			b.steps(t, txn, c.before)
			before := b.transaction(t, txn)
			a := b.void(t, txn)
			if c.code != "" {
				wantRefusal(t, a, conflict(c.code))
				b.wantTransaction(t, txn, before.Status, amountsOf(before))
				return
			}
			got := MustDecode[v1.Transaction](t, a, 200)
			if got.Version != before.Version+1 || got.Settlement != v1.SettlementNone {
				t.Errorf("got version %d after %d, settlement %s", got.Version, before.Version, got.Settlement)
			}
			b.wantTransaction(t, txn, v1.TransactionStatusVoided, amounts{100, 0, 0, 0, 0})
			for _, c := range MustDecode[v1.CaptureList](t, b.get(t, "/v1/transactions/"+txn+"/captures"), 200).Data {
				if c.Status != v1.CaptureStatusVoided {
					t.Errorf("capture of a voided transaction: got %s", c.Status)
				}
			}
			wantRefusal(t, b.capture(t, txn, ""), conflict("transaction_not_capturable"))
			wantRefusal(t, b.refund(t, txn, ""), conflict("transaction_not_refundable"))
		})
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	settle := func(txn string) response { return b.post(t, "/v1/test_helpers/transactions/"+txn+"/settle", "") }
	txn := b.MustCreate(t, 100, manual).ID
	wantRefusal(t, settle(txn), conflict("transaction_not_settleable"))
	MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":40}`), 201)
	b.settle(t, txn)
	wantRefusal(t, settle(txn), conflict("transaction_not_settleable"))
	MustDecode[v1.Capture](t, b.capture(t, txn, ""), 201)
	if got := b.transaction(t, txn); got.Settlement != v1.SettlementPending || got.Version != 4 {
		t.Errorf("after more was captured: got %s, version %d", got.Settlement, got.Version)
	}
	b.settle(t, txn)
	for _, c := range MustDecode[v1.CaptureList](t, b.get(t, "/v1/transactions/"+txn+"/captures"), 200).Data {
		if c.Settlement != v1.SettlementSettled {
			t.Errorf("capture: got %s, want settled", c.Settlement)
		}
	}
}

func TestRefundPartByPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, settled := range []bool{false, true} {
		txn := b.MustCreate(t, 100, "").ID
		if settled {
			b.settle(t, txn)
		}
		first := MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":30,"reason":"late","reference":"r1","metadata":{"k":"v"}`), 201)
		read := MustDecode[v1.Refund](t, b.get(t, "/v1/refunds/"+first.ID), 200)
		for _, r := range []v1.Refund{first, read} {
			if r.Amount != 30 || r.Status != "succeeded" || *r.Reason != "late" || *r.Reference != "r1" || r.Metadata["k"] != "v" || r.Transaction != txn {
				t.Errorf("refund: got %+v", r)
			}
		}
		b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 30, 0, 70})
		wantRefusal(t, b.refund(t, txn, `,"amount":71`), tooMuch("amount_exceeds_refundable"))
		MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":69`), 201)
		if got := MustDecode[v1.Refund](t, b.refund(t, txn, ""), 201); got.Amount != 1 {
			t.Errorf("default amount: got %d, want the remainder of 1", got.Amount)
		}
		b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 100, 0, 0})
		wantRefusal(t, b.refund(t, txn, ""), conflict("transaction_not_refundable"))
		list := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds?transaction="+txn), 200)
		if len(list.Data) != 3 || list.Data[2].ID != first.ID {
			t.Errorf("list: got %+v", list.Data)
		}
	}
}

func TestRefundExactRemainder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":60`), 201)
	MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":40`), 201)
	b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 100, 0, 0})
}

func TestNothingToRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	declined := wantRefusal(t, b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"pm_card_declined"}`),
		refusal{402, v1.ErrorTypeCardError, "card_declined", ""}).Transaction.ID
	voided := b.MustCreate(t, 100, "").ID
	MustDecode[v1.Transaction](t, b.void(t, voided), 200)
	for _, txn := range []string{declined, voided, b.MustCreate(t, 100, manual).ID} {
		wantRefusal(t, b.refund(t, txn, ""), conflict("transaction_not_refundable"))
		wantRefusal(t, b.refund(t, txn, `,"amount":1`), conflict("transaction_not_refundable"))
	}
	wantRefusal(t, b.void(t, declined), conflict("transaction_not_voidable"))
	wantRefusal(t, b.capture(t, declined, ""), conflict("transaction_not_capturable"))
}

func TestStepsTheAcquirerDeclines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		amount int64
		fields string
		step   func(txn string) response
	}{
		{141414, manual, func(txn string) response { return b.capture(t, txn, "") }},
		{131313, "", func(txn string) response { return b.refund(t, txn, "") }},
		{151515, manual, func(txn string) response { return b.void(t, txn) }},
	} {
		before := b.MustCreate(t, c.amount, c.fields)
		e := wantRefusal(t, c.step(before.ID), refusal{402, v1.ErrorTypeCardError, "acquirer_declined", ""})
		if e.Transaction == nil || e.Transaction.Status != before.Status {
			t.Errorf("%d: the refusal shows %+v", c.amount, e.Transaction)
		}
		after := b.wantTransaction(t, before.ID, before.Status, amountsOf(before))
		if got, want := after.Version, before.Version; got != want {
			t.Errorf("%d: version: got %d, want %d", c.amount, got, want)
		}
	}
}

func TestEveryTransitionIsOneEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	for _, amount := range []int{10, 20} {
		MustDecode[v1.Capture](t, b.capture(t, txn, fmt.Sprintf(`{"amount":%d}`, amount)), 201)
	}
	b.settle(t, txn)
	for _, amount := range []string{`,"amount":20`, ""} { // one of each capture
		MustDecode[v1.Refund](t, b.refund(t, txn, amount), 201)
	}
	b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{100, 30, 30, 70, 0})
	for kind, want := range map[string]int64{
		"transaction.authorized": 1, "transaction.partially_captured": 2, "transaction.settled": 1, "capture.created": 2,
		"refund.created": 2, "refund.succeeded": 2,
	} {
		if got := b.number(t, "SELECT COUNT(*) FROM events WHERE type = ?", kind); got != want {
			t.Errorf("%s: got %d, want %d", kind, got, want)
		}
	}
	if got, want := b.number(t, "SELECT COUNT(*) FROM events WHERE type <> 'api_key.created'"), int64(10); got != want {
		t.Errorf("events: got %d, want %d", got, want)
	}
}
