package payment

import "time"

// ReversalStep is the kind of a pending reversal in a StepAttempt. Its StepID has the ID of the
// Reversal and nothing else.
const ReversalStep StepKind = "reversal"

// StepKinds lists the kinds of unfinished steps.
func StepKinds() []StepKind {
	return []StepKind{AuthorizeStep, VoidStep, CaptureStep, RefundStep, ReversalStep}
}

// unlinkedRefund is the kind of an unlinked refund for operators. Elsewhere it is a RefundStep.
const unlinkedRefund = "credit"

// ListedKinds lists the kinds by which operators select unfinished steps.
func ListedKinds() []StepKind { return append(StepKinds(), unlinkedRefund) }

// The pauses after a failed attempt at an unfinished step. A pending reversal holds a payer's
// money, so its pauses end sooner.
const (
	firstRetry          = time.Second
	longestRetry        = 15 * time.Minute
	longestReleaseRetry = time.Minute
)

// Object returns the id of the step's row, and a number that distinguishes two steps of that row.
// For an authorization it is its attempt, for a void its own id, otherwise 0.
func (s StepID) Object() (id, number int64) {
	switch s.Kind {
	case AuthorizeStep:
		return s.Transaction, s.Attempt
	case VoidStep:
		return s.Transaction, s.ID
	case CaptureStep, RefundStep, ReversalStep:
	}
	return s.ID, 0
}

// StepAttempt is the last attempt of recovery at an unfinished step. It is written before the
// acquirer is called, and removed when the step ends. A step that recovery has not tried has none.
type StepAttempt struct {
	Step      StepID
	Attempts  int64     // how many recovery has begun
	Running   bool      // the last one has no result yet, or its process ended
	BegunAt   time.Time // when the last one began
	NextAt    time.Time // the next one begins at this time or later
	LastError string    // of the last failed attempt, "" for none; at most 300 bytes
}

// RetryAfter returns the pause after a number of attempts at a step. Each pause is twice the
// previous one, up to a maximum. There is no last attempt.
func RetryAfter(kind StepKind, attempts int64) time.Duration {
	longest := longestRetry
	if kind == ReversalStep {
		longest = longestReleaseRetry
	}
	return min(firstRetry<<min(max(attempts-1, 0), 20), longest)
}

// NoEffect is the proof that an attempt at a payment has no effect, so that another account may get
// the payment.
type NoEffect string

// The proofs. An attempt with an unknown outcome has none.
const (
	NotTaken  NoEffect = "unavailable" // no byte was sent, or the acquirer refused the account
	Retryable NoEffect = "declined"    // by a code that is retryable
	Reversed  NoEffect = "reversed"    // approved in part, and the acquirer has acknowledged its release
)
