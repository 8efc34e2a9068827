package executor

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// digestKey is the metadata entry by which an equal request finds a further payment of an order.
// Its value is an HMAC, which confirms no guess of a number without the deduplication secret.
const digestKey = "payment_digest"

// positionPrefix begins the key of each position.
const positionPrefix = "group-"

const (
	joinTries = 16 // further payments that other requests may make first
	joinWaits = 4  // times that the order is read again while one of its payments is uncertain
)

// joining makes a further payment of an order.
type joining struct {
	session

	command command.Authorize
	digests []string // a payment with one of them makes this one a duplicate; the first one is stored
	name    string   // the key of the Named command; "" for any other

	position string // the position among the order's payments, as a key
	nth      int    // the number of the position's key
	tries    int    // how many positions other requests got first
	moves    int    // how many keys under the name belong to other requests
}

// newJoining returns the joining of a command. A Named one and one without a window are never
// duplicates, but later payments can be duplicates of them. Their nonce makes them differ from all
// other requests to v1.
func (s session) newJoining(c command.Authorize) *joining {
	j := &joining{session: s.step(""), command: c}
	if len(c.Deduplication.Same) > 0 {
		for _, names := range s.AllNames() {
			j.digests = append(j.digests, names.Derive(c.Identity(), c.Deduplication.Same))
		}
		j.command.Body.Metadata = v1.WithEntry(c.Body.Metadata, digestKey, j.digests[0])
	}
	switch {
	case s.named():
		j.name, j.Nonce, j.digests = s.IdempotencyKey, s.IdempotencyKey, nil
	case c.Deduplication.Duration() == 0:
		j.Nonce, j.digests = s.x.cfg.NewKey(), nil
	}
	return j
}

// join makes a further payment of an order. Its Idempotency-Key is derived from its position among
// the order's payments. Of several concurrent payments one gets the position, and the others read
// the order again. That also shows which payment they repeat. A refusal that v1 stores uses its
// key, so the next payment at that position uses the next key.
func (s session) join(ctx context.Context, c command.Authorize) command.Result {
	j := s.newJoining(c)
	for waits := 0; j.tries < joinTries; {
		g, r := j.group(ctx, c.Joins)
		if g == nil {
			return r
		}
		if r, ended := j.paidBefore(ctx, g); ended {
			return r
		}
		now, failed := j.Now(ctx)
		if failed != nil {
			return *failed
		}
		r, again := j.duplicated(ctx, g, now.Add(-c.Deduplication.Duration()))
		if r.Outcome == command.Done {
			r, again = g.admits(c.Body.Currency)
		}
		if again && waits < joinWaits && v1client.Wait(ctx, s.x.cfg.FollowPause<<waits) {
			waits++
			continue
		}
		if r.Outcome != command.Done {
			if c.Body.Customer == nil {
				r.Transaction = nil // the response would present this as a duplicate, which is not certain here
			}
			return r
		}
		r, again = j.payNext(ctx, g)
		if again {
			continue
		}
		r.Group = g.payments
		if r.Transaction != nil {
			r.Group = append(r.Group, *r.Transaction)
		}
		return r
	}
	return command.Result{Outcome: command.Refused, Code: v1.CodeOperationInProgress}
}

// ofOther reports whether r is of another request. The body of a Named command has its nonce, so v1
// replays only its own response to it.
func (j *joining) ofOther(r command.Result) bool {
	return r.Code == v1.CodeKeyReused || r.Origin.Replayed && j.name == ""
}

// paidBefore returns the result of the payment that an earlier request under the name made. It
// reports false if there is none.
func (j *joining) paidBefore(ctx context.Context, g *group) (command.Result, bool) {
	for i := range g.payments {
		t := &g.payments[i]
		if j.name == "" || t.Metadata[deduplication.NonceKey] != j.name || t.Status == v1.TransactionStatusFailed {
			continue
		}
		r := *command.KeyReused()
		if matchesPayment(t, &j.command.Body) {
			r = j.follow(ctx, earlierAuthorization(t), earlierAuthorization)
		}
		r.Group = g.payments[:i+1]
		return r, true
	}
	return command.Result{}, false
}

// payNext makes the payment at the order's next position. It reports true if the position's key
// belongs to another request, so that the order must be read again.
func (j *joining) payNext(ctx context.Context, g *group) (command.Result, bool) {
	if next := g.position(len(g.payments)); next != j.position {
		j.position, j.nth = next, 0
	}
	present := numbered(j.position, j.nth)
	if failed := j.bindPosition(ctx, present); failed != nil {
		return *failed, false
	}
	r := j.charge(ctx, j.command)
	if !j.ofOther(r) {
		return r, false
	}
	u, failed := j.AwaitKey(ctx, j.IdempotencyKey)
	switch {
	case u.MayActLate(r), j.name != "" && u.Running:
		return command.KeyInUse(), false
	case failed != nil:
		return *failed, false
	case u.Found:
		j.moves++
	}
	if j.IdempotencyKey == present && (u.Refused || u.Purpose == deduplication.SkippedPurpose) {
		j.nth++
	} else {
		j.tries++
	}
	return command.Result{}, true
}

// bindPosition reserves the next key under the name for the key of the present position, which the
// session gets. If an earlier request under the name reserved it for another position, bindPosition
// retires that position's key first. Otherwise two concurrent payments could pay the same rest of
// the order. If the other position's key has a final use, the session gets that key: v1's response
// shows whether the earlier request used it.
func (j *joining) bindPosition(ctx context.Context, present string) *command.Result {
	for j.IdempotencyKey = present; j.name != ""; j.moves++ {
		j.IdempotencyKey = present
		held, failed := j.Reserve(ctx, numbered(j.name, j.moves), present)
		if failed != nil || held {
			return failed
		}
		u, failed := j.ReadKey(ctx, numbered(j.name, j.moves))
		switch {
		case failed != nil:
			return failed
		case !strings.HasPrefix(u.Purpose, positionPrefix):
			return command.KeyReused()
		}
		j.IdempotencyKey = u.Purpose
		if left, failed := j.leavePosition(ctx); failed != nil || !left {
			return failed
		}
	}
	return nil
}

// leavePosition reserves the session's key as skipped, so that no delayed attempt pays under it. It
// returns false if the key has a final use.
func (j *joining) leavePosition(ctx context.Context) (bool, *command.Result) {
	for range joinTries {
		u, failed := j.AwaitKey(ctx, j.IdempotencyKey)
		switch {
		case failed != nil:
			return false, failed
		case u.Running: // v1 may still free the key
			return false, new(command.KeyInUse())
		case u.Found:
			return u.Purpose == deduplication.SkippedPurpose, nil
		}
		if held, failed := j.Reserve(ctx, j.IdempotencyKey, deduplication.SkippedPurpose); failed != nil || held {
			return held, failed
		}
	}
	return false, new(command.KeyInUse())
}

// numbered returns the nth of the Idempotency-Keys that follow from one.
func numbered(key string, nth int) string {
	if nth == 0 {
		return key
	}
	return key + "-" + strconv.Itoa(nth)
}

// duplicated returns Done if no payment of the order makes this one a duplicate, else the result to
// give. It reports true if a payment is uncertain, so that the result may change. A payment with
// one of the digests that was made after recent makes this one a duplicate.
func (j *joining) duplicated(ctx context.Context, g *group, recent time.Time) (command.Result, bool) {
	for i := len(g.payments) - 1; len(j.digests) > 0 && i > 0; i-- {
		t := &g.payments[i]
		if !slices.Contains(j.digests, t.Metadata[digestKey]) || t.Status == v1.TransactionStatusFailed {
			continue
		}
		u := deduplication.Use{
			Found: true, Running: authorized(t).Outcome == command.Uncertain, Effect: true, Made: t.CreatedAt.Time,
		}
		if !u.Running && !u.Made.After(recent) {
			var failed *command.Result
			if u.Made, failed = j.madeAt(ctx, g, i); failed != nil {
				return *failed, false
			}
		}
		if r, ended := u.DuplicateResult(command.Result{Transaction: t}, recent); ended {
			return r, u.Running
		}
	}
	return command.Result{Outcome: command.Done}, false
}

// madeAt returns when the order's ith payment was made. It is the time of the key of its position:
// unlike the time of the payment, that does not go back with v1's clock. Without such a key it is
// the time of the payment.
func (j *joining) madeAt(ctx context.Context, g *group, i int) (time.Time, *command.Result) {
	t := &g.payments[i]
	for nth := range joinTries {
		u, failed := j.ReadKey(ctx, numbered(g.position(i), nth))
		switch {
		case failed != nil:
			return time.Time{}, failed
		case u.Resource == t.ID:
			return u.Made, nil
		case !u.Found:
			return t.CreatedAt.Time, nil
		}
	}
	return t.CreatedAt.Time, nil
}

// position returns the ith position among the order's payments, as a key.
func (g *group) position(i int) string {
	return positionPrefix + g.payments[0].ID + "-" + strconv.Itoa(i)
}

// admits returns Done if the order may have a further payment now, else the result to give. It
// reports true if a payment is uncertain, so that the result may change.
func (g *group) admits(currency string) (command.Result, bool) {
	unpaid, pending := g.unpaid()
	switch {
	case currency != g.payments[0].Currency:
		// Amounts of another currency cannot be compared with the unpaid one.
		return command.Result{Outcome: command.Unmet, Unmet: command.ConditionCurrency}, false
	case unpaid <= 0:
		return command.Result{Outcome: command.Unmet, Unmet: command.ConditionGroupEnded}, false
	case unpaid <= pending:
		return command.Result{Outcome: command.Refused, Code: v1.CodeOperationInProgress}, true
	}
	return command.Result{Outcome: command.Done}, false
}
