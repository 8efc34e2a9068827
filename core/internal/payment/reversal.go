package payment

import "time"

// LateWindow is how long recovery looks for a step that the acquirer did not find, before the step
// counts as without effect.
const LateWindow = 24 * time.Hour

// The pauses of a Reversal.
const (
	// LongestPause is the longest time between two requests.
	LongestPause            = time.Hour
	firstLook, refusedPause = 5 * time.Second, time.Minute
)

// Reversal is a pending reversal: a step that is or will be closed without proof that it had no
// effect at the acquirer. Recovery requests that the acquirer drops it, and then looks for its
// effect until LateWindow has passed.
//
// An authorization that turns out to be approved is released. A capture, void or refund that turns
// out to be approved is recorded, and reversed only if its amount is no longer available.
type Reversal struct {
	ID        int64
	Step      StepID // the row of its transaction may have been removed
	Tenant    Tenant
	Amount    int64 // minor units that the step requested
	Currency  string
	Captured  bool      // the step takes money: a capture, or an authorization that captures immediately
	Held      int64     // minor units that the acquirer reported as approved; 0 while it has reported none
	Requested bool      // the acquirer may have received a request to release or drop the step
	Asked     int64     // release requests with a response, or certainly without effect
	Refused   int64     // refused release requests in a row, up to the last one
	Looks     int64     // inquiries without a result since the acquirer acknowledged the release
	Version   int64     // counts the changes
	Since     time.Time // when the acquirer acknowledged the release; before that, when the reversal was written
	DueAt     time.Time // when to work on it next; Never if it waits for an operator
	Claim     int64     // the idempotency key that stays taken until the reversal ends, 0 for none

	Account    int64  // the acquirer account of the step, 0 for the simulator
	Tag        string // of the step
	AcquirerID string // the acquirer's id of the step, "" if unknown
	Last4      string // the last digits of the payment source, "" if unknown
	Release    string // the reference of the last release request, "" for none
	ReleaseTag string // of that request
}

// Acknowledge records that the acquirer acknowledged the release of a request that it does not
// have. The looks begin.
func (r *Reversal) Acknowledge(at time.Time) {
	r.Asked, r.Refused, r.Held, r.Looks, r.Since, r.DueAt = r.Asked+1, 0, 0, 0, at, at.Add(firstLook)
}

// LookAgain counts a look that found nothing and sets the time of the next. Each pause is twice the
// previous one, up to an hour. It returns false if the pauses add up to LateWindow. The pauses are
// counted, not measured, so a jump of the clock shortens at most one pause.
func (r *Reversal) LookAgain(at time.Time) bool {
	r.Looks++
	waited := time.Duration(0)
	for n := range r.Looks {
		waited += lookPause(n)
	}
	r.DueAt = at.Add(min(lookPause(r.Looks), LateWindow-waited))
	return waited < LateWindow
}

// Never is the DueAt of a reversal that only an operator can end.
func Never() time.Time { return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC) }

func lookPause(n int64) time.Duration { return min(firstLook<<min(n, 20), LongestPause) }

// Refuse counts a refusal to release, and sets the time of the next request. There is no last one.
func (r *Reversal) Refuse(at time.Time) {
	r.DueAt = at.Add(min(refusedPause<<min(r.Refused, 10), LongestPause))
	r.Asked, r.Refused = r.Asked+1, r.Refused+1
}

// ByRefund reports whether the next release request is a refund. An acquirer does not void a
// capture that has settled, and reports that only by a refusal, so voids and refunds take turns.
func (r *Reversal) ByRefund() bool { return r.Captured && r.Held > 0 && r.Refused%2 == 1 }
