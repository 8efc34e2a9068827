package payment

import "time"

// LateWindow is how long an acquirer that was told to let go of a closed payment is asked whether it came to approve it after all.
const LateWindow = 24 * time.Hour

// The pauses of a Reversal.
const (
	firstLook                         = 5 * time.Second
	refusedPause, longestRefusedPause = time.Minute, time.Hour
)

// Reversal is an authorization that nobody wants any more: the payment was closed because the acquirer did not know of it. The acquirer has
// to be told, and then asked again for LateWindow, because it may come to act on the request late.
type Reversal struct {
	ID          int64
	Transaction int64 // may not exist any more
	Attempt     int64 // of the transaction
	Tenant      Tenant
	Amount      int64 // minor units that the payment asked for
	Currency    string
	Captured    bool      // the money was to be taken at once
	Held        int64     // minor units that the acquirer said it approved, 0 while it said nothing
	Asked       int64     // requests to let go that the acquirer answered
	Refused     int64     // how many of the last of them it refused
	Version     int64     // counts the changes
	Since       time.Time // LateWindow counts from here: when the acquirer was told, before that when the payment was closed
	DueAt       time.Time // when to work on it next
}

// Unwanted returns the reversal of a payment that is closed at a time. It is due at once.
func (t *Transaction) Unwanted(at time.Time) *Reversal {
	return &Reversal{
		Transaction: t.ID, Attempt: t.Attempt, Tenant: t.Tenant, Amount: t.Amount, Currency: t.Currency, Captured: t.AutoCapture, Since: at, DueAt: at,
	}
}

// Told is what an acquirer that knows of no authorization makes of the reversal by agreeing to let go of it: it is looked for from now on.
func (r *Reversal) Told(at time.Time) {
	r.Asked, r.Refused, r.Held, r.Since, r.DueAt = r.Asked+1, 0, 0, at, at.Add(firstLook)
}

// LookAgain sets when to look for the authorization next, after it was not found at a time: when twice as much time has passed, and a last
// time at the end of LateWindow. It is false when this was that.
func (r *Reversal) LookAgain(at time.Time) bool {
	end := r.Since.Add(LateWindow)
	if !at.Before(end) {
		return false
	}
	r.DueAt = at.Add(max(at.Sub(r.Since), firstLook))
	if r.DueAt.After(end) {
		r.DueAt = end
	}
	return true
}

// Refuse counts a refusal to let go, and sets when to try again. There is no last time.
func (r *Reversal) Refuse(at time.Time) {
	r.DueAt = at.Add(min(refusedPause<<min(r.Refused, 10), longestRefusedPause))
	r.Asked, r.Refused = r.Asked+1, r.Refused+1
}

// ByRefund reports whether the next request to let go is a refund: what the acquirer has taken and settled it does not void any more, and only
// its refusals tell. The two take turns.
func (r *Reversal) ByRefund() bool { return r.Captured && r.Held > 0 && r.Refused%2 == 1 }
