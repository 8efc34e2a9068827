package command

import (
	"context"
	"strconv"
	"time"
)

// MaxWindow is the longest time an equal request is remembered for. The keys of v1 live a day, which is longer than a slot and this.
const MaxWindow = 8 * time.Hour

// Once tells which requests are equal, and that one made a short time after another is to be taken for the same one: v1 has one effect, and
// whoever comes second is told that it was Repeated. The zero value tells nothing of the kind: every request then counts for itself, and no
// other sees it.
type Once struct {
	// Window is for how many seconds after an equal request this one still is its repetition; at most MaxWindow counts. With 0 it is nobody's,
	// but later ones may be its.
	Window int `json:"window,omitempty"`
	// Same is what makes two requests equal, besides the caller's merchant and mode, the kind of command, its amount and what it charges.
	Same []string `json:"same,omitempty"`
}

func (o Once) window() time.Duration {
	return min(max(time.Duration(o.Window)*time.Second, 0), MaxWindow)
}

// slot is the length of the spans of time, counted from the Unix epoch, that have a chain of their own. It bounds a chain, and that
// every proxy computes it alike is all that they have to agree on.
const slot = MaxWindow

// chain is the row of Idempotency-Keys that equal requests of one slot take, one after the other: a request takes the next one when what
// was done under those before it is no longer recent.
type chain struct {
	identity string
	slot     int64
}

func (c chain) key(n int) string {
	return "once-" + c.identity + "-" + strconv.FormatInt(c.slot, 36) + "-" + strconv.Itoa(n)
}

// once runs do with keys that equal requests share, until v1 takes one for new or knows one from an equal request within the window. What
// v1 remembers decides, so it makes no difference which proxy is asked or whether it was restarted. Only two equal requests that are
// under way at once, one on each side of a slot's beginning, are not seen to be the same.
func (s session) once(ctx context.Context, o Once, identity []string, do func(session) Result) Result {
	if len(o.Same) == 0 {
		return do(s)
	}
	now := s.x.cfg.Clock.Now()
	row := chain{s.names.derive(identity, o.Same), now.UnixNano() / int64(slot)}
	window := o.window()
	if window == 0 {
		return s.apart(ctx, row, do)
	}
	recent := now.Add(-window)
	for _, earlier := range s.earlier(row, recent, identity, o.Same) {
		if r, ended := s.pass(ctx, &chainEnd{chain: earlier, n: -1}, recent); ended {
			return r
		}
	}
	end := &chainEnd{chain: row}
	for {
		s.idempotencyKey = row.key(end.n)
		r := do(s)
		if !r.another() {
			return r
		}
		seen, known := r.use()
		if !known {
			var failed *Result
			if seen, failed = s.look(ctx, s.idempotencyKey); failed != nil {
				return *failed
			}
		}
		if r, ended := seen.judge(r, recent); ended {
			return r
		}
		if r, ended := s.pass(ctx, end, recent); ended {
			return r
		}
		end.n++
	}
}

// earlier returns the chains besides row that an equal request made after recent may be in: that of the slot before, and those under
// the other secret.
func (s session) earlier(row chain, recent time.Time, identity ...[]string) []chain {
	var chains []chain
	before := recent.Before(time.Unix(0, row.slot*int64(slot)))
	if before {
		chains = append(chains, chain{row.identity, row.slot - 1})
	}
	if s.otherNames == nil {
		return chains
	}
	other := s.otherNames.derive(identity...)
	if before {
		chains = append(chains, chain{other, row.slot - 1})
	}
	return append(chains, chain{other, row.slot})
}

// chainEnd is the last key of a chain that is known to be in use; -1 for none.
type chainEnd struct {
	chain

	n int
}

// pass moves end to the chain's last key in use, and judges what was done under it if it moved.
func (s session) pass(ctx context.Context, end *chainEnd, recent time.Time) (Result, bool) {
	last, failed := s.walk(ctx, end)
	if failed == nil && last.running {
		last, failed = s.look(ctx, end.key(end.n))
	}
	if failed != nil {
		return *failed, true
	}
	return last.judge(Result{}, recent)
}

// walk moves end to the chain's last key in use and returns what it is used for, if it moved. It asks for ever further keys and then halves
// the way back, so a long chain costs few questions.
func (s session) walk(ctx context.Context, end *chainEnd) (use, *Result) {
	var last use
	step, growing := 1, true
	for step > 0 {
		u, failed := s.peek(ctx, end.key(end.n+step))
		if failed != nil {
			return use{}, failed
		}
		if u.found {
			end.n, last = end.n+step, u
		} else {
			growing = false
		}
		if growing {
			step *= 2
		} else {
			step /= 2
		}
	}
	return last, nil
}
