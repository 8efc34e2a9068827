package command

import (
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// ListTransactions lists payments and refunds by their creation. One of Unsettled, Day and Customer
// selects them.
type ListTransactions struct {
	Unsettled *Unsettled `json:"unsettled,omitempty"`
	// Day is the number of a settlement day.
	Day Number `json:"day,omitempty"`
	// Customer is the number of a customer. Refunds of its payments are listed, and no unlinked ones.
	Customer Number `json:"customer,omitempty"`
	// Method restricts Customer to one of its payment methods.
	Method Number `json:"method,omitempty"`

	OldestFirst bool `json:"oldest_first,omitzero"`
	// Skip and Limit select the rows of the page.
	Skip  int `json:"skip,omitzero"`
	Limit int `json:"limit"`
}

// Unsettled selects the payments and refunds that have not settled, and recent payments that ended
// without money: voided, declined and failed ones.
type Unsettled struct {
	// Since is the creation of the oldest payment that may be unsettled. V1 searches none before it.
	Since time.Time `json:"since"`
	// EndedSince is the creation of the oldest payment that ended without money.
	EndedSince time.Time `json:"ended_since"`
	// Undecided selects only payments with an unknown outcome.
	Undecided bool `json:"undecided,omitzero"`
}

// ListDays lists settlement days, oldest first.
type ListDays struct {
	After  time.Time `json:"after,omitzero"`  // the days ended after this moment
	Before time.Time `json:"before,omitzero"` // the days ended before this moment
}

// GetDay reads one settlement day.
type GetDay struct {
	Day Number `json:"day"`
}

// List is the result of ListTransactions.
type List struct {
	Rows []Row `json:"rows"`
	// Total is the number of all rows, if they are not many more than the page has. Otherwise it is
	// greater than the number of the page's last row.
	Total int `json:"total"`
}

// Row is a payment, or a refund and its payment.
type Row struct {
	Transaction *v1.Transaction `json:"transaction,omitempty"` // nil for an unlinked refund
	Refund      *v1.Refund      `json:"refund,omitempty"`      // nil for a payment
}

// CreatedAt returns when the payment or refund was made.
func (r Row) CreatedAt() time.Time {
	if r.Refund != nil {
		return r.Refund.CreatedAt.Time
	}
	return r.Transaction.CreatedAt.Time
}

// Shows reports whether the list has a row that v1 lists. Payments that were never confirmed are in
// no list.
func (c ListTransactions) Shows(r Row) bool {
	t := r.Transaction
	unconfirmed := t != nil &&
		(t.Status == v1.TransactionStatusRequiresConfirmation || t.Status == v1.TransactionStatusCanceled)
	switch {
	case r.Refund == nil && unconfirmed:
		return false
	case c.Method == "" || t == nil:
		return c.Method == ""
	}
	method, err := id.Decimal(id.PaymentMethod, string(c.Method))
	return err == nil && t.PaymentMethod == method
}

// Kind implements Command.
func (ListTransactions) Kind() Kind { return TransactionList }

// Kind implements Command.
func (ListDays) Kind() Kind { return SettlementDayList }

// Kind implements Command.
func (GetDay) Kind() Kind { return SettlementDayGet }
