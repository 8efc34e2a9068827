package payment

// StepKind is a kind of request to the acquirer.
type StepKind string

// The kinds of steps.
const (
	AuthorizeStep StepKind = "authorize" // a payment, or the confirmation of one
	CaptureStep   StepKind = "capture"
	VoidStep      StepKind = "void"
	RefundStep    StepKind = "refund" // linked or unlinked
)

// StepID names one request to the acquirer.
type StepID struct {
	Kind        StepKind
	Transaction int64 // 0 for an unlinked refund
	ID          int64 // of the capture, void or refund; 0 for an authorization
	Attempt     int64 // Transaction.Attempt of an authorization; 0 for every other step
}
