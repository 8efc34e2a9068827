package command

import (
	"context"
	"strconv"
	"time"
)

// MaxWindow is the longest deduplication window. Keys of v1 live a day, which is longer than a slot
// and a window together.
const MaxWindow = 8 * time.Hour

// Once defines which requests are equal, and for how long after one of them an equal request is a
// duplicate: v1 has one effect, and the duplicate is Repeated. With the zero value no request is a
// duplicate of this one, nor this one of another.
type Once struct {
	// Window is the deduplication window in seconds, at most MaxWindow. With 0 the request is never a
	// duplicate, but later requests can be duplicates of it.
	Window int `json:"window,omitempty"`
	// Same is what makes two requests equal, besides the caller's merchant and mode, the kind of
	// command, its amount and its payment source.
	Same []string `json:"same,omitempty"`
}

func (o Once) window() time.Duration {
	return min(max(time.Duration(o.Window)*time.Second, 0), MaxWindow)
}

const (
	// slot is the length of the spans of v1's time, counted from the Unix epoch, that have chains of
	// their own. Keys expire after a day, so a chain must end before its first key does.
	slot = MaxWindow
	// slotMargin is how far the times may differ that proxies compute for requests that reach v1 at one
	// moment. It is well above TotalTimeout and the skew among the servers of v1.
	slotMargin = 5 * time.Minute
	// closedPurpose is the purpose of the reservation that ends a chain.
	closedPurpose = "closed"
)

func slotOf(t time.Time) int64 { return t.UnixNano() / int64(slot) }

// chain is the sequence of Idempotency-Keys that equal requests of one slot use, one after the other.
// A request takes the next key if no request under the earlier ones is recent. A reservation closes
// the chain: from then on, requests take keys of the next slot's.
type chain struct {
	identity string
	slot     int64
}

func (c chain) key(n int) string {
	return "once-" + c.identity + "-" + strconv.FormatInt(c.slot, 36) + "-" + strconv.Itoa(n)
}

func (c chain) next() chain { return chain{c.identity, c.slot + 1} }

// work is the part of a request that an equal one must not repeat.
type work struct {
	identity []string // what makes requests equal besides Once.Same: only what the client sent
	reads    bool     // do depends on objects at v1 that can change between a request and its retry
	do       func(session) Result
}

// windowed is a request with a deduplication window.
type windowed struct {
	session
	work

	same   [][]string // what makes requests equal
	recent time.Time  // an equal request made after it makes this one a duplicate
}

// once runs the work with keys that equal requests share, until v1 has no use of the key by an earlier
// one or an equal request was made within the window. Only what v1 stores and v1's clock decide, so it
// makes no difference which proxy gets a request and what time that has.
//
// Where a slot begins, requests of both slots run at one time. Those of the later slot close the chain
// of the earlier one before they take a key. So all requests take keys of one sequence, and of two
// within the window one finds the other.
func (s session) once(ctx context.Context, o Once, do work) Result {
	if len(o.Same) == 0 {
		return do.do(s)
	}
	now, failed := s.now(ctx)
	if failed != nil {
		return *failed
	}
	window := o.window()
	if window == 0 {
		return s.apart(ctx, chain{s.names.derive(do.identity, o.Same), slotOf(now)}, do.do)
	}
	w := windowed{session: s, work: do, same: [][]string{do.identity, o.Same}, recent: now.Add(-window)}
	home, closes := slotOf(now), slotOf(now.Add(-slotMargin))
	for n := slotOf(w.recent.Add(-slotMargin)); n < home; n++ {
		if r, ended := w.pass(ctx, n, n >= closes); ended {
			return r
		}
	}
	if later := slotOf(now.Add(slotMargin)); later > home { // one without a window may be there
		if r, ended := w.pass(ctx, later, false); ended {
			return r
		}
	}
	for {
		r, closed := w.take(ctx, home)
		if !closed {
			return r
		}
		home++
	}
}

// pass looks for a recent equal request in a slot, and closes the slot's chain if closes is set.
func (w windowed) pass(ctx context.Context, n int64, closes bool) (Result, bool) {
	names := w.allNames()
	if closes {
		own, others, failed := w.inSlot(ctx, n)
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

// inSlot returns the chain of a slot that requests take keys of, and the names of the secret that it
// is not under, none without another secret.
func (w windowed) inSlot(ctx context.Context, n int64) (chain, []naming, *Result) {
	under := func(of naming) chain { return chain{of.derive(w.same...), n} }
	names, others, failed := w.agreed(ctx, func(of naming) string { return under(of).key(0) })
	if failed != nil || others == nil {
		return under(names), nil, failed
	}
	return under(names), []naming{*others}, nil
}

// take runs the request under the first key of a slot's chain that no earlier one uses. It reports
// true if the chain is closed. Work that reads objects begins behind the chain's end: an earlier equal
// request is found before an object that changed since can make v1 refuse this one.
func (w windowed) take(ctx context.Context, n int64) (Result, bool) {
	own, others, failed := w.inSlot(ctx, n)
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
	for ; ; end.n++ {
		w.idempotencyKey = end.key(end.n)
		r := w.do(w.session)
		if !r.another() {
			return r, false
		}
		seen, known := r.use()
		if !known {
			if seen, failed = w.look(ctx, w.idempotencyKey); failed != nil {
				return *failed, false
			}
		}
		closed, failed := w.isClosed(ctx, w.idempotencyKey, seen)
		if failed != nil || closed {
			return result(failed), closed
		}
		if r, ended := seen.judge(r, w.recent); ended {
			return r, false
		}
		if r, ended := w.advance(ctx, end); ended || end.closed {
			return r, !ended
		}
	}
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
			return result(failed), failed != nil
		}
		taken, failed := w.look(ctx, w.idempotencyKey)
		if failed != nil {
			return *failed, true
		}
		if r, ended := taken.judge(Result{}, w.recent); ended {
			return r, true
		}
	}
}

// isClosed reports whether the use of a key closes its chain.
func (s session) isClosed(ctx context.Context, key string, u use) (bool, *Result) {
	if !u.blind {
		return u.closed, nil
	}
	return s.reserve(ctx, key, closedPurpose) // replayed if it is the retry of a closing
}

// result is r, or the zero Result.
func result(r *Result) Result {
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

// advance moves end to the chain's last request, and judges that if it moved.
func (w windowed) advance(ctx context.Context, end *chainEnd) (Result, bool) {
	last, failed := w.walk(ctx, end)
	if failed == nil && last.running {
		last, failed = w.look(ctx, end.key(end.n))
	}
	if failed != nil {
		return *failed, true
	}
	return last.judge(Result{}, w.recent)
}

// walk moves end to the chain's last key that a request uses and returns the use, if it moved. It
// doubles its steps and then halves the way back, so a long chain takes few calls.
func (s session) walk(ctx context.Context, end *chainEnd) (use, *Result) {
	var last use
	step, growing := 1, true
	for step > 0 {
		u, failed := s.peek(ctx, end.key(end.n+step))
		if failed != nil {
			return use{}, failed
		}
		if u.found && !u.closed {
			end.n, last = end.n+step, u
		} else {
			growing, end.closed = false, u.closed // at last, of the key behind the end
		}
		if growing {
			step *= 2
		} else {
			step /= 2
		}
	}
	return last, nil
}
