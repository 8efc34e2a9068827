package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// otherAccount is the id of a second account.
const otherAccount = coretest.LiveAccount + 1

// storedTags selects the accounts and tags of all steps.
const storedTags = `SELECT account || ' ' || tag FROM transactions UNION ALL SELECT account || ' ' || void_tag FROM transactions
	UNION ALL SELECT account || ' ' || tag FROM captures UNION ALL SELECT account || ' ' || tag FROM refunds`

// lastTag returns the tag of the last request to an acquirer with a verb.
func lastTag(a *coretest.Acquirer, v coretest.Verb) string {
	if v == coretest.Authorize {
		all := a.Payments()
		return all[len(all)-1].Tag
	}
	all := a.Follows()
	return all[len(all)-1].Tag
}

// TestTagIsStoredBeforeTheRequest: the account and the tag are in the store when the acquirer gets
// a request, also the release of an unwanted part.
func TestTagIsStoredBeforeTheRequest(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn, requests := st.MustPrepare(t, s), 0
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				requests++
				stored := s.Texts(t, storedTags) //nolint:contextcheck // the test's
				if want := fmt.Sprint(coretest.LiveAccount, " ", lastTag(s.Acquirer, c.Verb)); !slices.Contains(stored, want) {
					t.Errorf("%s: the store has %q before the request, want %q", c.Reference, stored, want)
				}
				return nil
			}
			if st.authorizes() {
				approving(s, 40)
			}
			if a, err := st.take(t.Context(), s, s.Request(""), txn); err != nil || !st.authorizes() && a.Status != st.success {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			want := 1
			if st.authorizes() {
				want = 2 // and the release
			}
			if requests != want {
				t.Errorf("got %d requests, want %d", requests, want)
			}
		})
	}
}

// TestModesNeverMix: no step of a merchant in one mode reaches the acquirer of the other mode. The
// rows of a step can be of the other mode only after a mistake: then it is not sent anywhere.
func TestModesNeverMix(t *testing.T) {
	t.Parallel()
	for mode, open := range modes() {
		for _, st := range steps() {
			t.Run(mode+" "+st.name, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				wrong := int64(0)
				if mode == "test" {
					wrong = otherAccount
					s.AddAccount(t, otherAccount).Before = func(_ context.Context, c coretest.Call) error {
						t.Errorf("the account got %+v", c)
						return acquirer.ErrUnavailable
					}
				}
				st.mustLoseOutcome(t, s, true)
				if s.Recover(t) != 0 {
					t.Fatal("the step stays open")
				}
				st.wantDone(t, s)
				s.MustExec(t, "UPDATE transactions SET account = ?", wrong)
				txn := MustTransaction(t, s).ID
				calls := len(s.Acquirer.Follows())
				for _, next := range followUpSteps() {
					if a, err := next.take(t.Context(), s, s.Request(""), txn); err == nil && a.Kind != engine.Refused {
						t.Errorf("%s: got %d %s", next.name, a.Status, a.Body)
					}
				}
				s.MustExec(t, "UPDATE transactions SET status = 'unknown', operation = ''")
				if got := s.Recover(t); got != 1 {
					t.Errorf("%d steps are open, want the payment", got)
				}
				if got := len(s.Acquirer.Follows()); got != calls {
					t.Errorf("%d requests were sent", got-calls)
				}
			})
		}
	}
}

// TestReversalsKeepTheirMode: a pending reversal, a look and an operator's resolution go to the
// acquirer of the mode and the account of the step.
func TestReversalsKeepTheirMode(t *testing.T) {
	t.Parallel()
	for mode, open := range modes() {
		for _, end := range []engine.Decision{engine.DecisionDeclined, engine.DecisionNoEffect} {
			for _, st := range steps() {
				t.Run(fmt.Sprint(mode, " ", end, " ", st.name), func(t *testing.T) {
					t.Parallel()
					s := open(t)
					st.mustLoseOutcome(t, s, true)
					s.AddAccount(t, otherAccount).Before = func(_ context.Context, c coretest.Call) error {
						t.Errorf("the other account got %+v", c)
						return acquirer.ErrUnavailable
					}
					s.Accounts.Enable(otherAccount)
					s.Clock.Advance(engine.Patience)
					mustResolve(t, s, payment.StepKind(st.verb), end)
					lookUntilTheEnd(t, s)
					if st.authorizes() {
						if got := s.Acquirer.HeldInAll(); got != 0 {
							t.Errorf("held: got %d, want nothing", got)
						}
						return
					}
					st.wantDone(t, s) // the look has found it
				})
			}
		}
	}
}

// TestFollowUpsGoToTheStoredAccount: the account of a payment was disabled, and new payments go to
// another one. All steps on the payment go to its account.
func TestFollowUpsGoToTheStoredAccount(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn := st.MustPrepare(t, s)
			s.AddAccount(t, otherAccount)
			s.Accounts.Enable(otherAccount)
			lose(s, st.verb, false, nil)
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			heal(s)
			if open := s.Recover(t); open != 0 {
				t.Fatalf("%d stay open", open)
			}
			st.wantDone(t, s)
			if a, err := s.Pay(t.Context(), s.Request(""), 70, true); err != nil || a.Status != 201 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			if got := s.Number(t, "SELECT account FROM transactions WHERE amount = 70"); got != otherAccount {
				t.Errorf("the next payment went to %d, want %d", got, int64(otherAccount))
			}
		})
	}
}

// TestConfirmationChoosesItsAccount: a waiting payment has no account. Each confirmation chooses
// one, also after a declined one.
func TestConfirmationChoosesItsAccount(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	other := s.AddAccount(t, otherAccount)
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	got := MustTransaction(t, s)
	if got.Account != 0 {
		t.Errorf("waiting: got account %d", got.Account)
	}
	s.Acquirer.Decide = func(coretest.Call) string { return "do_not_honor" }
	if a, err := s.Confirm(t.Context(), s.Request(""), got.ID); err != nil || a.Status != 402 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if got := MustTransaction(t, s); got.Account != 0 || got.Tag != "" {
		t.Errorf("waiting again: got account %d, tag %s", got.Account, got.Tag)
	}
	s.Accounts.Enable(otherAccount)
	if a, err := s.Confirm(t.Context(), s.Request(""), got.ID); err != nil || a.Status != 200 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if got := MustTransaction(t, s); got.Account != otherAccount || other.Moved(coretest.Authorize) != 100 {
		t.Errorf("got account %d, moved %d", got.Account, other.Moved(coretest.Authorize))
	}
}

// TestWaitingPaymentIsCanceledWithoutAnAccount: a payment that was not confirmed needs no acquirer.
func TestWaitingPaymentIsCanceledWithoutAnAccount(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	s.Accounts.Enable()
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); !errors.Is(err, engine.ErrNoAcquirer) {
		t.Errorf("another: got %d %s, %v, want %v", a.Status, a.Body, err, engine.ErrNoAcquirer)
	}
	txn := MustTransaction(t, s).ID
	if a, err := s.Engine.Capture(t.Context(), s.Request(""), txn, 1, false, nil); err != nil || a.Kind != engine.Refused {
		t.Errorf("capture: got %d %s, %v, want a refusal", a.Status, a.Body, err)
	}
	if a, err := s.Engine.Void(t.Context(), s.Request(""), txn, nil); err != nil || a.Status != 200 {
		t.Errorf("cancel: got %d %s, %v", a.Status, a.Body, err)
	}
}

// TestUnsentRequests: the merchant has no account any more, or its account can send nothing. A
// repeated request gets its stored response. Other requests are refused, and leave no rows.
func TestUnsentRequests(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for _, want := range []error{engine.ErrNoAcquirer, engine.ErrAcquirerUnavailable} {
			t.Run(st.name+" "+want.Error(), func(t *testing.T) {
				t.Parallel()
				s := coretest.OpenLive(t)
				txn := st.MustPrepare(t, s)
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != st.success {
					t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
				}
				if txn == 0 {
					txn = MustTransaction(t, s).ID
				}
				if want == engine.ErrNoAcquirer { //nolint:errorlint // a case of this test
					s.Engine.Live = &coretest.Accounts{}
				} else {
					s.Acquirer.Unprepared = errors.New("not signed on")
				}
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || !a.Replayed {
					t.Errorf("again: got %d %s, %v, want the stored response", a.Status, a.Body, err)
				}
				if a, err := st.take(t.Context(), s, s.Request("l"), txn); !errors.Is(err, want) {
					t.Errorf("another: got %d %s, %v, want %v", a.Status, a.Body, err, want)
				}
				if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 1 {
					t.Errorf("%d keys are taken, want one", got)
				}
				st.wantDone(t, s)
			})
		}
	}
}

// mustPayByCard makes a payment whose details show a card, and returns its id.
func mustPayByCard(t *testing.T, s *coretest.Service, amount int64, capture bool) int64 {
	t.Helper()
	a, err := s.Engine.Authorize(t.Context(), s.Request(""), engine.Payment{
		Amount: amount, Currency: "usd", AutoCapture: capture, PaymentMethod: "card", Details: []byte(`{"card":{"brand":"visa","last4":"4242"}}`),
	})
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	return a.Object.(*payment.Transaction).ID
}

// mustCaptureOf captures an amount of a payment.
func mustCaptureOf(t *testing.T, s *coretest.Service, txn, amount int64) *payment.Capture {
	t.Helper()
	a, err := s.Engine.Capture(t.Context(), s.Request(""), txn, amount, false, nil)
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	return a.Object.(*payment.Capture)
}

// mustRefundOf refunds an amount of a payment, 0 for its rest, without naming a capture.
func mustRefundOf(t *testing.T, s *coretest.Service, txn, amount int64) *payment.Refund {
	t.Helper()
	a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, amount, []byte("{}"))
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	return a.Object.(*payment.Refund)
}

// followed is the part of a follow-up that names its payment.
type followed struct {
	kind     acquirer.Kind
	original int64
	amount   int64
	captures []*payment.Capture
}

// want checks a follow-up.
func (f followed) want(t *testing.T, s *coretest.Service, got acquirer.Follow) {
	t.Helper()
	stored, err := s.DB.Transaction(t.Context(), s.Tenant, f.original)
	if err != nil {
		t.Fatal(err)
	}
	reference := engine.StepName(payment.StepID{Kind: payment.AuthorizeStep, Transaction: f.original})
	sent := acquirer.Sent{
		Kind: f.kind, Reference: reference, Tag: stored.Tag, ID: "id_of_" + reference, Amount: f.amount, Currency: "usd",
	}
	if got.Original != sent || got.Last4 != "4242" || got.Again || got.Tag == "" {
		t.Errorf("got %+v, want the original %+v", got, sent)
	}
	var captures []acquirer.Sent
	for _, c := range f.captures {
		name := engine.StepName(payment.StepID{Kind: payment.CaptureStep, ID: c.ID})
		captures = append(captures, acquirer.Sent{
			Kind: acquirer.Capture, Reference: name, Tag: c.Tag, ID: "id_of_" + name, Amount: c.Amount, Currency: "usd",
		})
	}
	if !slices.Equal(got.Captures, captures) {
		t.Errorf("%s: got the captures %+v, want %+v", got.Reference, got.Captures, captures)
	}
}

// TestFollowUpsNameTheirPayment: the acquirer gets the original with its id, the captures that a
// void or refund concerns, and the last digits of the card.
func TestFollowUpsNameTheirPayment(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	authorized, sale := mustPayByCard(t, s, 100, false), mustPayByCard(t, s, 90, true)
	first, second := mustCaptureOf(t, s, authorized, 30), mustCaptureOf(t, s, authorized, 20)
	for _, of := range [][3]int64{{authorized, second.ID, 5}, {authorized, 0, 16}, {sale, 0, 5}} {
		if a, err := s.Engine.Refund(t.Context(), s.Request(""), of[0], of[1], of[2], []byte("{}")); err != nil || a.Status != 201 {
			t.Fatalf("refund: got %d %s, %v", a.Status, a.Body, err)
		}
	}
	voided := mustPayByCard(t, s, 80, false)
	third := mustCaptureOf(t, s, voided, 30)
	if a, err := s.Engine.Void(t.Context(), s.Request(""), voided, nil); err != nil || a.Status != 200 {
		t.Fatalf("void: got %d %s, %v", a.Status, a.Body, err)
	}
	for i, f := range []followed{
		{acquirer.Authorization, authorized, 100, nil},
		{acquirer.Authorization, authorized, 100, []*payment.Capture{first}},
		{acquirer.Authorization, authorized, 100, []*payment.Capture{second}},
		{acquirer.Authorization, authorized, 100, []*payment.Capture{first}},
		{acquirer.Sale, sale, 90, nil},
		{acquirer.Authorization, voided, 80, nil},
		{acquirer.Authorization, voided, 80, []*payment.Capture{third}},
	} {
		f.want(t, s, s.Acquirer.Follows()[i])
	}
}

// TestAgainOfARepeatedStep: only recovery sets Again, because an earlier attempt may have arrived.
func TestAgainOfARepeatedStep(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			st.mustLoseOutcome(t, s, true)
			s.Recover(t)
			got := s.Acquirer.Follows()
			if len(got) != 2 || got[0].Again || !got[1].Again || got[0].Tag != got[1].Tag {
				t.Errorf("got %+v, want a first request and a repeated one", got)
			}
			st.wantDone(t, s)
		})
	}
}

// TestProvedWithoutEffect: the acquirer proves that a lost step had no effect. It has failed, its
// amount and its key are free, and a look goes on. The same request is then a first one.
func TestProvedWithoutEffect(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		for _, key := range []string{"", "k"} {
			t.Run(st.name+" "+key, func(t *testing.T) {
				t.Parallel()
				s := coretest.OpenLive(t)
				s.Acquirer.Proves = true
				txn := st.MustPrepare(t, s)
				lose(s, st.verb, false, nil)
				if a, err := st.take(t.Context(), s, s.Request(key), txn); err != nil || a.Status != 504 {
					t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
				}
				heal(s)
				if open := s.Recover(t); open != 0 {
					t.Fatalf("%d stay open", open)
				}
				st.wantUndone(t, s)
				failed := `SELECT failure_code FROM captures WHERE state = 'failed' UNION ALL SELECT failure_code FROM refunds WHERE state = 'failed'`
				if got := s.Texts(t, failed); st.verb != coretest.Void && fmt.Sprint(got) != "[not_processed]" {
					t.Errorf("got %v, want one failed step", got)
				}
				if got := s.Number(t, "SELECT COUNT(*) FROM reversals WHERE asked = 1"); got != 1 {
					t.Errorf("got %d looks, want one", got)
				}
				st.wantResponse(t, s, st.success, false)
				st.wantDone(t, s)
				lookUntilTheEnd(t, s)
				st.wantDone(t, s)
			})
		}
	}
}

// TestFirstAttemptAfterTheProof: the first attempt at a step still runs when recovery gets the
// proof that it had no effect. Its approval is recorded.
func TestFirstAttemptAfterTheProof(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			s.Acquirer.Proves = true
			alerts := observed(s)
			txn := st.MustPrepare(t, s)
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				if c.Verb == st.verb {
					s.Acquirer.Before = nil
					s.Recover(t)        //nolint:contextcheck // it is the test's
					st.wantUndone(t, s) //nolint:contextcheck // it is the test's
				}
				return nil
			}
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			st.wantUndone(t, s) // an inquiry decides
			lookUntilTheEnd(t, s)
			st.wantDone(t, s)
			alerts.want(t, st.metric()+" late_recorded")
		})
	}
}

// TestNotFoundWithoutARepetition: a first request is never proved without effect.
func TestNotFoundWithoutARepetition(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn := st.MustPrepare(t, s)
			s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrNotFound }
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			heal(s)
			if got := s.Open(t); got != 1 {
				t.Errorf("%d steps are open, want one", got)
			}
			s.Recover(t)
			st.wantDone(t, s)
		})
	}
}

// TestReleaseIsSentOnceMoreAfterTheProof: the release of an unwanted part is lost. The acquirer
// proves that it had no effect, and recovery sends it as a first request.
func TestReleaseIsSentOnceMoreAfterTheProof(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	s.Acquirer.Proves = true
	approving(s, 40)
	lose(s, coretest.Void, false, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	s.Acquirer.Before = nil
	if open := s.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	wantPartReversed(t, s, 40)
	got := s.Acquirer.Follows()
	if len(got) != 3 || got[0].Again || !got[1].Again || got[2].Again || got[2].Original.ID == "" {
		t.Errorf("got %+v, want a first request, a repeated one and a first one", got)
	}
}

// TestReleaseAfterARefusal: each release request of a pending reversal has another reference and
// another tag, and names the step that it releases.
func TestReleaseAfterARefusal(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	sent := s.Acquirer.Payments()[0]
	s.Recover(t)
	s.Acquirer.Arrive(sent)
	s.Acquirer.Decide = func(c coretest.Call) string { return map[coretest.Verb]string{coretest.Void: "do_not_honor"}[c.Verb] }
	look(t, s)
	s.Acquirer.Decide = nil
	lookUntilTheEnd(t, s)
	got := s.Acquirer.Follows()
	if len(got) != 3 || s.Acquirer.HeldInAll() != 0 {
		t.Fatalf("got %+v, held %d", got, s.Acquirer.HeldInAll())
	}
	tags := map[string]bool{}
	for i, r := range got {
		tags[r.Tag] = true
		drop := i == 0
		if o := r.Original; r.Again || r.Drop != drop || o.Kind != acquirer.Sale || o.Tag != sent.Tag || (o.ID == "") != drop {
			t.Errorf("got %+v", r)
		}
	}
	if len(tags) != 3 {
		t.Errorf("got the tags %v, want three", tags)
	}
}

// TestVoidAfterAnOperatorsApproval: the void of a payment that an operator has approved is no drop
// request, although the acquirer's id of the payment is unknown.
func TestVoidAfterAnOperatorsApproval(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	lose(s, coretest.Authorize, true, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	s.Clock.Advance(engine.Patience)
	mustResolve(t, s, payment.AuthorizeStep, engine.DecisionApproved)
	s.Acquirer.Decide = func(coretest.Call) string { return "processing_error" }
	a, err := s.Engine.Void(t.Context(), s.Request(""), MustTransaction(t, s).ID, nil)
	if err != nil || a.Kind != engine.Refused {
		t.Errorf("got %d %s, %v, want a refusal", a.Status, a.Body, err)
	}
	got := s.Acquirer.Follows()
	if len(got) != 1 || got[0].Drop || got[0].Original.ID != "" {
		t.Errorf("got %+v, want one void without Drop and id", got)
	}
	if txn := MustTransaction(t, s); txn.Status != payment.Captured || txn.Captured != 100 {
		t.Errorf("got %s of %d, want captured", txn.Status, txn.Captured)
	}
}

// TestApprovalWithAnAcquirersID: the refund of a payment and capture that an operator has approved
// names both by the ids that the operator gave.
func TestApprovalWithAnAcquirersID(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	lose(s, coretest.Authorize, true, nil)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 504 {
		t.Fatalf("pay: got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	s.Clock.Advance(engine.Patience)
	paid := mustResolveWithID(t, s, payment.AuthorizeStep)
	lose(s, coretest.Capture, true, nil)
	txn := MustTransaction(t, s).ID
	if a, err := s.Engine.Capture(t.Context(), s.Request(""), txn, 100, true, nil); err != nil || a.Status != 504 {
		t.Fatalf("capture: got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	s.Clock.Advance(engine.Patience)
	captured := mustResolveWithID(t, s, payment.CaptureStep)
	lose(s, coretest.Refund, true, nil)
	if a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, 40, []byte("{}")); err != nil || a.Status != 504 {
		t.Fatalf("refund: got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	sent := s.Acquirer.Follows()
	if last := sent[len(sent)-1]; last.Original.ID != paid || len(last.Captures) != 1 || last.Captures[0].ID != captured {
		t.Errorf("got a refund of %+v and %+v, want of %s and %s", last.Original, last.Captures, paid, captured)
	}
	s.Clock.Advance(engine.Patience)
	refunded := mustResolveWithID(t, s, payment.RefundStep)
	if got := s.Texts(t, "SELECT acquirer_id FROM refunds"); len(got) != 1 || got[0] != refunded {
		t.Errorf("got refunds %q, want %s", got, refunded)
	}
}

// TestReleaseSurvivesACrash: the process dies while a release request is on its way. The next one
// repeats it with the same reference and tag, and with Again.
func TestReleaseSurvivesACrash(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	var dir string
	lose(s, coretest.Void, false, func() { dir = s.Snapshot(t) })
	s.Recover(t)
	first := s.Acquirer.Follows()
	next := s.Revive(t, dir)
	next.Recover(t)
	got := next.Acquirer.Follows()
	if len(first) != 1 || len(got) != 1 || first[0].Again || !got[0].Again || got[0].Tag != first[0].Tag || got[0].Reference != first[0].Reference {
		t.Errorf("got %+v after %+v, want the same request again", got, first)
	}
}

// TestUnlinkedRefundKeepsItsAccount: recovery and the look of an unlinked refund go to its account.
func TestUnlinkedRefundKeepsItsAccount(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			if err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
				on := true
				return tx.UpdateMerchant(s.Tenant.Merchant, payment.MerchantChange{Cutoff: -1, UnlinkedRefunds: &on})
			}); err != nil {
				t.Fatal(err)
			}
			lose(s, coretest.Credit, after, nil)
			if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			heal(s)
			s.Acquirer.Proves = true
			s.AddAccount(t, otherAccount)
			s.Accounts.Enable(otherAccount)
			s.Recover(t)
			lookUntilTheEnd(t, s)
			if after {
				wantGiven(t, s, "succeeded", 100)
			} else {
				wantGiven(t, s, "failed", 0)
			}
		})
	}
}

// TestPartLateInLiveMode: the payment was closed before the acquirer approved a part of it. The tag
// of an immediate release could not be stored, so the pending reversal releases the part.
func TestPartLateInLiveMode(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	alerts := observed(s)
	approving(s, 40)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			s.Acquirer.Before = nil
			s.Recover(t) //nolint:contextcheck // it is the test's
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	alerts.want(t, "authorize late_reversed")
	if got := s.Texts(t, "SELECT acquirer_id FROM reversals"); len(got) != 1 || got[0] != "id_of_"+s.Acquirer.Payments()[0].Reference {
		t.Errorf("reversals: got the ids %v, want the id of the payment", got)
	}
	lookUntilTheEnd(t, s)
	if got := s.Acquirer.HeldInAll(); got != 0 {
		t.Errorf("held: got %d, want nothing", got)
	}
	if voids := s.Acquirer.Calls(coretest.Void); len(voids) != 2 || voids[1].Amount != 40 {
		t.Errorf("got %+v, want the reversal and another of 40", voids)
	}
	wantSettledBooks(t, s)
}

// TestReleaseHasTheLastDigits: a payment was removed because the acquirer did not have it. Its late
// approval is settled, so a refund must release it: that needs the last digits of the card.
func TestReleaseHasTheLastDigits(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	var dir string
	s.Acquirer.Before = func(context.Context, coretest.Call) error {
		dir = s.Snapshot(t) //nolint:contextcheck // the test's
		return acquirer.ErrUnknown
	}
	if a, err := s.Engine.Authorize(t.Context(), s.Request("k"), engine.Payment{
		Amount: 100, Currency: "usd", AutoCapture: true, PaymentMethod: "card", Details: []byte(`{"card":{"last4":"4242"}}`),
	}); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	sent := s.Acquirer.Payments()[0]
	next := s.Revive(t, dir)
	next.Recover(t)
	if got := next.Number(t, "SELECT COUNT(*) FROM transactions"); got != 0 {
		t.Fatalf("%d payments stay", got)
	}
	next.Acquirer.Arrive(sent)
	next.Acquirer.Decide = func(c coretest.Call) string { return map[coretest.Verb]string{coretest.Void: "settled"}[c.Verb] }
	lookUntilTheEnd(t, next)
	got := next.Acquirer.Follows()
	last := got[len(got)-1]
	if last.Last4 != "4242" || last.Original.Kind != acquirer.Sale || last.Original.ID == "" || len(next.Acquirer.Calls(coretest.Refund)) != 1 {
		t.Errorf("got %+v, want a refund with the last digits", got)
	}
	if held := next.Acquirer.HeldInAll(); held != 0 {
		t.Errorf("held: got %d", held)
	}
}
