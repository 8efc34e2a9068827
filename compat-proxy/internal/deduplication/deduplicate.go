package deduplication

import (
	"context"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	// period is the length of the periods of v1's time, counted from the Unix epoch, that have
	// separate chains. Keys expire after a day, so a chain must end before its first key does.
	period = command.MaxWindow
	// periodMargin bounds the difference between the times that proxies compute for requests that
	// reach v1 at one moment. It is well above TotalTimeout and the skew among the servers of v1.
	periodMargin = 5 * time.Minute
	// serversSkew bounds the difference between the clocks of two servers of v1 while both are ready.
	serversSkew = 10 * time.Second
	// closedPurpose is the purpose of the reservation that ends a chain.
	closedPurpose = "closed"
	// SkippedPurpose is the purpose of the reservation of a key that a request left unused while later
	// keys may be in use. A free key would end the chain before them.
	SkippedPurpose = "skipped"
)

func periodOf(t time.Time) int64 { return t.UnixNano() / int64(period) }

// chain is the sequence of Idempotency-Keys that equal requests of one period use in turn. A
// request takes the next key if no request under the earlier ones is recent. A reservation closes
// the chain: from then on, requests take keys of the next period's.
type chain struct {
	identity string
	period   int64
}

func (c chain) key(n int) string {
	return "once-" + c.identity + "-" + strconv.FormatInt(c.period, 36) + "-" + strconv.Itoa(n)
}

func (c chain) next() chain { return chain{c.identity, c.period + 1} }

// Job is the part of a request that an equal one must not repeat.
type Job struct {
	// Identity are the fields that make requests equal besides Deduplication.Same: only fields that
	// the client sent.
	Identity []string
	// Reads reports that Do depends on objects at v1 that can change between a request and its retry.
	Reads bool
	// Do runs the job under the Idempotency-Key and the nonce of the request.
	Do func(Request) command.Result
}

// windowed is a request with a deduplication window.
type windowed struct {
	Request
	Job

	same   [][]string // the parts that make requests equal
	recent time.Time  // an equal request made after it makes this one a duplicate
	oldest time.Time  // a payment or refund made before it belongs to an earlier request
}

// Deduplicate runs the job under keys that equal requests share. It stops at a key that no earlier
// request used, or at an equal request within the window. Only v1's records and v1's clock decide,
// so the result is the same at every proxy, with any clock.
//
// Where a period begins, requests of both periods run at the same time. Requests of the later
// period close the chain of the earlier one before they take a key. So all requests take keys of
// one sequence, and of two requests within the window, one finds the other.
func (s Request) Deduplicate(ctx context.Context, o command.Deduplication, j Job) command.Result {
	now, failed := s.Now(ctx)
	if failed != nil {
		return *failed
	}
	window := o.Duration()
	if window == 0 {
		return s.runWithoutWindow(ctx, chain{s.names.Derive(j.Identity, o.Same), periodOf(now)}, j.Do)
	}
	w := windowed{
		Request: s, Job: j, same: [][]string{j.Identity, o.Same},
		recent: now.Add(-window), oldest: now.Add(-min(window, serversSkew)),
	}
	home, closes := periodOf(now), periodOf(now.Add(-periodMargin))
	for n := periodOf(w.recent.Add(-periodMargin)); n < home; n++ {
		if r, ended := w.searchPeriod(ctx, n, n >= closes); ended {
			return r
		}
	}
	if later := periodOf(now.Add(periodMargin)); later > home { // a request without a window may be there
		if r, ended := w.searchPeriod(ctx, later, false); ended {
			return r
		}
	}
	for {
		r, closed := w.runInPeriod(ctx, home)
		if !closed {
			return r
		}
		home++
	}
}

// searchPeriod looks for a recent equal request in a period, and closes the period's chain if
// closes is set.
func (w windowed) searchPeriod(ctx context.Context, n int64, closes bool) (command.Result, bool) {
	names := w.AllNames()
	if closes {
		own, others, failed := w.inPeriod(ctx, n)
		if failed != nil {
			return *failed, true
		}
		if r, ended := w.close(ctx, &chainEnd{chain: own, n: -1}); ended {
			return r, true
		}
		names = others
	}
	for _, each := range names {
		end := &chainEnd{chain: chain{each.Derive(w.same...), n}, n: -1}
		if r, ended := w.advance(ctx, end); ended {
			return r, true
		}
	}
	return command.Result{}, false
}

// inPeriod returns the chain of a period from which requests take keys. It also returns the names
// of the other secret, none if there is only one.
func (w windowed) inPeriod(ctx context.Context, n int64) (chain, []Names, *command.Result) {
	under := func(of Names) chain { return chain{of.Derive(w.same...), n} }
	names, others, failed := w.agreeNames(ctx, func(of Names) string { return under(of).key(0) })
	if failed != nil || others == nil {
		return under(names), nil, failed
	}
	return under(names), []Names{*others}, nil
}

// runInPeriod runs the request under the first unused key of a period's chain. It returns true if
// the chain is closed. Work that reads objects begins only after the chain's end is found. So an
// earlier equal request is found first, even if v1 would refuse this one because an object has
// changed.
func (w windowed) runInPeriod(ctx context.Context, n int64) (command.Result, bool) {
	own, others, failed := w.inPeriod(ctx, n)
	if failed != nil {
		return *failed, false
	}
	for _, each := range others {
		end := &chainEnd{chain: chain{each.Derive(w.same...), n}, n: -1}
		if r, ended := w.advance(ctx, end); ended {
			return r, false
		}
	}
	end := &chainEnd{chain: own}
	if w.Reads {
		end.n = -1
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, !ended
		}
		end.n++
	}
	for {
		w.IdempotencyKey = end.key(end.n)
		r := w.markReplayed(ctx, w.Do(w.Request))
		if !ofOtherRequest(r) {
			if released(r) {
				w.skipFreed(ctx, end.chain, end.n)
			}
			return r, false
		}
		seen, failed := w.useBehind(ctx, r)
		switch {
		case seen.MayActLate(r):
			return command.KeyInUse(), false
		case failed != nil || seen.closes():
			return resultOf(failed), failed == nil
		}
		if r, ended := seen.DuplicateResult(r, w.recent); ended {
			return r, false
		}
		if !seen.Found { // freed since then: under a later key, a walk would not find the request
			continue
		}
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, !ended
		}
		end.n++
	}
}

// useBehind returns the use of the request's key that r is the response to. An old effect has the
// time of its key: unlike the time of a payment, it does not go back with v1's clock.
func (w windowed) useBehind(ctx context.Context, r command.Result) (Use, *command.Result) {
	replayed := useOf(r)
	if r.Origin.Replayed && (!replayed.Effect || replayed.Made.After(w.recent)) {
		return replayed, nil
	}
	seen, failed := w.AwaitKey(ctx, w.IdempotencyKey)
	switch {
	case failed != nil:
		return Use{}, failed
	case r.Origin.Replayed && seen.Denied != nil && !r.Origin.Made.IsZero():
		return replayed, nil
	}
	return w.identify(ctx, w.IdempotencyKey, seen, closedPurpose, SkippedPurpose)
}

// markReplayed returns r as replayed if v1 stored the response before this request began. After an
// attempt without a response, a stored response normally belongs to this request. But the key can
// belong to an equal request of hours ago, and then this request had no effect.
func (w windowed) markReplayed(ctx context.Context, r command.Result) command.Result {
	if !r.Origin.Stored || r.Origin.Replayed {
		return r
	}
	made := r.Origin.Made
	if made.Before(w.oldest) { // zero, too
		if u, failed := w.AwaitKey(ctx, w.IdempotencyKey); failed == nil && !u.Made.IsZero() {
			made = u.Made
		}
	}
	r.Origin.Replayed = !made.IsZero() && made.Before(w.oldest)
	return r
}

// close reserves the chain's next key, so that no request can take it. It reports true, with the
// result to give, if the chain has a recent equal request.
func (w windowed) close(ctx context.Context, end *chainEnd) (command.Result, bool) {
	for {
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, ended
		}
		w.IdempotencyKey = end.key(end.n + 1)
		held, failed := w.Reserve(ctx, w.IdempotencyKey, closedPurpose)
		if failed != nil || held {
			return resultOf(failed), failed != nil
		}
		taken, failed := w.AwaitKey(ctx, w.IdempotencyKey)
		if failed == nil {
			taken, failed = w.identify(ctx, w.IdempotencyKey, taken, SkippedPurpose)
		}
		if failed != nil {
			return *failed, true
		}
		if r, ended := taken.DuplicateResult(command.Result{}, w.recent); ended {
			return r, true
		}
		if taken.Found {
			end.n++
		}
	}
}

// closes reports whether the use closes its chain.
func (u Use) closes() bool { return u.Purpose == closedPurpose }

// released reports whether v1 may have freed the request's key after it had claimed it. Equal
// requests may have taken later keys of the chain meanwhile.
func released(r command.Result) bool {
	return r.Outcome != command.Done && r.Outcome != command.Declined && (r.Origin.Claimed || v1.FreesKey(r.Code))
}

// skipFreed skips the nth key of a chain if v1 freed it and the next key is in use. The request
// that had the nth key does not use it again.
func (s Request) skipFreed(ctx context.Context, in chain, n int) {
	if next, failed := s.ReadKey(ctx, in.key(n+1)); failed == nil && next.Found {
		s.fillGap(ctx, in, n)
	}
}

// resultOf returns *r, or the zero Result if r is nil.
func resultOf(r *command.Result) command.Result {
	if r == nil {
		return command.Result{}
	}
	return *r
}

// chainEnd is the last key of a chain that is known to be in use; -1 for none.
type chainEnd struct {
	chain

	n      int
	closed bool // the next key closes the chain
}

// advance moves end to the chain's last request. If end moved, it goes back to the latest use that
// is a payment, a decline or a refund, and judges it. It ignores refusals and skipped keys after
// that use, because nothing can be a duplicate of them. It goes back no further than the window.
func (w windowed) advance(ctx context.Context, end *chainEnd) (command.Result, bool) {
	from := end.n
	u, failed := w.walk(ctx, end)
	for n := end.n; failed == nil && n > from; {
		if u.Running {
			u, failed = w.AwaitKey(ctx, end.key(n))
		}
		if failed != nil {
			break
		}
		if n == end.n && (!u.Found || u.closes()) { // freed since the walk, and perhaps taken to close the chain
			end.n--
		}
		r, ended := u.DuplicateResult(command.Result{}, w.recent)
		if ended || u.Found && !u.Made.After(w.recent) {
			return r, ended
		}
		if n--; n > from {
			u, failed = w.ReadKey(ctx, end.key(n))
		}
	}
	return resultOf(failed), failed != nil
}

// walk moves end to the chain's last key in use and returns the use, if it moved. Skipped keys are
// in use, so the chain has no gaps. Walk doubles its steps, and then halves them on the way back,
// so even a long chain takes few calls.
func (s Request) walk(ctx context.Context, end *chainEnd) (Use, *command.Result) {
	var last Use
	step, growing := 1, true
	for step > 0 {
		u, failed := s.ReadKey(ctx, end.key(end.n+step))
		if failed != nil {
			return Use{}, failed
		}
		if u.Found && !u.closes() {
			end.n, last = end.n+step, u
		} else {
			growing, end.closed = false, u.closes() // in the last step, of the key after the end
		}
		if growing {
			step *= 2
		} else {
			step /= 2
		}
	}
	return last, nil
}
