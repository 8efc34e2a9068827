package command

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// digestKey is the metadata entry by which an equal request finds a further payment of an order.
// Its value is an HMAC, which confirms no guess of a number without the deduplication secret.
const digestKey = "payment_digest"

const (
	joinTries = 16 // further payments that other requests may make first
	joinWaits = 4  // times that the order is read again while one of its payments is uncertain
)

// join makes a further payment of an order. Its Idempotency-Key is derived from its position among
// the order's payments. Of several concurrent payments one gets the position, and the others read
// the order again. That also shows which payment they repeat. A refusal that v1 stores uses its
// key, so the next payment at that position uses the next key.
func (s session) join(ctx context.Context, c Authorize) Result {
	var digests []string // the first one is stored
	if len(c.Deduplication.Same) > 0 {
		for _, names := range s.allNames() {
			digests = append(digests, names.derive(c.identity(), c.Deduplication.Same))
		}
	}
	if len(digests) > 0 {
		c.Body.Metadata = joined(c.Body.Metadata, digests[0])
	}
	window := c.Deduplication.window()
	if window == 0 {
		s.nonce, digests = s.x.cfg.NewKey(), nil // as in runWithoutWindow
	}
	position, nth := "", 0
	for tries, waits := 0, 0; ; {
		g, r := s.group(ctx, c.Joins)
		if g == nil {
			return r
		}
		now, failed := s.now(ctx)
		if failed != nil {
			return *failed
		}
		r, again := g.admits(c.Body.Currency, digests, now.Add(-window))
		if again && waits < joinWaits && wait(ctx, s.x.cfg.FollowPause<<waits) {
			waits++
			continue
		}
		if r.Outcome != Done {
			if c.Body.Customer == nil {
				r.Transaction = nil // the response would present this as a duplicate, which is not certain here
			}
			return r
		}
		if next := "group-" + g.payments[0].ID + "-" + strconv.Itoa(len(g.payments)); next != position {
			position, nth = next, 0
		}
		s.idempotencyKey = numbered(position, nth)
		r = s.charge(ctx, c)
		switch u, failed := s.earlierUse(ctx, r); {
		case r.mayActLate(u):
			return keyInUse()
		case failed != nil:
			return *failed
		case u.refused:
			nth++
			continue
		}
		if tries++; r.ofOtherRequest() && tries < joinTries {
			continue
		}
		if r.ofOtherRequest() {
			return Result{Outcome: Refused, Code: CodeOperationInProgress}
		}
		r.Group = g.payments
		if r.Transaction != nil {
			r.Group = append(r.Group, *r.Transaction)
		}
		return r
	}
}

// earlierUse returns the use of the session's key by an earlier request, if r shows that there was
// one, else the zero use.
func (s session) earlierUse(ctx context.Context, r Result) (use, *Result) {
	if !r.ofOtherRequest() {
		return use{}, nil
	}
	return s.awaitKey(ctx, s.idempotencyKey)
}

// numbered returns the nth of the Idempotency-Keys that follow from one.
func numbered(key string, nth int) string {
	if nth == 0 {
		return key
	}
	return key + "-" + strconv.Itoa(nth)
}

// admits returns Done if the order may have a further payment now, else the result to give. It
// reports true if a payment is uncertain, so that the result may change. A payment with one of the
// digests that was made after recent makes the further payment a duplicate.
func (g *group) admits(currency string, digests []string, recent time.Time) (Result, bool) {
	for i := len(g.payments) - 1; len(digests) > 0 && i > 0; i-- {
		t := &g.payments[i]
		if !slices.Contains(digests, t.Metadata[digestKey]) || t.Status == v1.TransactionStatusFailed {
			continue
		}
		u := use{found: true, running: authorized(t).Outcome == Uncertain, effect: true, made: t.CreatedAt.Time}
		if r, ended := u.duplicateResult(Result{Transaction: t}, recent); ended {
			return r, u.running
		}
	}
	unpaid, pending := g.unpaid()
	switch {
	case currency != g.payments[0].Currency:
		// Amounts of another currency cannot be compared with the unpaid one.
		return Result{Outcome: Unmet, Unmet: ConditionCurrency}, false
	case unpaid <= 0:
		return Result{Outcome: Unmet, Unmet: ConditionGroupEnded}, false
	case unpaid <= pending:
		return Result{Outcome: Refused, Code: CodeOperationInProgress}, true
	}
	return Result{Outcome: Done}, false
}

// joined returns a copy of m with the digest.
func joined(m *v1.Metadata, digest string) *v1.Metadata {
	out := v1.Metadata{}
	if m != nil {
		maps.Copy(out, *m)
	}
	out[digestKey] = digest
	return &out
}
