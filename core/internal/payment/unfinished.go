package payment

import "time"

// Unfinished is a step whose outcome is not known, or a pending reversal, as an operator sees it.
type Unfinished struct {
	StepAttempt // the zero Attempts if recovery has not tried it

	Tenant      Tenant
	Transaction int64 // 0 for an unlinked refund
	Account     int64 // the acquirer account, 0 for the simulator
	Amount      int64 // minor units
	Held        int64 // of a reversal: the amount that the acquirer reported as approved
	Currency    string
	Refused     int64     // of a reversal: release requests in a row that the acquirer refused
	Since       time.Time // when the step was changed last, or the reversal written
	DueAt       time.Time // of a reversal; the zero time otherwise
	Client      Client    // that requested the step; the zero Client of a reversal
	Reverses    StepID    // of a reversal; the zero StepID otherwise
}

// Kind returns the kind of the step for operators.
func (u *Unfinished) Kind() StepKind {
	if u.Step.Kind == RefundStep && u.Transaction == 0 {
		return unlinkedRefund
	}
	return u.Step.Kind
}

// WaitsForOperator reports whether recovery makes no more attempts, so that only an operator can
// end the step.
func (u *Unfinished) WaitsForOperator() bool { return u.DueAt.Equal(Never()) }

// UnfinishedFilter selects steps. The zero filter selects all.
type UnfinishedFilter struct {
	Kind     StepKind   // by Unfinished.Kind, with ID by Step.Kind; "" for all
	Merchant int64      // 0 for all
	ID       int64      // of the transaction, capture, refund or reversal, by Kind; 0 for all
	Number   int64      // with ID: of a void its own id, of an authorization its attempt from 1; else 0
	After    Unfinished // the page begins after this one; the zero Unfinished is for the first page
}
