package command

import (
	"context"
	"strconv"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// MaxWindow is the longest deduplication window. V1 keeps keys for a day, which is longer than a
// period and a window together.
const MaxWindow = 8 * time.Hour

// Deduplication defines which requests are equal, and for how long after one of them an equal
// request is a duplicate. Of two equal requests only the first has an effect at v1. The result of
// the other is Repeated. The zero value excludes the request: it is never a duplicate, and has
// none. A Named command ignores it.
type Deduplication struct {
	// Window is the deduplication window in seconds, at most MaxWindow. With 0 the request is never a
	// duplicate, but later requests can be duplicates of it.
	Window int `json:"window,omitempty"`
	// Same are the fields that must be equal, besides the caller's merchant and mode, the kind of
	// command, its amount and its payment source.
	Same []string `json:"same,omitempty"`
}

func (o Deduplication) window() time.Duration {
	return min(max(time.Duration(o.Window)*time.Second, 0), MaxWindow)
}

const (
	// period is the length of the periods of v1's time, counted from the Unix epoch, that have
	// separate chains. Keys expire after a day, so a chain must end before its first key does.
	period = MaxWindow
	// periodMargin bounds the difference between the times that proxies compute for requests that
	// reach v1 at one moment. It is well above TotalTimeout and the skew among the servers of v1.
	periodMargin = 5 * time.Minute
	// serversSkew bounds the difference between the clocks of two servers of v1 while both are ready.
	serversSkew = 10 * time.Second
	// closedPurpose is the purpose of the reservation that ends a chain.
	closedPurpose = "closed"
	// skippedPurpose is the purpose of the reservation of a key that a request left unused while later
	// keys may be in use. A free key would end the chain before them.
	skippedPurpose = "skipped"
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

// job is the part of a request that an equal one must not repeat.
type job struct {
	identity []string // the fields that make requests equal besides Deduplication.Same: only fields that the client sent
	reads    bool     // do depends on objects at v1 that can change between a request and its retry
	do       func(session) Result
}

// windowed is a request with a deduplication window.
type windowed struct {
	session
	job

	same   [][]string // the parts that make requests equal
	recent time.Time  // an equal request made after it makes this one a duplicate
	oldest time.Time  // a payment or refund made before it belongs to an earlier request
}

// deduplicate runs the job under keys that equal requests share. It stops at a key that no earlier
// request used, or at an equal request within the window. Only v1's records and v1's clock decide,
// so the result is the same at every proxy, with any clock.
//
// Where a period begins, requests of both periods run at the same time. Requests of the later
// period close the chain of the earlier one before they take a key. So all requests take keys of
// one sequence, and of two requests within the window, one finds the other.
func (s session) deduplicate(ctx context.Context, o Deduplication, j job) Result {
	if len(o.Same) == 0 || s.named() {
		return j.do(s)
	}
	now, failed := s.now(ctx)
	if failed != nil {
		return *failed
	}
	window := o.window()
	if window == 0 {
		return s.runWithoutWindow(ctx, chain{s.names.derive(j.identity, o.Same), periodOf(now)}, j.do)
	}
	w := windowed{
		session: s, job: j, same: [][]string{j.identity, o.Same},
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
func (w windowed) searchPeriod(ctx context.Context, n int64, closes bool) (Result, bool) {
	names := w.allNames()
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
		end := &chainEnd{chain: chain{each.derive(w.same...), n}, n: -1}
		if r, ended := w.advance(ctx, end); ended {
			return r, true
		}
	}
	return Result{}, false
}

// inPeriod returns the chain of a period from which requests take keys. It also returns the names
// of the other secret, none if there is only one.
func (w windowed) inPeriod(ctx context.Context, n int64) (chain, []naming, *Result) {
	under := func(of naming) chain { return chain{of.derive(w.same...), n} }
	names, others, failed := w.agreeNames(ctx, func(of naming) string { return under(of).key(0) })
	if failed != nil || others == nil {
		return under(names), nil, failed
	}
	return under(names), []naming{*others}, nil
}

// runInPeriod runs the request under the first unused key of a period's chain. It returns true if
// the chain is closed. Work that reads objects begins only after the chain's end is found. So an
// earlier equal request is found first, even if v1 would refuse this one because an object has
// changed.
func (w windowed) runInPeriod(ctx context.Context, n int64) (Result, bool) {
	own, others, failed := w.inPeriod(ctx, n)
	if failed != nil {
		return *failed, false
	}
	for _, each := range others {
		end := &chainEnd{chain: chain{each.derive(w.same...), n}, n: -1}
		if r, ended := w.advance(ctx, end); ended {
			return r, false
		}
	}
	end := &chainEnd{chain: own}
	if w.reads {
		end.n = -1
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, !ended
		}
		end.n++
	}
	for {
		w.idempotencyKey = end.key(end.n)
		r := w.markReplayed(ctx, w.do(w.session))
		if !r.ofOtherRequest() {
			if r.released() {
				w.skipFreed(ctx, end.chain, end.n)
			}
			return r, false
		}
		seen, failed := w.useBehind(ctx, r)
		switch {
		case r.mayActLate(seen):
			return keyInUse(), false
		case failed != nil || seen.closes():
			return resultOf(failed), failed == nil
		}
		if r, ended := seen.duplicateResult(r, w.recent); ended {
			return r, false
		}
		if !seen.found { // freed since then: under a later key, a walk would not find the request
			continue
		}
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, !ended
		}
		end.n++
	}
}

// useBehind returns the use of the session's key that r is the response to. An old effect has the
// time of its key: unlike the time of a payment, it does not go back with v1's clock.
func (w windowed) useBehind(ctx context.Context, r Result) (keyUse, *Result) {
	replayed := r.use()
	if r.replayed && (!replayed.effect || replayed.made.After(w.recent)) {
		return replayed, nil
	}
	seen, failed := w.awaitKey(ctx, w.idempotencyKey)
	switch {
	case failed != nil:
		return keyUse{}, failed
	case r.replayed && seen.denied != nil && !r.made.IsZero():
		return replayed, nil
	}
	return w.identify(ctx, w.idempotencyKey, seen, closedPurpose, skippedPurpose)
}

// markReplayed returns r as replayed if v1 stored the response before this request began. After an
// attempt without a response, a stored response normally belongs to this request. But the key can
// belong to an equal request of hours ago, and then this request had no effect.
func (w windowed) markReplayed(ctx context.Context, r Result) Result {
	if !r.stored || r.replayed {
		return r
	}
	made := r.made
	if made.Before(w.oldest) { // zero, too
		if u, failed := w.awaitKey(ctx, w.idempotencyKey); failed == nil && !u.made.IsZero() {
			made = u.made
		}
	}
	r.replayed = !made.IsZero() && made.Before(w.oldest)
	return r
}

// close reserves the chain's next key, so that no request can take it. It reports true, with the
// result to give, if the chain has a recent equal request.
func (w windowed) close(ctx context.Context, end *chainEnd) (Result, bool) {
	for {
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, ended
		}
		w.idempotencyKey = end.key(end.n + 1)
		held, failed := w.reserve(ctx, w.idempotencyKey, closedPurpose)
		if failed != nil || held {
			return resultOf(failed), failed != nil
		}
		taken, failed := w.awaitKey(ctx, w.idempotencyKey)
		if failed == nil {
			taken, failed = w.identify(ctx, w.idempotencyKey, taken, skippedPurpose)
		}
		if failed != nil {
			return *failed, true
		}
		if r, ended := taken.duplicateResult(Result{}, w.recent); ended {
			return r, true
		}
		if taken.found {
			end.n++
		}
	}
}

// identify completes the use of a key that the caller may not read. It tries the reservation for
// each purpose: v1 replays the one that exists.
func (s session) identify(ctx context.Context, key string, u keyUse, purposes ...string) (keyUse, *Result) {
	if u.denied == nil {
		return u, nil
	}
	for _, purpose := range purposes {
		held, failed := s.reserve(ctx, key, purpose)
		switch {
		case failed != nil:
			return keyUse{}, failed
		case held:
			u.purpose, u.effect = purpose, false
			return u, nil
		}
	}
	return u, nil
}

// closes reports whether the use closes its chain.
func (u keyUse) closes() bool { return u.purpose == closedPurpose }

// released reports whether v1 may have freed the request's key after it had claimed it. Equal
// requests may have taken later keys of the chain meanwhile.
func (r Result) released() bool {
	return r.Outcome != Done && r.Outcome != Declined && (r.claimed || v1.FreesKey(r.Code))
}

// skipFreed skips the nth key of a chain if v1 freed it and the next key is in use. The request
// that had the nth key does not use it again.
func (s session) skipFreed(ctx context.Context, in chain, n int) {
	if next, failed := s.readKey(ctx, in.key(n+1)); failed == nil && next.found {
		s.fillGap(ctx, in, n)
	}
}

// resultOf returns *r, or the zero Result if r is nil.
func resultOf(r *Result) Result {
	if r == nil {
		return Result{}
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
func (w windowed) advance(ctx context.Context, end *chainEnd) (Result, bool) {
	from := end.n
	u, failed := w.walk(ctx, end)
	for n := end.n; failed == nil && n > from; {
		if u.running {
			u, failed = w.awaitKey(ctx, end.key(n))
		}
		if failed != nil {
			break
		}
		if n == end.n && (!u.found || u.closes()) { // freed since the walk, and perhaps taken to close the chain
			end.n--
		}
		r, ended := u.duplicateResult(Result{}, w.recent)
		if ended || u.found && !u.made.After(w.recent) {
			return r, ended
		}
		if n--; n > from {
			u, failed = w.readKey(ctx, end.key(n))
		}
	}
	return resultOf(failed), failed != nil
}

// walk moves end to the chain's last key in use and returns the use, if it moved. Skipped keys are
// in use, so the chain has no gaps. Walk doubles its steps, and then halves them on the way back,
// so even a long chain takes few calls.
func (s session) walk(ctx context.Context, end *chainEnd) (keyUse, *Result) {
	var last keyUse
	step, growing := 1, true
	for step > 0 {
		u, failed := s.readKey(ctx, end.key(end.n+step))
		if failed != nil {
			return keyUse{}, failed
		}
		if u.found && !u.closes() {
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
