package payment

import "time"

// ExceptionKind is the reason why a capture of live mode is not settled long after its day.
type ExceptionKind string

// The kinds.
const (
	NoException       ExceptionKind = ""
	UnreportedCapture ExceptionKind = "unreported" // the acquirer has not reported it for days
	FailedSettlement  ExceptionKind = "failed"     // the acquirer reported that it does not settle
	// NotSettled: an operator has ended the exception. The capture stays unsettled.
	NotSettled ExceptionKind = "not_settled"
)

// SettlementException is a capture of live mode that waits for an operator: its acquirer reports no
// settlement, or a failed one.
type SettlementException struct {
	Capture     int64
	Transaction int64
	Tenant      Tenant
	Account     int64 // the acquirer account
	AcquirerID  string
	Amount      int64 // minor units
	Currency    string
	CapturedAt  time.Time
	Kind        ExceptionKind // UnreportedCapture or FailedSettlement
	Reason      string        // the acquirer's word, "" for none
	Since       time.Time
}

// ExceptionFilter selects settlement exceptions. The zero filter selects all.
type ExceptionFilter struct {
	Merchant int64 // 0 for all
	Capture  int64 // 0 for all
	After    int64 // the page begins after this capture; 0 is for the first page
}
