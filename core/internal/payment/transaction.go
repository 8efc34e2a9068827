package payment

import "time"

// Tenant is the owner of objects: a merchant in one mode. It cannot see objects of other tenants.
type Tenant struct {
	Merchant int64
	Live     bool
}

// Client is the sender of a request, as rows record it for later questions of operators.
type Client struct {
	APIKey  int64  // 0 for none
	Address string // "203.0.113.7", "2001:db8::1"; "" if unknown or erased
}

// ConfirmWithin is how long a payment may wait to be confirmed after its creation. Then it is
// canceled.
const ConfirmWithin = 24 * time.Hour

// Settlement is the state of captured money.
type Settlement string

// The settlement axis.
const (
	SettlementNone    Settlement = "none"
	SettlementPending Settlement = "pending"
	SettlementSettled Settlement = "settled"
)

// Operation is a step that was sent to the acquirer and has no outcome yet. It locks the
// transaction against steps that exclude it.
type Operation string

// The operations. Refunds run concurrently and are counted in RefundPending instead.
const (
	NoOperation      Operation = ""
	CaptureOperation Operation = "capture"
	VoidOperation    Operation = "void"
)

// Transaction is one payment. Amounts are in the minor unit of Currency, times are UTC with
// milliseconds.
//
// Refunded + RefundPending <= Captured, and Captured + CapturePending <= Authorized <= Amount,
// always.
type Transaction struct {
	ID          int64
	Tenant      Tenant
	Status      Status
	AutoCapture bool
	Partial     bool // the acquirer may approve less than Amount
	// RefusedConfirmations counts the confirmations by publishable keys that were refused because of
	// their payment source.
	RefusedConfirmations int64
	// DeclinedConfirmations counts the declined confirmations after which the payment waited again.
	DeclinedConfirmations int64
	// 0 if the create confirmed it; otherwise the number of the present, last or next confirmation,
	// from 1
	Attempt       int64
	Amount        int64
	AmountChanged bool   // after the creation: a confirmation must name the amount
	Currency      string // ISO 4217, lower case
	PaymentMethod string // as the merchant named it

	Authorized     int64
	Captured       int64
	CapturePending int64
	Settled        int64
	Refunded       int64
	RefundPending  int64

	Operation   Operation
	OperationID int64 // names the operation to the acquirer; 0 when there is none
	// CapturesBegun counts the captures of an authorization, except captures that never reached the
	// acquirer.
	CapturesBegun int64

	Details []byte // the merchant's own data and the masked card, as the contract shows it; opaque here
	Result  Result
	Version int64 // counts the announced transitions

	// Claim is the idempotency key the open request holds, 0 for none: recovery stores the late
	// response under it.
	Claim int64
	// Client requested the transaction, Confirmer its last confirmation, Voider its last void or
	// cancelation.
	Client, Confirmer, Voider Client
	// Account is the acquirer account of the authorization and of all later steps, 0 for the
	// simulator.
	Account int64
	// Tag is the acquirer's tag of the authorization. VoidTag is the tag of the void in progress, or
	// of the release of an unwanted partial approval.
	Tag, VoidTag string
	// Core is the process that works on the open request, 0 if there is only one process.
	Core int64
	// ReclaimedAt is when recovery claimed the open request; the zero time while only its first
	// attempt works on it.
	ReclaimedAt time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Result is the result of a request to the acquirer.
type Result struct {
	Reached              bool   // the acquirer sent a response
	AcquirerID           string // the acquirer's id of the authorization, "" for none
	DeclineCode          string
	FailureCode          string
	FailureMessage       string
	Code                 string // approval code
	NetworkTransactionID string
	NetworkLinkID        string // Mastercard's Transaction Link ID
	ResponseCode         string
	ExpiresAt            time.Time
	Balance              *int64 // the rest on the card, in minor units; nil if the acquirer sent none
	CheckCVC             string
	CheckAddressLine     string
	CheckPostalCode      string
	AVSCode              string // the networks' characters for the checks, "" for none
	CVCCode              string
	CAVVCode             string
}

// Declined returns the step of a decline. A declined confirmation returns the payment to
// RequiresConfirmation, except the last one of MaxDeclinedConfirmations. A decline of an unknown
// payment and of a create is final.
func (t *Transaction) Declined() Step {
	if t.Status == Processing && t.Attempt > 0 && t.DeclinedConfirmations < MaxDeclinedConfirmations-1 {
		return DeclineTry
	}
	return Decline
}

// Authorizer returns the client that requested the current authorization.
func (t *Transaction) Authorizer() Client {
	if t.Attempt > 0 {
		return t.Confirmer
	}
	return t.Client
}

// Capturable returns the amount that a capture may still take.
func (t *Transaction) Capturable() int64 {
	if t.Status != Authorized && t.Status != PartiallyCaptured {
		return 0
	}
	return t.Authorized - t.Captured - t.CapturePending
}

// Refundable returns the amount that a refund may still give back.
func (t *Transaction) Refundable() int64 {
	if t.Status != Captured && t.Status != PartiallyCaptured {
		return 0
	}
	return t.Captured - t.Refunded - t.RefundPending
}

// Settlement derives the axis from the amounts, so that the two cannot disagree.
func (t *Transaction) Settlement() Settlement {
	switch {
	case t.Captured == 0:
		return SettlementNone
	case t.Settled < t.Captured:
		return SettlementPending
	default:
		return SettlementSettled
	}
}

// StepState is the state of a capture or refund.
type StepState string

// The states of captures and refunds.
const (
	StepPending   StepState = "pending"
	StepSucceeded StepState = "succeeded"
	StepFailed    StepState = "failed"
	StepVoided    StepState = "voided" // captures only: the transaction was voided before it settled
)

// Capture takes part or all of an authorized amount.
type Capture struct {
	ID             int64
	Transaction    int64
	Tenant         Tenant
	State          StepState
	Amount         int64 // minor units
	Currency       string
	Final          bool // releases the uncaptured rest
	Settled        bool
	SettlementDay  int64 // in which it settled, 0 while it is unsettled
	Refunded       int64 // by refunds of this capture
	RefundPending  int64
	Details        []byte
	FailureCode    string
	FailureMessage string
	Claim          int64
	Account        int64     // as in Transaction
	Tag            string    // the acquirer's, "" for a sale
	AcquirerID     string    // the acquirer's id of it, "" for none
	Client         Client    // that requested it
	Core           int64     // as in Transaction
	ReclaimedAt    time.Time // as in Transaction
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Refundable returns the amount that a refund may still give back of this capture.
func (c *Capture) Refundable() int64 {
	if c.State != StepSucceeded {
		return 0
	}
	return c.Amount - c.Refunded - c.RefundPending
}

// Refund gives captured money back, or money without a payment before it.
type Refund struct {
	ID             int64
	Transaction    int64 // 0 for an unlinked refund
	Capture        int64 // the capture that it gives back, 0 for an unlinked refund
	Tenant         Tenant
	State          StepState
	Amount         int64 // minor units
	Currency       string
	SettlementDay  int64 // in which it settled, 0 while it is unsettled
	Details        []byte
	FailureCode    string
	FailureMessage string
	Claim          int64
	Account        int64     // as in Transaction
	Tag            string    // the acquirer's
	AcquirerID     string    // the acquirer's id of it, "" for none
	Client         Client    // that requested it
	Core           int64     // as in Transaction
	ReclaimedAt    time.Time // as in Transaction
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Settlement returns the state of the refund's money. A refund that may still succeed is pending.
func (r *Refund) Settlement() Settlement {
	switch {
	case r.SettlementDay != 0:
		return SettlementSettled
	case r.State == StepFailed:
		return SettlementNone
	default:
		return SettlementPending
	}
}

// SettlementDay is a merchant's day in which captures or refunds have settled. Its totals can still
// grow: a capture or refund whose outcome was late settles with the last day that has ended.
type SettlementDay struct {
	ID     int64 // the least id of the moment at which the day ended
	Tenant Tenant
	Totals []SettlementTotal
}

// SettlementTotal has the settled money of a day by currency and payment source.
type SettlementTotal struct {
	Currency string
	Source   string // the brand of the cards, or BankAccountSource
	Captures int64
	Captured int64 // minor units
	Refunds  int64
	Refunded int64 // minor units
}

// BankAccountSource is the source of a total of bank accounts.
const BankAccountSource = "bank_account"

// MaxRefusedConfirmations is the largest number of confirmations of one transaction by publishable
// keys that may be refused because of the token or payment method. After that only a secret key can
// confirm the transaction.
const MaxRefusedConfirmations = 10

// MaxDeclinedConfirmations is how many confirmations of one transaction can be declined. The last
// decline is final.
const MaxDeclinedConfirmations = 5

// MaxCaptures is how many captures of one transaction can reach the acquirer, declined ones
// included. Card networks number at most 99 captures of an authorization. Each statement that
// settles or voids a transaction changes all its captures, so this also bounds its commit.
const MaxCaptures = 250

// AuthorizationLifetime is how long an uncaptured authorization lasts if the acquirer set no end,
// for example if an operator records it as approved. Card networks release a hold after seven days.
const AuthorizationLifetime = 7 * 24 * time.Hour
